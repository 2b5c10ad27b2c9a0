// SPDX-License-Identifier: Apache-2.0

/// The colours between which the pixels of a word of 8×4 lie, and those of the pixels next to it.
struct PVRTC2Blend {
    typealias Neighbors = PVRTC2Window.Neighbors
    typealias Lanes = SIMD8<Int16>
    /// The sums of the rows of words, for the pixels of a row, and for those on both sides of the word.
    private typealias Rows = InlineArray<3, (row: Lanes, edges: Lanes)>

    private static let left = Lanes(4, 3, 2, 1, 0, 0, 0, 0)
    private static let own = Lanes(4, 5, 6, 7, 8, 7, 6, 5)
    private static let right = Lanes(0, 0, 0, 0, 0, 1, 2, 3)
    /// The shares of the rows of words in the rows of pixels, from that above the word on.
    private static let shares: InlineArray<6, SIMD3<Int16>> = [
        SIMD3(3, 1, 0), SIMD3(2, 2, 0), SIMD3(1, 3, 0), SIMD3(0, 4, 0), SIMD3(0, 3, 1),
        SIMD3(0, 2, 2),
    ]

    private var a = InlineArray<4, Rows>(repeating: .init(repeating: (Lanes(), Lanes())))
    private var b = InlineArray<4, Rows>(repeating: .init(repeating: (Lanes(), Lanes())))

    init(_ a: Neighbors, _ b: Neighbors, channelCount: Int) {
        for channel in 0..<channelCount {
            self.a[channel] = Self.rows(a, channel)
            self.b[channel] = Self.rows(b, channel)
        }
    }

    private static func rows(_ words: Neighbors, _ channel: Int) -> Rows {
        var rows = Rows(repeating: (Lanes(), Lanes()))
        for row in 0..<3 {
            let (before, word, after) = (
                words[row * 3][channel], words[row * 3 + 1][channel], words[row * 3 + 2][channel]
            )
            let (first, last) = (before &* 5 &+ word &* 3, word &* 4 &+ after &* 4)
            rows[row] = (
                left &* before &+ own &* word &+ right &* after,
                Lanes(first, first, first, first, last, last, last, last)
            )
        }
        return rows
    }

    /// Returns the colours of the pixels of a row, from -1, the one above the word, to 4, the one below it.
    func row(_ y: Int, _ channel: Int) -> (a: Lanes, b: Lanes) {
        let shares = Self.shares[y + 1]
        func mixed(_ rows: borrowing Rows) -> Lanes {
            Self.widened(
                rows[0].row &* shares.x &+ rows[1].row &* shares.y &+ rows[2].row &* shares.z,
                channel)
        }
        return (mixed(a[channel]), mixed(b[channel]))
    }

    /// Returns the colours of the four pixels on the left of the word and of the four on the right.
    func edges(_ channel: Int) -> (a: Lanes, b: Lanes) {
        func mixed(_ rows: borrowing Rows) -> Lanes {
            Self.widened(
                rows[0].edges &* Lanes(2, 1, 0, 0, 2, 1, 0, 0)
                    &+ rows[1].edges &* Lanes(2, 3, 4, 3, 2, 3, 4, 3)
                    &+ rows[2].edges &* Lanes(0, 0, 0, 1, 0, 0, 0, 1),
                channel)
        }
        return (mixed(a[channel]), mixed(b[channel]))
    }

    /// Widens sums of 32 colours to 8 bits as decoders do.
    @inline(__always)
    private static func widened(_ sum: Lanes, _ channel: Int) -> Lanes {
        channel == 3 ? sum &>> 1 &+ sum &>> 5 : sum &>> 2 &+ sum &>> 7
    }
}
