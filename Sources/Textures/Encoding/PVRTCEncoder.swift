// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// Encodes PVRTC by least squares.
///
/// The colours of the words start at the ends of the principal axis of their pixels. A sweep then visits
/// each word: it solves for its two colours with the weights of the 7×7 pixels around it fixed, chooses
/// the weights again with the arithmetic of decoders, and keeps the result if the exact error has
/// decreased. A search tries the next stored value of each channel in the same way.
///
/// The result does not depend on the order of the words within a class: two words of the same class share
/// no pixel. `PVRTC2Encoder` does the same with 2 bits per pixel.
public struct PVRTCEncoder {
    /// The effort.
    public enum Quality: String, CaseIterable, Hashable, Sendable {
        /// No sweep.
        case fastest
        /// One sweep.
        case fast
        /// Six sweeps.
        case normal
        /// Twelve sweeps.
        case high
        /// Twelve sweeps, and searches until they gain next to nothing.
        case best

        var sweepCount: Int {
            switch self {
            case .fastest: 0
            case .fast: 1
            case .normal: 6
            case .high, .best: 12
            }
        }
        var searchCount: Int { self == .best ? 16 : 0 }
    }

    /// The memory that encoding takes for each pixel, in bytes: the image, its channels in up to 32 bits, the
    /// weights, and the colours of words.
    public static let bytesPerPixel = 4 + 4 * 4 + 1 + 1

    private let size: PixelSize
    private let words: PVRTCWords
    private let channelCount: Int
    /// Whether the colours of a word can be opaque, translucent or either.
    private let flags: [Bool]
    /// The pixels by channel; each row starts with the pixel before its first one and ends with those
    /// after its last one, as they wrap around.
    private let planes: [[Int16]]
    private let stride: Int
    /// The weight of each pixel: 0, 3, 5 or 8.
    private var weights: [UInt8]
    private var a: [SIMD4<Int16>]
    private var b: [SIMD4<Int16>]

    /// Encodes an image.
    ///
    /// - Parameters:
    ///   - image: an image whose sides are powers of two; samples of more than 8 bits are rounded.
    ///   - quality: the effort.
    ///   - bitsPerPixel: 2 or 4.
    ///   - progress: called with the completed share from 0 to 1; it returns `false` to cancel.
    /// - Returns: the words in the order in which they are stored.
    /// - Throws: `CodecError/cancelled`, or `CodecError/unsupported(feature:)` for other sides.
    public static func encode(
        _ image: PixelBuffer, _ quality: Quality, bitsPerPixel: Int = 4,
        progress: (Double) -> Bool = { _ in true }
    ) throws(CodecError) -> [UInt8] {
        let sides = [image.size.width, image.size.height]
        guard sides.allSatisfy({ $0 > 0 && $0 & ($0 - 1) == 0 }) else {
            throw .unsupported(feature: "PVRTC of \(image.size): its sides are powers of two")
        }
        let pixels = image.converted(to: image.format.hasAlpha ? .rgba8 : .rgb8)
        if bitsPerPixel == 2 {
            var encoder = PVRTC2Encoder(pixels)
            try run(quality, progress) { search in encoder.sweep(searches: search) }
            return encoder.bytes
        }
        var encoder = PVRTCEncoder(pixels)
        encoder.start()
        try run(quality, progress) { search in
            encoder.sweep { encoder, x, y in
                search ? encoder.search(x, y) : encoder.refine(x, y)
            }
        }
        return encoder.bytes
    }

    /// Calls `sweep` as often as the effort states, first to solve for colours, then to search.
    private static func run(
        _ quality: Quality, _ progress: (Double) -> Bool,
        _ sweep: (_ search: Bool) -> (before: Int, gain: Int)
    ) throws(CodecError) {
        let total = quality.sweepCount + quality.searchCount * 4 + 1
        var done = 1
        for _ in 0..<quality.sweepCount {
            guard progress(Double(done) / Double(total)) else { throw .cancelled }
            _ = sweep(false)
            done += 1
        }
        for _ in 0..<quality.searchCount {
            guard progress(Double(done) / Double(total)) else { throw .cancelled }
            let (before, gain) = sweep(true)
            done += 4
            if gain * 1000 < before { break }
        }
        _ = progress(1)
    }

    /// - Parameter image: an image of 8-bit RGB or RGBA.
    private init(_ image: PixelBuffer) {
        let format = TextureFormat.pvrtc4
        let words = PVRTCWords(format.blockCount(image.size))
        let size = PixelSize(width: words.count.width * 4, height: words.count.height * 4)
        let channelCount = image.format == .rgba8 ? 4 : 3
        (self.size, self.words, self.channelCount) = (size, words, channelCount)
        flags = channelCount == 3 ? [true] : [true, false]
        let stride = size.width + 8
        self.stride = stride
        var planes = Array(
            repeating: [Int16](repeating: 0, count: stride * size.height), count: channelCount)
        let bytesPerPixel = image.format.bytesPerPixel
        for y in 0..<size.height {
            // An image smaller than two words fills the upper left corner.
            let row = image.row(min(y, image.size.height - 1))
            for channel in 0..<channelCount {
                for column in 0..<stride {
                    let x = min((column - 1) & (size.width - 1), image.size.width - 1)
                    planes[channel][y * stride + column] = Int16(row[x * bytesPerPixel + channel])
                }
            }
        }
        self.planes = planes
        weights = Array(repeating: 0, count: size.area)
        let count = words.count.area
        a = Array(repeating: SIMD4(0, 0, 0, 15), count: count)
        b = a
    }

    // MARK: - Sweeps

    /// Calls `visit` for every word, class by class.
    ///
    /// - Returns: the error before and what it has decreased by, in sums of windows.
    private mutating func sweep(
        _ visit: (inout PVRTCEncoder, Int, Int) -> (before: Int, gain: Int)
    ) -> (before: Int, gain: Int) {
        var (before, gain) = (0, 0)
        for (startX, startY) in [(0, 0), (1, 1), (1, 0), (0, 1)] {
            for y in Swift.stride(from: startY, to: words.count.height, by: 2) {
                for x in Swift.stride(from: startX, to: words.count.width, by: 2) {
                    let result = visit(&self, x, y)
                    before += result.before
                    gain += result.gain
                }
            }
        }
        return (before, gain)
    }

    private func window(_ x: Int, _ y: Int) -> PVRTCWindow {
        var window = PVRTCWindow(channelCount: channelCount)
        let left = x * 4 - 1
        for row in 0..<7 {
            let line = (y * 4 - 1 + row) & (size.height - 1)
            let start = line * stride + left + 1
            for channel in 0..<channelCount {
                window.source[row][channel] = planes[channel].lanes(at: start)
            }
            for lane in 0..<7 {
                let column = (left + lane) & (size.width - 1)
                window.weights[row][lane] = Int32(weights[line * size.width + column])
            }
        }
        var (nearA, nearB) = (
            PVRTCWindow.Neighbors(repeating: SIMD4()), PVRTCWindow.Neighbors(repeating: SIMD4())
        )
        for place in 0..<9 {
            let index = wordIndex(x + place % 3 - 1, y + place / 3 - 1)
            nearA[place] = a[index]
            nearB[place] = b[index]
        }
        window.setOthers(nearA, nearB)
        return window
    }

    private func wordIndex(_ x: Int, _ y: Int) -> Int {
        (y & (words.count.height - 1)) * words.count.width + x & (words.count.width - 1)
    }

    private mutating func accept(
        _ x: Int, _ y: Int, _ colors: (a: SIMD4<Int16>, b: SIMD4<Int16>),
        _ chosen: InlineArray<7, PVRTCWindow.Wide>
    ) {
        let index = y * words.count.width + x
        (a[index], b[index]) = colors
        for row in 0..<7 {
            let line = (y * 4 - 1 + row) & (size.height - 1)
            for lane in 0..<7 {
                let column = (x * 4 - 1 + lane) & (size.width - 1)
                weights[line * size.width + column] = UInt8(chosen[row][lane])
            }
        }
    }

    /// Solves for the colours of a word.
    private mutating func refine(_ x: Int, _ y: Int) -> (before: Int, gain: Int) {
        let window = window(x, y)
        let index = y * words.count.width + x
        var chosen = InlineArray<7, PVRTCWindow.Wide>(repeating: PVRTCWindow.Wide())
        let before = window.error(a[index], b[index], below: .max, &chosen)
        var (best, bestChosen) = (before, chosen)
        var colors = (a: a[index], b: b[index])
        let solution = window.solution(colors.a, colors.b)
        for isOpaqueA in flags {
            for isOpaqueB in flags {
                let first = PVRTCQuantizer.quantized(solution.a, .a, isOpaque: isOpaqueA)
                let second = PVRTCQuantizer.quantized(solution.b, .b, isOpaque: isOpaqueB)
                let error = window.error(first, second, below: best, &chosen)
                if error < best {
                    (best, bestChosen, colors) = (error, chosen, (first, second))
                }
            }
        }
        accept(x, y, colors, bestChosen)
        return (Int(before), Int(before - best))
    }

    /// Tries the next stored values of each channel of a word.
    private mutating func search(_ x: Int, _ y: Int) -> (before: Int, gain: Int) {
        let window = window(x, y)
        let index = y * words.count.width + x
        var chosen = InlineArray<7, PVRTCWindow.Wide>(repeating: PVRTCWindow.Wide())
        let before = window.error(a[index], b[index], below: .max, &chosen)
        var (best, bestChosen) = (before, chosen)
        var colors = (a: a[index], b: b[index])
        for channel in 0..<channelCount {
            for (stepA, stepB) in Self.steps {
                guard let first = PVRTCQuantizer.next(to: colors.a, channel, stepA, .a),
                    let second = PVRTCQuantizer.next(to: colors.b, channel, stepB, .b)
                else { continue }
                let error = window.error(first, second, below: best, &chosen)
                if error < best {
                    (best, bestChosen, colors) = (error, chosen, (first, second))
                }
            }
        }
        accept(x, y, colors, bestChosen)
        return (Int(before), Int(before - best))
    }

    /// The changes of the two colours of a word that a search tries.
    static let steps: [(Int16, Int16)] = [
        (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1),
    ]

    // MARK: - Start and end

    /// Chooses the ends of the principal axis of the pixels around each word, then the weights.
    private mutating func start() {
        for y in 0..<words.count.height {
            for x in 0..<words.count.width {
                let (low, high) = ends(x, y)
                let index = y * words.count.width + x
                let isOpaque = channelCount == 3 || (low.w > 14.5 && high.w > 14.5)
                a[index] = PVRTCQuantizer.quantized(low, .a, isOpaque: isOpaque)
                b[index] = PVRTCQuantizer.quantized(high, .b, isOpaque: isOpaque)
            }
        }
        // Windows overlap; each chooses the same weights for the pixels that it shares with others.
        for y in 0..<words.count.height {
            for x in 0..<words.count.width {
                let window = window(x, y)
                let index = y * words.count.width + x
                var chosen = InlineArray<7, PVRTCWindow.Wide>(repeating: PVRTCWindow.Wide())
                _ = window.error(a[index], b[index], below: .max, &chosen)
                accept(x, y, (a[index], b[index]), chosen)
            }
        }
    }

    /// Returns the ends of the principal axis in the precision of words.
    private func ends(_ x: Int, _ y: Int) -> (low: SIMD4<Float>, high: SIMD4<Float>) {
        var pixels = InlineArray<36, SIMD4<Float>>(repeating: SIMD4(0, 0, 0, 255))
        for place in 0..<36 {
            let line = (y * 4 + place / 6 - 1) & (size.height - 1)
            let column = x * 4 + place % 6
            for channel in 0..<channelCount {
                pixels[place][channel] = Float(planes[channel][line * stride + column])
            }
        }
        return PVRTCQuantizer.ends(of: pixels.span)
    }

    /// The words in the order in which they are stored.
    private var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: words.count.area * 8)
        for y in 0..<words.count.height {
            for x in 0..<words.count.width {
                var modulation: UInt32 = 0
                for place in 0..<16 {
                    let pixel = (y * 4 + place / 4) * size.width + x * 4 + place % 4
                    // 0, 3, 5 and 8 are stored as 0 to 3.
                    let stored = UInt32(weights[pixel] + 1) / 3
                    modulation |= stored << UInt32(place * 2)
                }
                let index = y * words.count.width + x
                let word =
                    UInt64(PVRTCQuantizer.bits(a[index], b[index])) << 32 | UInt64(modulation)
                let start = words.index(x, y) * 8
                for byte in 0..<8 {
                    bytes[start + byte] = UInt8(truncatingIfNeeded: word >> UInt64(byte * 8))
                }
            }
        }
        return bytes
    }
}

extension [Int16] {
    /// Returns the values from an index on.
    @inline(__always)
    func lanes<Lanes: SIMD<Int16> & BitwiseCopyable>(at index: Int) -> Lanes {
        precondition(
            index >= 0 && index + Lanes.scalarCount <= count, "the window lies outside")
        return unsafe span.bytes.unsafeLoadUnaligned(
            fromUncheckedByteOffset: index * 2, as: Lanes.self)
    }
}
