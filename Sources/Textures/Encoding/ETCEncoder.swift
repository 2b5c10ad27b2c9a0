// SPDX-License-Identifier: Apache-2.0

/// Encodes blocks of ETC1, and of ETC2 without alpha.
///
/// Each way to divide a block is tried with base colours from least squares, then the planar mode and the
/// two modes that paint texels in one of two colours. The decoder decides which is best.
struct ETCEncoder {
    /// A value of each of the 16 texels, row by row.
    typealias Lanes = SIMD16<Float>

    /// How much is tried.
    struct Effort {
        /// Solutions by least squares for base colours.
        let refinementCount: Int
        /// The most rounds of steps of single channels.
        let stepCount: Int
        /// Whether all modes are tried, and not only those that are shared with ETC1 and the planar one.
        let triesAll: Bool
        /// Whether only the modes of ETC1 are allowed.
        let isETC1: Bool

        init(_ quality: PVRTCEncoder.Quality, isETC1: Bool) {
            self.isETC1 = isETC1
            (refinementCount, stepCount, triesAll) =
                switch quality {
                // The lowest one is that of `ETCQuick`.
                case .fastest, .fast: (1, 0, false)
                case .normal: (2, 2, true)
                case .high: (3, 6, true)
                case .best: (4, 24, true)
                }
        }
    }

    /// Red, green and blue of all texels.
    struct Channels {
        var red, green, blue: Lanes

        /// The differences of all texels to a colour.
        @inline(__always)
        func minus(_ color: SIMD4<Float>) -> Channels {
            Channels(red: red - color.x, green: green - color.y, blue: blue - color.z)
        }

        var sum: Lanes { red + green + blue }
        var squares: Lanes { red * red + green * green + blue * blue }

        /// The weighted sum of all texels.
        func sum(_ weights: Lanes) -> SIMD4<Float> {
            SIMD4(
                (red * weights).sum(), (green * weights).sum(), (blue * weights).sum(), 0)
        }
    }

    let texels: TexelBlock
    let channels: Channels
    let effort: Effort
    private var best = Int.max
    private var word: UInt64 = 0

    /// Returns a block as an integer whose highest byte is stored first.
    static func encoded(_ texels: TexelBlock, _ effort: Effort) -> UInt64 {
        var encoder = ETCEncoder(texels, effort)
        for isFlipped in [false, true] {
            encoder.consider(encoder.halves(isFlipped, isDifferential: true))
            if encoder.effort.triesAll {
                encoder.consider(encoder.halves(isFlipped, isDifferential: false))
            }
        }
        guard !effort.isETC1 else { return encoder.word }
        encoder.considerPlanes()
        if encoder.effort.triesAll, encoder.best > 0 {
            for word in encoder.painted() { encoder.consider(word) }
        }
        return encoder.word
    }

    private init(_ texels: TexelBlock, _ effort: Effort) {
        self.texels = texels
        self.effort = effort
        var channels = Channels(red: Lanes(), green: Lanes(), blue: Lanes())
        for place in 0..<16 {
            channels.red[place] = Float(texels[place].x)
            channels.green[place] = Float(texels[place].y)
            channels.blue[place] = Float(texels[place].z)
        }
        self.channels = channels
    }

    /// Considers the nearest plane, and those of the next codes as long as they are better.
    private mutating func considerPlanes() {
        var plane = plane()
        guard consider(Self.word(plane)) else { return }
        for _ in 0..<effort.stepCount {
            var isBetter = false
            for corner in 0..<3 {
                for channel in 0..<3 {
                    for step: Int32 in [-1, 1] {
                        var next = plane
                        next[corner][channel] += step
                        let code = next[corner][channel]
                        guard code >= 0, code <= Self.lastPlanar[channel] else { continue }
                        if consider(Self.word(next)) { (plane, isBetter) = (next, true) }
                    }
                }
            }
            if !isBetter { break }
        }
    }

    /// Keeps a block if it decodes to less error than those before it.
    @discardableResult
    private mutating func consider(_ candidate: UInt64?) -> Bool {
        guard let candidate else { return false }
        let decoded = ETCBlocks.colors(candidate, effort.isETC1 ? .etc1 : .etc2)
        var sum = 0
        for place in 0..<16 {
            var difference =
                SIMD4<Int32>(truncatingIfNeeded: decoded[place])
                &- SIMD4<Int32>(truncatingIfNeeded: texels[place])
            difference.w = 0
            sum += Int((difference &* difference).wrappedSum())
        }
        guard sum < best else { return false }
        (best, word) = (sum, candidate)
        return true
    }

    // MARK: - Halves

    /// A colour of a half or of a cluster, as it is stored, with its table and its estimated error.
    struct Base {
        var code = SIMD4<Float>()
        var table = 0
        var error = Float.infinity
    }

    /// The texels of the second half are 1, for halves side by side and one below the other.
    private static let secondHalves: [Lanes] = [
        Lanes(0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1),
        Lanes(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1),
    ]

    private func halves(_ isFlipped: Bool, isDifferential: Bool) -> UInt64? {
        let second = Self.secondHalves[isFlipped ? 1 : 0]
        let last: Float = isDifferential ? 31 : 15
        var a = base(1 - second, last)
        var b = base(second, last)
        if isDifferential {
            let difference = b.code - a.code
            if difference.max() > 3 || difference.min() < -4 {
                // The codes approach each other until their difference can be stored.
                guard effort.triesAll else { return halves(isFlipped, isDifferential: false) }
                let limited = difference.clamped(
                    lowerBound: SIMD4(repeating: -4), upperBound: SIMD4(repeating: 3))
                let middle = ((a.code + b.code - limited) * 0.5)
                    .rounded(.toNearestOrAwayFromZero)
                let limit = SIMD4<Float>(repeating: last)
                let first = middle.clamped(lowerBound: SIMD4(), upperBound: limit)
                evaluate(first, last, 1 - second, &a, always: true)
                let end = (first + limited).clamped(lowerBound: SIMD4(), upperBound: limit)
                evaluate(end, last, second, &b, always: true)
            }
        }
        let (first, end) = (SIMD4<Int32>(a.code), SIMD4<Int32>(b.code))
        var word = UInt64(a.table) << 37 | UInt64(b.table) << 34 | (isFlipped ? 1 << 32 : 0)
        for channel in 0..<3 {
            let shift = UInt64(56 - channel * 8)
            if isDifferential {
                word |= UInt64(first[channel]) << (shift + 3)
                word |= UInt64((end[channel] - first[channel]) & 7) << shift
            } else {
                word |= UInt64(first[channel]) << (shift + 4) | UInt64(end[channel]) << shift
            }
        }
        if isDifferential { word |= 1 << 33 }
        let (wideA, wideB) = (Self.widened(a.code, last), Self.widened(b.code, last))
        let isSecond = second .> 0.5
        let offsets =
            channels.minus(wideA).sum.replacing(with: channels.minus(wideB).sum, where: isSecond)
        return word | indices(offsets, wideA, wideB, a.table, b.table, isSecond)
    }

    /// Returns the bits of the indices, of the nearest of the four clamped colours.
    private func indices(
        _ sums: Lanes, _ a: SIMD4<Float>, _ b: SIMD4<Float>, _ tableA: Int, _ tableB: Int,
        _ isSecond: SIMDMask<SIMD16<Int32>>
    ) -> UInt64 {
        var word: UInt64 = 0
        for place in 0..<16 {
            let color = isSecond[place] ? b : a
            let modifiers = Self.modifiers[isSecond[place] ? tableB : tableA]
            var texel = SIMD4<Float>(texels[place])
            texel.w = 0
            let sign: Float = sums[place] < 0 ? -1 : 1
            func error(_ modifier: Float) -> Float {
                var value = (color + modifier * sign).clamped(
                    lowerBound: SIMD4(), upperBound: SIMD4(repeating: 255))
                value.w = 0
                let difference = value - texel
                return (difference * difference).sum()
            }
            let isLarge = error(modifiers.y) < error(modifiers.x)
            let bit = UInt64((place & 3) * 4 + place >> 2)
            if isLarge { word |= 1 << bit }
            if sign < 0 { word |= 1 << (bit + 16) }
        }
        return word
    }

    private static let modifiers = (0..<8).map { SIMD2<Float>(ETCBlocks.modifiers[$0]) }

    /// Returns the colour of 8 bits of a code of 4 or 5.
    @inline(__always)
    static func widened(_ code: SIMD4<Float>, _ last: Float) -> SIMD4<Float> {
        if last == 15 { return code * 17 }
        let wide = code.nearestIntegers
        return SIMD4<Float>((wide &<< 3) | (wide &>> 2))
    }

    @inline(__always)
    static func code(_ color: SIMD4<Float>, _ last: Float) -> SIMD4<Float> {
        (color * (last / 255)).nearest.limited(to: SIMD4(repeating: last))
    }

    /// Returns the best base colour for the texels of a mask.
    private func base(_ mask: Lanes, _ last: Float) -> Base {
        var result = Base()
        evaluate(Self.code(channels.sum(mask) * 0.125, last), last, mask, &result)
        for _ in 0..<effort.refinementCount {
            let offsets = channels.minus(Self.widened(result.code, last)).sum
            let shift = Self.nearest(offsets, Self.modifiers[result.table])
            let mean = (channels.sum(mask) - (shift * mask).sum()) * 0.125
            let next = Self.code(mean, last)
            if next == result.code || !evaluate(next, last, mask, &result) { break }
        }
        for _ in 0..<effort.stepCount {
            let start = result.error
            for channel in 0..<3 {
                for step: Float in [-1, 1] {
                    var next = result.code
                    next[channel] += step
                    if next[channel] >= 0, next[channel] <= last {
                        evaluate(next, last, mask, &result)
                    }
                }
            }
            for step: Float in [-1, 1] {
                let next = result.code + SIMD4(step, step, step, 0)
                if next.min() >= 0, next.max() <= last { evaluate(next, last, mask, &result) }
            }
            if result.error >= start { break }
        }
        return result
    }

    /// The modifier of each texel that is nearest to its summed difference.
    private static func nearest(_ sums: Lanes, _ modifiers: SIMD2<Float>) -> Lanes {
        let isNegative = sums .< 0
        let size = sums.replacing(with: -sums, where: isNegative)
        // Halfway between the two, for three channels.
        let isLarge = size .> (modifiers.x + modifiers.y) * 1.5
        var shift = Lanes(repeating: modifiers.x)
        shift.replace(with: Lanes(repeating: modifiers.y), where: isLarge)
        return shift.replacing(with: -shift, where: isNegative)
    }

    /// Finds the best table for a code; keeps both if the error is less than before.
    @discardableResult
    private func evaluate(
        _ code: SIMD4<Float>, _ last: Float, _ mask: Lanes, _ base: inout Base,
        always: Bool = false
    ) -> Bool {
        let differences = channels.minus(Self.widened(code, last))
        let sums = differences.sum
        let sizes = sums.replacing(with: -sums, where: sums .< 0) * mask
        let squares = (differences.squares * mask).sum()
        var (least, table) = (Float.infinity, 0)
        for number in 0..<8 {
            let modifiers = Self.modifiers[number]
            let small = 3 * modifiers.x * modifiers.x - sizes * (2 * modifiers.x)
            let large = 3 * modifiers.y * modifiers.y - sizes * (2 * modifiers.y)
            let gain = (small.replacing(with: large, where: large .< small) * mask).sum()
            if gain < least { (least, table) = (gain, number) }
        }
        let error = squares + least
        guard always || error < base.error else { return false }
        base = Base(code: code, table: table, error: error)
        return true
    }
}
