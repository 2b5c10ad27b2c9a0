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
    private typealias Neighbors = PVRTC2Window.Neighbors

    private let size: PixelSize
    private let words: PVRTCWords
    /// Whether the colours of a word can be opaque, translucent or either.
    private let flags: [Bool]
    private let channelCount: Int
    /// The pixels by channel; each row has `margin` more on both sides, as they wrap around.
    private let planes: [[Int16]]
    private let stride: Int
    private var a: [SIMD4<Int16>]
    private var b: [SIMD4<Int16>]
    private var modes: [Mode]
    /// The weight that is stored for each pixel: 0, 3, 5 or 8.
    private var stored: [UInt8]
    /// The weights with which decoders mix, with the margins of `planes`.
    private var weights: [Int16]
    private var choice = PVRTC2Weights()
    /// The error of the window of each word at its last visit.
    private var errors: [Int32]
    /// The number of the sweep in which a word last changed.
    private var changes: [Int]
    private var sweepNumber = 0
    private var hasSearched = false

    private static let margin = 8

    /// - Parameter image: an image of 8-bit RGB or RGBA, whose sides are powers of two.
    init(_ image: PixelBuffer) {
        words = PVRTCWords(TextureFormat.pvrtc2.blockCount(image.size))
        size = PixelSize(width: words.count.width * 8, height: words.count.height * 4)
        channelCount = image.format == .rgba8 ? 4 : 3
        flags = channelCount == 3 ? [true] : [true, false]
        stride = size.width + Self.margin * 2
        var planes = Array(
            repeating: [Int16](repeating: 0, count: stride * size.height), count: channelCount)
        let byteCount = image.format.bytesPerPixel
        for y in 0..<size.height {
            // An image smaller than two words fills the upper left corner.
            let row = image.row(min(y, image.size.height - 1))
            for channel in 0..<channelCount {
                for column in 0..<stride {
                    let x = (column - Self.margin) & (size.width - 1)
                    planes[channel][y * stride + column] = Int16(
                        row[min(x, image.size.width - 1) * byteCount + channel])
                }
            }
        }
        self.planes = planes
        a = Array(repeating: SIMD4(0, 0, 0, 15), count: words.count.area)
        b = a
        modes = Array(repeating: .direct, count: words.count.area)
        stored = Array(repeating: 0, count: size.area)
        weights = Array(repeating: 0, count: stride * size.height)
        errors = Array(repeating: 0, count: words.count.area)
        changes = Array(repeating: 0, count: words.count.area)
        start()
    }

    // MARK: - Positions, which wrap around at the edges

    private func word(_ x: Int, _ y: Int) -> Int {
        (y & (words.count.height - 1)) * words.count.width + x & (words.count.width - 1)
    }

    private func pixel(_ x: Int, _ y: Int) -> Int {
        (y & (size.height - 1)) * size.width + x & (size.width - 1)
    }

    /// Returns the index in a plane of a pixel, which may lie in a margin.
    private func place(_ x: Int, _ y: Int) -> Int {
        (y & (size.height - 1)) * stride + x + Self.margin
    }

    /// Returns the colours of the 3×3 words around a word.
    private func neighbors(_ wordX: Int, _ wordY: Int) -> (a: Neighbors, b: Neighbors) {
        var result = (a: Neighbors(repeating: SIMD4()), b: Neighbors(repeating: SIMD4()))
        for place in 0..<9 {
            let index = word(wordX + place % 3 - 1, wordY + place / 3 - 1)
            result.a[place] = a[index]
            result.b[place] = b[index]
        }
        return result
    }

    // MARK: - Sweeps

    /// Chooses the ends of the principal axis of the pixels around each word, then the weights.
    private mutating func start() {
        var pixels = [SIMD4<Float>](repeating: SIMD4(0, 0, 0, 255), count: 60)
        for y in 0..<words.count.height {
            for x in 0..<words.count.width {
                for index in 0..<60 {
                    let place = place(x * 8 - 1 + index % 10, y * 4 - 1 + index / 10)
                    for channel in 0..<channelCount {
                        pixels[index][channel] = Float(planes[channel][place])
                    }
                }
                let (low, high) = PVRTCQuantizer.ends(of: pixels.span)
                let isOpaque = channelCount == 3 || (low.w > 14.5 && high.w > 14.5)
                a[word(x, y)] = PVRTCQuantizer.quantized(low, .a, isOpaque: isOpaque)
                b[word(x, y)] = PVRTCQuantizer.quantized(high, .b, isOpaque: isOpaque)
            }
        }
        forEachWord { encoder, x, y in
            encoder.loadChoice(x, y)
            encoder.choice.storeNearest()
            encoder.keepChoice(x, y)
        }
        sweepWeights()
    }

    private mutating func forEachWord(_ visit: (inout PVRTC2Encoder, Int, Int) -> Void) {
        for y in 0..<words.count.height {
            for x in 0..<words.count.width { visit(&self, x, y) }
        }
    }

    /// Improves the colours of every word, then its weights.
    ///
    /// - Parameter searches: whether next stored values are tried instead of solving for the colours.
    /// - Returns: the error before and what it has decreased by, in sums of windows.
    mutating func sweep(searches: Bool) -> (before: Int, gain: Int) {
        sweepNumber += 1
        if searches && !hasSearched {
            // No word has been visited in this way.
            for index in changes.indices { changes[index] = sweepNumber }
            hasSearched = true
        }
        var (before, gain) = (0, 0)
        forEachWord { encoder, x, y in
            let index = encoder.word(x, y)
            guard encoder.hasChanged(around: x, y) else {
                before += Int(encoder.errors[index])
                return
            }
            let result = encoder.improveColors(x, y, searches: searches)
            encoder.errors[index] = result.before - result.gain
            before += Int(result.before)
            gain += Int(result.gain)
        }
        sweepWeights()
        return (before, gain)
    }

    /// Returns whether a word or one around it has changed since the last visit.
    ///
    /// If not, a visit has the same result: the pixels on which it depends do not lie further away.
    private func hasChanged(around x: Int, _ y: Int) -> Bool {
        for place in 0..<9
        where changes[word(x + place % 3 - 1, y + place / 3 - 1)] >= sweepNumber - 1 {
            return true
        }
        return false
    }

    private mutating func sweepWeights() {
        forEachWord { encoder, x, y in
            if encoder.hasChanged(around: x, y) { encoder.chooseWeights(x, y) }
        }
        for y in 0..<size.height {
            for x in 0..<size.width { weights[place(x, y)] = Int16(weight(x, y)) }
            for x in 0..<Self.margin {
                weights[place(x - Self.margin, y)] = weights[place(size.width + x - Self.margin, y)]
                weights[place(size.width + x, y)] = weights[place(x, y)]
            }
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

    /// Chooses the mode of a word and the weights that it stores.
    private mutating func chooseWeights(_ wordX: Int, _ wordY: Int) {
        loadChoice(wordX, wordY)
        let index = word(wordX, wordY)
        let mode = choice.choose(modes[index])
        if keepChoice(wordX, wordY) || mode != modes[index] { changes[index] = sweepNumber }
        modes[index] = mode
    }

    /// Sets the state from which the weights of a word are chosen.
    private mutating func loadChoice(_ wordX: Int, _ wordY: Int) {
        let (left, top) = (wordX * 8, wordY * 4)
        for y in -2..<6 {
            for x in -2..<10 { choice.set(x, y, stored[pixel(left + x, top + y)]) }
        }
        var near = InlineArray<9, Mode>(repeating: .direct)
        for place in 0..<9 {
            near[place] = modes[word(wordX + place % 3 - 1, wordY + place / 3 - 1)]
        }
        choice.setModes(near)
        let colors = neighbors(wordX, wordY)
        let blend = PVRTC2Blend(colors.a, colors.b, channelCount: channelCount)
        for y in -1..<5 {
            var totals = InlineArray<9, SIMD8<Int32>>(repeating: SIMD8())
            for channel in 0..<channelCount {
                let colors = blend.row(y, channel)
                PVRTC2Weights.addErrors(
                    to: &totals, planes[channel].lanes(at: place(left, top + y)), colors.a,
                    colors.b)
            }
            choice.setErrors(row: y, totals)
        }
        var totals = InlineArray<9, SIMD8<Int32>>(repeating: SIMD8())
        for channel in 0..<channelCount {
            var wanted = SIMD8<Int16>()
            for lane in 0..<8 {
                wanted[lane] =
                    planes[channel][place(left + (lane < 4 ? -1 : 8), top + lane & 3)]
            }
            let colors = blend.edges(channel)
            PVRTC2Weights.addErrors(to: &totals, wanted, colors.a, colors.b)
        }
        choice.setEdgeErrors(totals)
    }

    /// Stores the weights that have been chosen for a word.
    ///
    /// - Returns: whether one has changed.
    @discardableResult
    private mutating func keepChoice(_ wordX: Int, _ wordY: Int) -> Bool {
        var hasChanged = false
        for y in 0..<4 {
            for x in 0..<8 {
                let weight = choice.stored[PVRTC2Weights.place(x, y)]
                let index = pixel(wordX * 8 + x, wordY * 4 + y)
                hasChanged = hasChanged || stored[index] != weight
                stored[index] = weight
            }
        }
        return hasChanged
    }

    // MARK: - Colours

    private func window(_ wordX: Int, _ wordY: Int) -> PVRTC2Window {
        var window = PVRTC2Window(channelCount: channelCount)
        for row in 0..<7 {
            let start = place(wordX * 8 - 3, wordY * 4 - 1 + row)
            window.setWeights(row, weights.lanes(at: start))
            for channel in 0..<channelCount {
                window.setRow(row, channel, planes[channel].lanes(at: start))
            }
        }
        let colors = neighbors(wordX, wordY)
        window.setOthers(colors.a, colors.b)
        return window
    }

    private mutating func improveColors(
        _ wordX: Int, _ wordY: Int, searches: Bool
    ) -> (before: Int32, gain: Int32) {
        let window = window(wordX, wordY)
        let index = word(wordX, wordY)
        let before = window.error(a[index], b[index], below: .max)
        var best = before
        var colors = (a: a[index], b: b[index])
        func consider(_ first: SIMD4<Int16>, _ second: SIMD4<Int16>) {
            let sum = window.error(first, second, below: best)
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
            let solution = window.solution(colors.a, colors.b)
            for isOpaqueA in flags {
                for isOpaqueB in flags {
                    consider(
                        PVRTCQuantizer.quantized(solution.a, .a, isOpaque: isOpaqueA),
                        PVRTCQuantizer.quantized(solution.b, .b, isOpaque: isOpaqueB))
                }
            }
        }
        if best < before {
            changes[index] = sweepNumber
            (a[index], b[index]) = colors
        }
        return (before, before - best)
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
