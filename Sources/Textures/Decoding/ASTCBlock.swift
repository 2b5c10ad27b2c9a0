// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Decodes blocks of ASTC to 8 bits, for the LDR profile of the format.
///
/// A block has a grid of weights, which is interpolated to its texels, and up to four subsets with two end
/// points each. What the profile does not define is magenta, as the specification demands.
/// - SeeAlso: Khronos Group, *Khronos Data Format Specification*, “ASTC”.
struct ASTCBlock {
    /// The texels of a block of up to 12×12 pixels, row by row.
    typealias Texels = InlineArray<144, Texel>

    private static let invalid = Texels(repeating: Texel(255, 0, 255, 255))

    private let size: PixelSize
    private let bits: UInt128

    /// Decodes a block of a size in pixels.
    static func decode(_ low: UInt64, _ high: UInt64, _ size: PixelSize) -> Texels {
        let block = ASTCBlock(size: size, bits: UInt128(high) << 64 | UInt128(low))
        if low & 0x1FF == 0x1FC { return block.constant ?? invalid }
        return block.texels ?? invalid
    }

    private func field(_ start: Int, _ count: Int) -> Int {
        Int(truncatingIfNeeded: bits >> UInt128(start)) & (1 << count - 1)
    }

    /// The texels of a block of one colour; `nil` if it is invalid or has more than 16 bits.
    private var constant: Texels? {
        guard field(9, 3) == 6 else { return nil }
        let (left, right) = (field(12, 13), field(25, 13))
        let (top, bottom) = (field(38, 13), field(51, 13))
        let isUnlimited = left & right & top & bottom == 0x1FFF
        guard isUnlimited || (left < right && top < bottom) else { return nil }
        var texel = Texel()
        for channel in 0..<4 { texel[channel] = UInt8(field(72 + channel * 16, 8)) }
        return Texels(repeating: texel)
    }

    private var texels: Texels? {
        guard let grid = Grid(field(0, 11)), grid.size.width <= size.width,
            grid.size.height <= size.height
        else { return nil }
        let partCount = field(11, 2) + 1
        guard !grid.isDual || partCount < 4 else { return nil }
        var modes = InlineArray<4, Int>(repeating: field(13, 4))
        var below = 128 - grid.bitCount
        var start = 17
        if partCount > 1 {
            start = 29
            var modeBits = field(23, 6)
            if modeBits & 3 == 0 {
                modes = InlineArray(repeating: modeBits >> 2)
            } else {
                let extraCount = partCount * 3 - 4
                below -= extraCount
                modeBits |= field(below, extraCount) << 6
                for part in 0..<partCount {
                    let kind = (modeBits & 3) - 1 + (modeBits >> (2 + part) & 1)
                    modes[part] = kind << 2 | modeBits >> (2 + partCount + 2 * part) & 3
                }
            }
        }
        if grid.isDual { below -= 2 }
        var valueCount = 0
        for part in 0..<partCount { valueCount += (modes[part] >> 2 + 1) * 2 }
        guard valueCount <= 18, below > start,
            let range = ASTCRange.largest(valueCount, bitCount: below - start)
        else { return nil }
        let values = range.values(bits >> UInt128(start), valueCount)
        var ends = InlineArray<8, SIMD4<Int32>>(repeating: SIMD4())
        var first = 0
        for part in 0..<partCount {
            let count = (modes[part] >> 2 + 1) * 2
            var samples = InlineArray<8, Int32>(repeating: 0)
            for index in 0..<count {
                samples[index] = Int32(range.samples[Int(values[first + index])])
            }
            first += count
            (ends[part * 2], ends[part * 2 + 1]) = ASTCEndPoints.decoded(modes[part], samples)
        }
        let partition = ASTCPartition(field(13, 10), partCount, size)
        let separate = grid.isDual ? field(below, 2) : -1
        return mixed(grid, grid.weights(bits), ends, partition, separate)
    }

    /// Returns the texels between the end points.
    ///
    /// - Parameters:
    ///   - grid: the grid of weights.
    ///   - weights: the weights.
    ///   - ends: two end points for each subset.
    ///   - partition: the subsets.
    ///   - separate: the channel that the second weights are for, or -1.
    /// - Returns: the texels.
    private func mixed(
        _ grid: Grid, _ weights: InlineArray<64, UInt8>, _ ends: InlineArray<8, SIMD4<Int32>>,
        _ partition: ASTCPartition, _ separate: Int
    ) -> Texels {
        var result = Texels(repeating: .opaqueBlack)
        let scaleX = (1024 + size.width / 2) / (size.width - 1) * (grid.size.width - 1)
        let scaleY = (1024 + size.height / 2) / (size.height - 1) * (grid.size.height - 1)
        let step = grid.isDual ? 2 : 1
        for y in 0..<size.height {
            let placeY = (scaleY * y + 32) >> 6
            for x in 0..<size.width {
                let placeX = (scaleX * x + 32) >> 6
                let corner = placeY >> 4 * grid.size.width + placeX >> 4
                let (fractionX, fractionY) = (placeX & 15, placeY & 15)
                let both = (fractionX * fractionY + 8) >> 4
                let shares = SIMD4(
                    16 - fractionX - fractionY + both, fractionX - both, fractionY - both, both)
                func weight(_ plane: Int) -> Int32 {
                    // Weights outside the grid have no share.
                    func value(_ index: Int, _ share: Int) -> Int {
                        share == 0 ? 0 : Int(weights[(corner + index) * step + plane]) * share
                    }
                    return Int32(
                        (value(0, shares.x) + value(1, shares.y)
                            + value(grid.size.width, shares.z)
                            + value(grid.size.width + 1, shares.w) + 8) >> 4)
                }
                var mix = SIMD4(repeating: weight(0))
                if separate >= 0 { mix[separate] = weight(1) }
                let part = partition.subset(x, y)
                // Samples are extended to 16 bits, of which the highest 8 are the result.
                let a = ends[part * 2] &* 256 &+ 128
                let b = ends[part * 2 + 1] &* 256 &+ 128
                result[y * size.width + x] = Texel(
                    truncatingIfNeeded: (a &* (64 &- mix) &+ b &* mix &+ 32) &>> 14)
            }
        }
        return result
    }

    /// The weights of a block.
    private struct Grid {
        var size: PixelSize
        let range: ASTCRange
        /// Whether each place has two weights, the second for one of the channels.
        let isDual: Bool
        let bitCount: Int

        /// Reads a block mode of 11 bits; `nil` if it is reserved.
        init?(_ mode: Int) {
            let (a, b) = (mode >> 5 & 3, mode >> 7 & 3)
            var hasRange = true
            var number = mode >> 4 & 1
            if mode & 3 != 0 {
                number |= (mode & 3) << 1
                size =
                    switch mode >> 2 & 3 {
                    case 0: PixelSize(width: b + 4, height: a + 2)
                    case 1: PixelSize(width: b + 8, height: a + 2)
                    case 2: PixelSize(width: a + 2, height: b + 8)
                    default:
                        b < 2
                            ? PixelSize(width: a + 2, height: b + 6)
                            : PixelSize(width: b, height: a + 2)
                    }
            } else {
                number |= mode >> 1 & 6
                switch (b, a) {
                case (0, _): size = PixelSize(width: 12, height: a + 2)
                case (1, _): size = PixelSize(width: a + 2, height: 12)
                case (2, _):
                    size = PixelSize(width: a + 6, height: mode >> 9 + 6)
                    hasRange = false
                case (_, 0): size = PixelSize(width: 6, height: 10)
                case (_, 1): size = PixelSize(width: 10, height: 6)
                default: return nil
                }
            }
            guard number >= 2 else { return nil }
            range = ASTCRange.ofWeights(number, isHigh: hasRange && mode >> 9 & 1 == 1)
            isDual = hasRange && mode >> 10 & 1 == 1
            let count = size.area * (isDual ? 2 : 1)
            bitCount = range.bitCount(of: count)
            guard count <= 64, (24...96).contains(bitCount) else { return nil }
        }

        /// Reads the weights, which are stored from the highest bit of a block.
        func weights(_ bits: UInt128) -> InlineArray<64, UInt8> {
            let count = size.area * (isDual ? 2 : 1)
            var result = range.values(Self.reversed(bits), count)
            for index in 0..<count { result[index] = range.weights[Int(result[index])] }
            return result
        }

        private static func reversed(_ bits: UInt128) -> UInt128 {
            var result = bits.byteSwapped
            for (shift, mask) in [(4, 0x0F), (2, 0x33), (1, 0x55)] {
                // The mask in each byte.
                let lanes = UInt128.max / 255 * UInt128(mask)
                result =
                    result >> UInt128(shift) & lanes | (result & lanes) << UInt128(shift)
            }
            return result
        }
    }
}

/// The subsets of a block of ASTC, computed from a seed.
struct ASTCPartition {
    private let count: Int
    private let scale: Int
    private let seeds: InlineArray<8, Int>
    private let offsets: InlineArray<4, Int>

    init(_ seed: Int, _ count: Int, _ size: PixelSize) {
        self.count = count
        scale = size.area < 31 ? 2 : 1
        let seed = seed + (count - 1) * 1024
        let hash = Self.hash(UInt32(seed))
        let shifts =
            seed & 1 == 1
            ? (seed & 2 == 0 ? 5 : 4, count == 3 ? 6 : 5)
            : (count == 3 ? 6 : 5, seed & 2 == 0 ? 5 : 4)
        seeds = InlineArray { index in
            let value = Int(hash >> UInt32(index * 4) & 15)
            return (value * value) >> (index % 2 == 0 ? shifts.0 : shifts.1)
        }
        offsets = InlineArray { Int(hash >> UInt32(14 - 4 * $0)) }
    }

    /// Returns the subset of a texel.
    func subset(_ x: Int, _ y: Int) -> Int {
        if count == 1 { return 0 }
        let (x, y) = (x * scale, y * scale)
        var (greatest, result) = (-1, 0)
        for part in 0..<count {
            let value =
                (seeds[part * 2] * x + seeds[part * 2 + 1] * y + offsets[part]) & 63
            if value > greatest { (greatest, result) = (value, part) }
        }
        return result
    }

    private static func hash(_ value: UInt32) -> UInt32 {
        var hash = value
        hash ^= hash >> 15
        hash &-= hash << 17
        hash &+= hash << 7
        hash &+= hash << 4
        hash ^= hash >> 5
        hash &+= hash << 16
        hash ^= hash >> 7
        hash ^= hash >> 3
        hash ^= hash << 6
        hash ^= hash >> 17
        return hash
    }
}

/// The end points of a subset of ASTC.
enum ASTCEndPoints {
    /// Returns two end points of 8 bits for each channel.
    ///
    /// - Parameters:
    ///   - mode: the number of the mode.
    ///   - values: the samples.
    /// - Returns: magenta for a mode of the HDR profile.
    static func decoded(
        _ mode: Int, _ values: InlineArray<8, Int32>
    ) -> (SIMD4<Int32>, SIMD4<Int32>) {
        func direct(_ red: Int, _ green: Int, _ blue: Int, _ alpha: Int32) -> SIMD4<Int32> {
            SIMD4(values[red], values[green], values[blue], alpha)
        }
        /// Differences, and values that have taken over a bit from them.
        func difference(_ index: Int) -> (value: Int32, step: Int32) {
            let step = values[index + 1] >> 1 & 0x3F
            return (
                values[index] >> 1 | values[index + 1] & 0x80, step > 31 ? step - 64 : step
            )
        }
        switch mode {
        case 0: return (direct(0, 0, 0, 255), direct(1, 1, 1, 255))
        case 1:
            let low = values[0] >> 2 | values[1] & 0xC0
            let high = min(255, low + values[1] & 0x3F)
            return (SIMD4(low, low, low, 255), SIMD4(high, high, high, 255))
        case 4: return (direct(0, 0, 0, values[2]), direct(1, 1, 1, values[3]))
        case 5:
            let (gray, alpha) = (difference(0), difference(2))
            let low = SIMD4(gray.value, gray.value, gray.value, alpha.value)
            let step = SIMD4(gray.step, gray.step, gray.step, alpha.step)
            return (low, limited(low &+ step))
        case 6, 10:
            let hasAlpha = mode == 10
            let high = direct(0, 1, 2, hasAlpha ? values[5] : 255)
            var low = (high &* values[3]) &>> 8
            low.w = hasAlpha ? values[4] : 255
            return (low, high)
        case 8, 12:
            let hasAlpha = mode == 12
            let low = direct(0, 2, 4, hasAlpha ? values[6] : 255)
            let high = direct(1, 3, 5, hasAlpha ? values[7] : 255)
            let isInOrder =
                values[1] + values[3] + values[5] >= values[0] + values[2] + values[4]
            return isInOrder ? (low, high) : (contracted(high), contracted(low))
        case 9, 13:
            let (red, green, blue) = (difference(0), difference(2), difference(4))
            let alpha = mode == 13 ? difference(6) : (value: 255, step: 0)
            let low = SIMD4(red.value, green.value, blue.value, alpha.value)
            let high = low &+ SIMD4(red.step, green.step, blue.step, alpha.step)
            return red.step + green.step + blue.step >= 0
                ? (low, limited(high)) : (limited(contracted(high)), contracted(low))
        default: return (SIMD4(255, 0, 255, 255), SIMD4(255, 0, 255, 255))
        }
    }

    private static func limited(_ color: SIMD4<Int32>) -> SIMD4<Int32> {
        color.clamped(
            lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 255))
    }

    /// Moves red and green halfway to blue.
    private static func contracted(_ color: SIMD4<Int32>) -> SIMD4<Int32> {
        SIMD4((color.x + color.z) >> 1, (color.y + color.z) >> 1, color.z, color.w)
    }
}
