// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Encodes PVRTC with 2 bits per pixel by least squares.
///
/// A word stores either one bit for each of its 8×4 pixels, or two for every second one; the others are
/// then means of their neighbours, which can lie in other words. Sweeps alternate between the two colours
/// of each word, with the weights of the 15×7 pixels around it fixed, and its weights, with all colours
/// fixed. A change is kept if the exact error has decreased.
struct PVRTC2Encoder {
    private typealias Mode = PVRTC2Weights.Mode

    private let size: PixelSize
    private let words: PVRTCWords
    /// Whether the colours of a word can be opaque, translucent or either.
    private let flags: [Bool]
    private let channelCount: Int
    private let source: [SIMD4<Int32>]
    private var a: [SIMD4<Int16>]
    private var b: [SIMD4<Int16>]
    private var modes: [Mode]
    /// The weight that is stored for each pixel: 0, 3, 5 or 8.
    private var stored: [UInt8]

    /// - Parameter image: an image of 8-bit RGB or RGBA, whose sides are powers of two.
    init(_ image: PixelBuffer) {
        words = PVRTCWords(TextureFormat.pvrtc2.blockCount(image.size))
        size = PixelSize(width: words.count.width * 8, height: words.count.height * 4)
        channelCount = image.format == .rgba8 ? 4 : 3
        flags = channelCount == 3 ? [true] : [true, false]
        var source: [SIMD4<Int32>] = []
        source.reserveCapacity(size.area)
        let byteCount = image.format.bytesPerPixel
        for y in 0..<size.height {
            // An image smaller than two words fills the upper left corner.
            let row = image.row(min(y, image.size.height - 1))
            for x in 0..<size.width {
                var pixel = SIMD4<Int32>(repeating: 255)
                let start = min(x, image.size.width - 1) * byteCount
                for channel in 0..<channelCount { pixel[channel] = Int32(row[start + channel]) }
                source.append(pixel)
            }
        }
        self.source = source
        a = Array(repeating: SIMD4(0, 0, 0, 15), count: words.count.area)
        b = a
        modes = Array(repeating: .direct, count: words.count.area)
        stored = Array(repeating: 0, count: size.area)
        start()
    }

    // MARK: - Positions, which wrap around at the edges

    private func word(_ x: Int, _ y: Int) -> Int {
        (y & (words.count.height - 1)) * words.count.width + x & (words.count.width - 1)
    }

    private func pixel(_ x: Int, _ y: Int) -> Int {
        (y & (size.height - 1)) * size.width + x & (size.width - 1)
    }

    // MARK: - Sweeps

    /// Chooses the ends of the principal axis of the pixels around each word, then the weights.
    private mutating func start() {
        var pixels = [SIMD4<Float>](repeating: SIMD4(), count: 60)
        for y in 0..<words.count.height {
            for x in 0..<words.count.width {
                for place in 0..<60 {
                    let index = pixel(x * 8 - 1 + place % 10, y * 4 - 1 + place / 10)
                    pixels[place] = SIMD4<Float>(source[index])
                }
                let (low, high) = PVRTCQuantizer.ends(of: pixels.span)
                let isOpaque = channelCount == 3 || (low.w > 14.5 && high.w > 14.5)
                a[word(x, y)] = PVRTCQuantizer.quantized(low, .a, isOpaque: isOpaque)
                b[word(x, y)] = PVRTCQuantizer.quantized(high, .b, isOpaque: isOpaque)
            }
        }
        for index in 0..<size.area {
            let (x, y) = (index % size.width, index / size.width)
            let (a, b) = colors(x, y)
            stored[index] = error(source[index], a, b, 8) < error(source[index], a, b, 0) ? 8 : 0
        }
        sweepWeights()
    }

    /// Improves the colours of every word, then its weights.
    ///
    /// - Parameter searches: whether next stored values are tried instead of solving for the colours.
    /// - Returns: the error before and what it has decreased by, in sums of windows.
    mutating func sweep(searches: Bool) -> (before: Int, gain: Int) {
        var (before, gain) = (0, 0)
        for y in 0..<words.count.height {
            for x in 0..<words.count.width {
                let result = improveColors(x, y, searches: searches)
                before += result.before
                gain += result.gain
            }
        }
        sweepWeights()
        return (before, gain)
    }

    private mutating func sweepWeights() {
        for y in 0..<words.count.height {
            for x in 0..<words.count.width { chooseWeights(x, y) }
        }
    }

    // MARK: - Weights

    /// Returns the weight with which decoders mix a pixel.
    private func weight(_ x: Int, _ y: Int) -> Int {
        let mode = modes[word(x >> 3, y >> 2)]
        if mode == .direct || (x ^ y) & 1 == 0 { return Int(stored[pixel(x, y)]) }
        var sum = 0
        if mode != .vertical {
            sum += Int(stored[pixel(x - 1, y)]) + Int(stored[pixel(x + 1, y)])
        }
        if mode != .horizontal {
            sum += Int(stored[pixel(x, y - 1)]) + Int(stored[pixel(x, y + 1)])
        }
        return mode == .four ? (sum + 2) >> 2 : (sum + 1) >> 1
    }

    /// Returns the colours between which a pixel lies.
    private func colors(_ x: Int, _ y: Int) -> (a: SIMD4<Int32>, b: SIMD4<Int32>) {
        let (column, row) = ((x - 4) >> 3, (y - 2) >> 2)
        let (partX, partY) = (Int16((x - 4) & 7), Int16((y - 2) & 3))
        let corners = (
            word(column, row), word(column + 1, row), word(column, row + 1),
            word(column + 1, row + 1)
        )
        func mixed(_ colors: [SIMD4<Int16>]) -> SIMD4<Int32> {
            let top = colors[corners.0] &* (8 &- partX) &+ colors[corners.1] &* partX
            let bottom = colors[corners.2] &* (8 &- partX) &+ colors[corners.3] &* partX
            return Self.widened(top &* (4 &- partY) &+ bottom &* partY)
        }
        return (mixed(a), mixed(b))
    }

    /// Widens sums of 32 colours to 8 bits as decoders do.
    @inline(__always)
    private static func widened(_ sum: SIMD4<Int16>) -> SIMD4<Int32> {
        var color = sum &>> 2 &+ sum &>> 7
        color.w = sum.w &>> 1 &+ sum.w &>> 5
        return SIMD4(truncatingIfNeeded: color)
    }

    @inline(__always)
    private func error(
        _ wanted: SIMD4<Int32>, _ a: SIMD4<Int32>, _ b: SIMD4<Int32>, _ weight: Int32
    ) -> Int32 {
        let missing = wanted &- (a &* (8 &- weight) &+ b &* weight) &>> 3
        // Opaque images have an alpha of 255 on both sides.
        return (missing &* missing).wrappedSum()
    }

    /// Chooses the mode of a word and the weights that it stores.
    private mutating func chooseWeights(_ wordX: Int, _ wordY: Int) {
        let (left, top) = (wordX * 8, wordY * 4)
        var weights = PVRTC2Weights()
        for y in -2..<6 {
            for x in -2..<10 {
                let mode = modes[word((left + x) >> 3, (top + y) >> 2)]
                weights.set(x, y, stored[pixel(left + x, top + y)], mode)
                guard (-1..<9).contains(x), (-1..<5).contains(y) else { continue }
                let (a, b) = colors(left + x, top + y)
                let wanted = source[pixel(left + x, top + y)]
                weights.setErrors(x, y) { error(wanted, a, b, $0) }
            }
        }
        modes[word(wordX, wordY)] = weights.choose()
        for y in 0..<4 {
            for x in 0..<8 {
                stored[pixel(left + x, top + y)] = weights.stored[PVRTC2Weights.place(x, y)]
            }
        }
    }

    // MARK: - Colours

    /// The pixels that depend on the colours of a word.
    private struct Window {
        /// The share of the word in the colours of each pixel, at most 32.
        static let shares: [Int16] = (0..<105).map { (place: Int) -> Int16 in
            let (x, y) = (abs(place % 15 - 7), abs(place / 15 - 3))
            return Int16((8 - x) * (4 - y))
        }
        var source: [SIMD4<Int32>] = []
        var weights: [Int32] = []
        /// The sums that the other words contribute, times 32.
        var othersA: [SIMD4<Int16>] = []
        var othersB: [SIMD4<Int16>] = []
    }

    private func window(_ wordX: Int, _ wordY: Int) -> Window {
        var window = Window()
        window.source.reserveCapacity(105)
        window.weights.reserveCapacity(105)
        window.othersA.reserveCapacity(105)
        window.othersB.reserveCapacity(105)
        for row in 0..<7 {
            let y = wordY * 4 - 1 + row
            let partY = Int16((y - 2) & 3)
            for lane in 0..<15 {
                let x = wordX * 8 - 3 + lane
                let partX = Int16((x - 4) & 7)
                let (column, line) = ((x - 4) >> 3, (y - 2) >> 2)
                var (sumA, sumB) = (SIMD4<Int16>(), SIMD4<Int16>())
                for corner in 0..<4 {
                    let (nearX, nearY) = (column + corner & 1, line + corner >> 1)
                    let shareX = corner & 1 == 0 ? 8 - partX : partX
                    let shareY = corner < 2 ? 4 - partY : partY
                    if nearX == wordX && nearY == wordY { continue }
                    let index = word(nearX, nearY)
                    sumA &+= a[index] &* (shareX &* shareY)
                    sumB &+= b[index] &* (shareX &* shareY)
                }
                window.source.append(source[pixel(x, y)])
                window.weights.append(Int32(weight(x, y)))
                window.othersA.append(sumA)
                window.othersB.append(sumB)
            }
        }
        return window
    }

    private func error(
        _ window: Window, _ a: SIMD4<Int16>, _ b: SIMD4<Int16>, below limit: Int
    ) -> Int {
        var sum = 0
        for place in 0..<105 {
            let share = Window.shares[place]
            let colorA = Self.widened(window.othersA[place] &+ a &* share)
            let colorB = Self.widened(window.othersB[place] &+ b &* share)
            sum += Int(error(window.source[place], colorA, colorB, window.weights[place]))
            if sum >= limit { break }
        }
        return sum
    }

    private mutating func improveColors(
        _ wordX: Int, _ wordY: Int, searches: Bool
    ) -> (before: Int, gain: Int) {
        let window = window(wordX, wordY)
        let index = word(wordX, wordY)
        let before = error(window, a[index], b[index], below: .max)
        var best = before
        var colors = (a: a[index], b: b[index])
        func consider(_ first: SIMD4<Int16>, _ second: SIMD4<Int16>) {
            let sum = error(window, first, second, below: best)
            if sum < best { (best, colors) = (sum, (first, second)) }
        }
        if searches {
            for channel in 0..<channelCount {
                for (stepA, stepB) in PVRTCEncoder.steps {
                    if let first = PVRTCQuantizer.next(to: colors.a, channel, stepA, .a),
                        let second = PVRTCQuantizer.next(to: colors.b, channel, stepB, .b)
                    {
                        consider(first, second)
                    }
                }
            }
        } else {
            let solution = solution(window, colors.a, colors.b)
            for isOpaqueA in flags {
                for isOpaqueB in flags {
                    consider(
                        PVRTCQuantizer.quantized(solution.a, .a, isOpaque: isOpaqueA),
                        PVRTCQuantizer.quantized(solution.b, .b, isOpaque: isOpaqueB))
                }
            }
        }
        (a[index], b[index]) = colors
        return (before, before - best)
    }

    /// Returns the two colours of the word, not quantized, that are best for the current weights.
    private func solution(
        _ window: Window, _ a: SIMD4<Int16>, _ b: SIMD4<Int16>
    ) -> (a: SIMD4<Float>, b: SIMD4<Float>) {
        // The sum of the weighted colours, times 256, for an 8-bit sample of 1.
        let (color, alpha): (Float, Float) = (8 * 128 / 33, 8 * 32 / 17)
        let scale = SIMD4<Float>(color, color, color, alpha)
        // The weight of the present colours, against a singular system.
        let inertia: Float = 64
        var (aa, ab, bb): (Float, Float, Float) = (inertia, 0, inertia)
        var sumA = SIMD4<Float>(a) * inertia
        var sumB = SIMD4<Float>(b) * inertia
        for place in 0..<105 {
            let weight = Float(window.weights[place])
            let share = Float(Window.shares[place])
            let (partA, partB) = ((8 - weight) * share, weight * share)
            aa += partA * partA
            ab += partA * partB
            bb += partB * partB
            // Decoders truncate 0.9 of an 8-bit sample on average.
            let rest =
                (SIMD4<Float>(window.source[place]) + 0.9) * scale
                - SIMD4<Float>(window.othersA[place]) * (8 - weight)
                - SIMD4<Float>(window.othersB[place]) * weight
            sumA += rest * partA
            sumB += rest * partB
        }
        let determinant = aa * bb - ab * ab
        return (
            (sumA * bb - sumB * ab) / determinant, (sumB * aa - sumA * ab) / determinant
        )
    }

    // MARK: - End

    /// The words in the order in which they are stored.
    var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: words.count.area * 8)
        for y in 0..<words.count.height {
            for x in 0..<words.count.width {
                let index = word(x, y)
                let mode = modes[index]
                var modulation: UInt32 = 0
                for place in 0..<32 {
                    let weight = UInt32(stored[pixel(x * 8 + place % 8, y * 4 + place / 8)])
                    if mode == .direct {
                        modulation |= (weight >> 3) << UInt32(place)
                    } else if (place ^ place >> 3) & 1 == 0 {
                        // 0, 3, 5 and 8 are stored as 0 to 3.
                        modulation |= ((weight + 1) / 3) << UInt32(place & ~1)
                    }
                }
                if mode != .direct {
                    modulation = modulation & ~1 | (mode == .four ? 0 : 1)
                    if mode != .four {
                        modulation =
                            modulation & ~(1 << 20) | (mode == .vertical ? 1 << 20 : 0)
                    }
                }
                let colors = PVRTCQuantizer.bits(a[index], b[index])
                let high = UInt64(colors | (mode == .direct ? 0 : 1))
                let start = words.index(x, y) * 8
                for byte in 0..<8 {
                    bytes[start + byte] = UInt8(
                        truncatingIfNeeded: (high << 32 | UInt64(modulation))
                            >> UInt64(byte * 8))
                }
            }
        }
        return bytes
    }
}
