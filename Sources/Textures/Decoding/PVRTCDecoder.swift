// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Decodes a level of PVRTC row by row.
///
/// Each pixel mixes two colours, which are interpolated between the four nearest words and wrap around
/// at the edges, by the weight that its own word stores.
struct PVRTCDecoder {
    private let words: PVRTCWords
    /// The width of a word in pixels.
    private let wordWidth: Int
    /// The rows of words above and below the current rows of pixels.
    private var above: [PVRTCWord]
    private var below: [PVRTCWord]
    private var row: [Texel]
    private let weights = Self.makeWeights()

    init(_ format: TextureFormat, _ size: PixelSize, _ level: Span<UInt8>) {
        words = PVRTCWords(format.blockCount(size))
        wordWidth = format.blockSize.width
        above = words.row(words.count.height - 1, of: level)
        below = words.row(0, of: level)
        // The last group of pixels wraps around to the first ones.
        row = Array(
            repeating: .opaqueBlack, count: words.count.width * wordWidth + wordWidth)
    }

    /// Decodes the rows from the top.
    ///
    /// - Parameters:
    ///   - level: the bytes of the level.
    ///   - rowCount: the number of rows.
    ///   - body: receives each row; it can be longer than the image is wide.
    /// - Throws: the errors of `body`.
    mutating func decode(
        _ level: Span<UInt8>, rowCount: Int,
        _ body: (Span<Texel>) throws(CodecError) -> Void
    ) throws(CodecError) {
        let (height, width) = (words.count.height, words.count.width * wordWidth)
        for y in 0..<rowCount {
            // Colours lie on the third row of their words.
            let step = (y + 2) % 4
            if step == 0 {
                swap(&above, &below)
                below = words.row(((y + 2) / 4) % height, of: level)
            }
            let isFirstHalf = y % 4 < 2
            if wordWidth == 4 {
                decode4(isFirstHalf ? below : above, y % 4, UInt16(step))
            } else {
                decode2(level, y, UInt16(step))
            }
            let half = wordWidth / 2
            for x in 0..<half { row[x] = row[width + x] }
            try body(row.span.extracting(first: width))
        }
    }

    /// Returns the two colours of a column of words between the rows, times 4.
    @inline(__always)
    private func colors(_ x: Int, _ step: UInt16) -> (a: PVRTCColor, b: PVRTCColor) {
        let (top, bottom) = (above[x], below[x])
        return (
            top.a &* (4 &- step) &+ bottom.a &* step, top.b &* (4 &- step) &+ bottom.b &* step
        )
    }

    /// Decodes a row of pixels of 4 bits.
    ///
    /// - Parameters:
    ///   - own: the words in which the pixels lie.
    ///   - line: the row within these words.
    ///   - step: the weight of the words below.
    private mutating func decode4(_ own: [PVRTCWord], _ line: Int, _ step: UInt16) {
        let count = words.count.width
        let shift = UInt32(line * 8)
        let (above, below, weights) = (above, below, weights)
        precondition(
            own.count == count && above.count == count && below.count == count
                && row.count >= count * 4 + 4 && weights.count == 8)
        @inline(__always)
        func colors(_ x: Int) -> SIMD8<UInt16> {
            let top = SIMD8(lowHalf: above[x].a, highHalf: above[x].b)
            let bottom = SIMD8(lowHalf: below[x].a, highHalf: below[x].b)
            return (top &* (4 &- step) &+ bottom &* step) &* Self.alphaScale
        }
        unsafe row.withUnsafeMutableBytes { bytes in
            var left = colors(0)
            for x in 0..<count {
                let next = x + 1 == count ? 0 : x + 1
                let right = colors(next)
                let leftBits = own[x].modulation >> (shift + 4)
                let rightBits = own[next].modulation >> shift
                let leftMode: UInt32 = own[x].mode ? 4 : 0
                let rightMode: UInt32 = own[next].mode ? 4 : 0
                let difference = right &- left
                let first = left &* 4
                let second = first &+ difference
                let third = second &+ difference
                let colors = SIMD16(
                    lowHalf: SIMD8(
                        lowHalf: Self.mixed(first, weights[Int(leftBits & 3 | leftMode)]),
                        highHalf: Self.mixed(second, weights[Int(leftBits >> 2 & 3 | leftMode)])),
                    highHalf: SIMD8(
                        lowHalf: Self.mixed(third, weights[Int(rightBits & 3 | rightMode)]),
                        highHalf: Self.mixed(
                            third &+ difference, weights[Int(rightBits >> 2 & 3 | rightMode)])))
                // Within the row, whose length was checked.
                unsafe bytes.storeBytes(
                    of: SIMD16<UInt8>(truncatingIfNeeded: colors &>> 3),
                    toByteOffset: (x &* 4 &+ 2) &* 4, as: SIMD16<UInt8>.self)
                left = right
            }
        }
        for x in 0..<count where own[x].mode {
            punch((x == 0 ? count : x) * 4, own[x].modulation >> shift & 15)
            punch(x * 4 + 2, own[x].modulation >> (shift + 4) & 15)
        }
    }

    /// Makes the pixels transparent whose word says so.
    private mutating func punch(_ place: Int, _ modulation: UInt32) {
        if modulation & 3 == 2 { row[place].w = 0 }
        if modulation >> 2 & 3 == 2 { row[place + 1].w = 0 }
    }

    /// The factors of both colours, each four times, by the mode and the two bits of a pixel.
    private static func makeWeights() -> [SIMD8<UInt16>] {
        (0..<8).map { index in
            let weight = UInt16((index < 4 ? 0x8530 : 0x8440) >> (index % 4 * 4) & 15)
            return SIMD8(
                lowHalf: SIMD4(repeating: 8 - weight), highHalf: SIMD4(repeating: weight))
        }
    }

    /// Alpha has 4 bits, so that its sums are half of those of colours.
    private static let alphaScale = SIMD8<UInt16>(1, 1, 1, 2, 1, 1, 1, 2)

    /// Widens sums of 16 of both colours to 8 bits, and mixes them, times 8.
    @inline(__always)
    private static func mixed(
        _ sum: SIMD8<UInt16>, _ weights: SIMD8<UInt16>
    ) -> SIMD4<UInt16> {
        let parts = (sum &>> 1 &+ (sum &* alphaScale) &>> 6) &* weights
        return parts.lowHalf &+ parts.highHalf
    }
}

// MARK: - 2 bits per pixel

extension PVRTCDecoder {
    private mutating func decode2(_ level: Span<UInt8>, _ y: Int, _ step: UInt16) {
        let count = words.count.width
        let width = count * 8
        var left = colors(0, step)
        for x in 0..<count {
            let right = colors(x + 1 == count ? 0 : x + 1, step)
            for column in 0..<8 {
                let part = UInt16(column)
                let a = Self.widened2(left.a &* (8 &- part) &+ right.a &* part)
                let b = Self.widened2(left.b &* (8 &- part) &+ right.b &* part)
                let place = x * 8 + 4 + column
                let weight = weight2(level, place >= width ? place - width : place, y)
                row[place] = Texel(
                    truncatingIfNeeded: (a &* (8 &- weight) &+ b &* weight) &>> 3)
            }
            left = right
        }
    }

    /// Widens sums of 32 colours to 8 bits.
    @inline(__always)
    private static func widened2(_ sum: SIMD4<UInt16>) -> SIMD4<UInt16> {
        var color = sum &>> 2 &+ sum &>> 7
        color.w = sum.w &>> 1 &+ sum.w &>> 5
        return color
    }

    private func weight2(_ level: Span<UInt8>, _ x: Int, _ y: Int) -> UInt16 {
        let word = level.word(at: words.index(x / 8, y / 4) * 8)
        guard word >> 32 & 1 == 1, (x ^ y) & 1 == 1 else { return Self.stored(word, x, y) }
        let (width, height) = (words.count.width * 8, words.count.height * 4)
        func neighbor(_ dx: Int, _ dy: Int) -> UInt16 {
            let (x, y) = ((x + dx) & (width - 1), (y + dy) & (height - 1))
            return Self.stored(level.word(at: words.index(x / 8, y / 4) * 8), x, y)
        }
        if word & 1 == 0 {
            return (neighbor(-1, 0) + neighbor(1, 0) + neighbor(0, -1) + neighbor(0, 1) + 2) / 4
        }
        return word >> 20 & 1 == 0
            ? (neighbor(-1, 0) + neighbor(1, 0) + 1) / 2
            : (neighbor(0, -1) + neighbor(0, 1) + 1) / 2
    }

    /// Returns the weight that a word stores for a pixel.
    private static func stored(_ word: UInt64, _ x: Int, _ y: Int) -> UInt16 {
        let (column, line) = (x & 7, y & 3)
        guard word >> 32 & 1 == 1 else {
            return UInt16(word >> UInt64(line * 8 + column) & 1) * 8
        }
        let pair = UInt64(line * 4 + column / 2)
        var bits = word >> (pair * 2) & 3
        // The low bits of two pixels are flags; the high bits replace them.
        if pair == 0 || (pair == 10 && word & 1 == 1) { bits = bits >> 1 * 3 }
        return UInt16(0x8530 >> (bits * 4) & 15)
    }
}
