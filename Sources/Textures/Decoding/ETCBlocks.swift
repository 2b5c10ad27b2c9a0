// SPDX-License-Identifier: Apache-2.0

/// Decodes blocks of ETC1, ETC2 and EAC; words are big-endian, pixels are numbered column by column.
///
/// - SeeAlso: Khronos Group, *Khronos Data Format Specification*, “ETC1”, “ETC2” and “EAC”.
enum ETCBlocks {
    /// The variants of blocks of colour.
    enum Variant {
        /// Without the modes that ETC2 added.
        case etc1
        case etc2
        /// A bit of each block states whether texels can be transparent.
        case punchThrough
    }

    /// The small and the large modifier of each table.
    static let modifiers: InlineArray<8, SIMD2<Int32>> = [
        SIMD2(2, 8), SIMD2(5, 17), SIMD2(9, 29), SIMD2(13, 42),
        SIMD2(18, 60), SIMD2(24, 80), SIMD2(33, 106), SIMD2(47, 183),
    ]
    /// The distances of the modes that paint texels in one of two colours.
    static let distances: InlineArray<8, Int32> = [3, 6, 11, 16, 23, 32, 41, 64]

    /// Decodes a block of colour.
    ///
    /// - Parameters:
    ///   - word: the block as a big-endian integer.
    ///   - variant: the variant of the format.
    /// - Returns: the texels.
    static func colors(_ word: UInt64, _ variant: Variant) -> TexelBlock {
        func field(_ bit: Int, _ count: Int) -> Int32 {
            Int32(truncatingIfNeeded: word >> UInt64(bit) & (1 << UInt64(count) - 1))
        }
        let isDifferential = variant == .punchThrough || field(33, 1) == 1
        let isTransparent = variant == .punchThrough && field(33, 1) == 0
        guard isDifferential else {
            let first = SIMD3(field(60, 4), field(52, 4), field(44, 4)) &* 17
            let second = SIMD3(field(56, 4), field(48, 4), field(40, 4)) &* 17
            return halves(word, first, second, isTransparent)
        }
        let base = SIMD3(field(59, 5), field(51, 5), field(43, 5))
        let difference = SIMD3(
            signed3(field(56, 3)), signed3(field(48, 3)), signed3(field(40, 3)))
        let sum = base &+ difference
        if variant != .etc1 {
            if !(0...31).contains(sum.x) { return modeT(word, isTransparent) }
            if !(0...31).contains(sum.y) { return modeH(word, isTransparent) }
            if !(0...31).contains(sum.z) { return planar(word) }
        }
        let second = sum.clamped(
            lowerBound: SIMD3(repeating: 0), upperBound: SIMD3(repeating: 31))
        return halves(word, widened5(base), widened5(second), isTransparent)
    }

    private static func signed3(_ value: Int32) -> Int32 { value > 3 ? value - 8 : value }

    private static func widened5(_ color: SIMD3<Int32>) -> SIMD3<Int32> {
        color &<< 3 | color &>> 2
    }

    /// Returns the 2-bit index of a texel, its high bit first.
    @inline(__always)
    private static func index(_ word: UInt64, x: Int, y: Int) -> Int {
        let place = UInt64(x &* 4 &+ y)
        return Int(word >> (place &+ 16) & 1) &* 2 &+ Int(word >> place & 1)
    }

    /// Decodes two halves with a colour and a table each.
    private static func halves(
        _ word: UInt64, _ first: SIMD3<Int32>, _ second: SIMD3<Int32>, _ isTransparent: Bool
    ) -> TexelBlock {
        let isFlipped = word >> 32 & 1 == 1
        let tables = SIMD2(Int(word >> 37 & 7), Int(word >> 34 & 7))
        return TexelBlock { place in
            let (x, y) = (place & 3, place >> 2)
            let isSecond = (isFlipped ? y : x) >= 2
            let modifier = modifiers[isSecond ? tables.y : tables.x]
            let index = index(word, x: x, y: y)
            var amount = index & 1 == 1 ? modifier.y : modifier.x
            if isTransparent, index & 1 == 0 {
                if index == 2 { return Texel(repeating: 0) }
                amount = 0
            }
            if index & 2 != 0 { amount = -amount }
            return Texel(clamping: (isSecond ? second : first) &+ amount)
        }
    }

    private static func modeT(_ word: UInt64, _ isTransparent: Bool) -> TexelBlock {
        func field(_ bit: Int, _ count: Int) -> Int32 {
            Int32(truncatingIfNeeded: word >> UInt64(bit) & (1 << UInt64(count) - 1))
        }
        let first =
            SIMD3(field(59, 2) << 2 | field(56, 2), field(52, 4), field(48, 4)) &* 17
        let second = SIMD3(field(44, 4), field(40, 4), field(36, 4)) &* 17
        let distance = distances[Int(field(34, 2) << 1 | field(32, 1))]
        return painted(
            word, isTransparent, [first, second &+ distance, second, second &- distance])
    }

    private static func modeH(_ word: UInt64, _ isTransparent: Bool) -> TexelBlock {
        func field(_ bit: Int, _ count: Int) -> Int32 {
            Int32(truncatingIfNeeded: word >> UInt64(bit) & (1 << UInt64(count) - 1))
        }
        let first =
            SIMD3(
                field(59, 4), field(56, 3) << 1 | field(52, 1),
                field(51, 1) << 3 | field(47, 3))
        let second = SIMD3(field(43, 4), field(39, 4), field(35, 4))
        // The order of the colours is the lowest bit of the distance.
        let a = first.x << 8 | first.y << 4 | first.z
        let b = second.x << 8 | second.y << 4 | second.z
        let order: Int32 = a >= b ? 1 : 0
        let distance = distances[Int(field(34, 1) << 2 | field(32, 1) << 1 | order)]
        let (wide1, wide2) = (first &* 17, second &* 17)
        return painted(
            word, isTransparent,
            [wide1 &+ distance, wide1 &- distance, wide2 &+ distance, wide2 &- distance])
    }

    private static func painted(
        _ word: UInt64, _ isTransparent: Bool, _ colors: InlineArray<4, SIMD3<Int32>>
    ) -> TexelBlock {
        TexelBlock { place in
            let index = index(word, x: place & 3, y: place >> 2)
            if isTransparent, index == 2 { return Texel(repeating: 0) }
            return Texel(clamping: colors[index])
        }
    }

    /// Decodes a block whose colour is a linear function of the position.
    private static func planar(_ word: UInt64) -> TexelBlock {
        func field(_ bit: Int, _ count: Int) -> Int32 {
            Int32(truncatingIfNeeded: word >> UInt64(bit) & (1 << UInt64(count) - 1))
        }
        func wide(_ red: Int32, _ green: Int32, _ blue: Int32) -> SIMD3<Int32> {
            SIMD3(red << 2 | red >> 4, green << 1 | green >> 6, blue << 2 | blue >> 4)
        }
        let origin = wide(
            field(57, 6), field(56, 1) << 6 | field(49, 6),
            field(48, 1) << 5 | field(43, 2) << 3 | field(39, 3))
        let right = wide(field(34, 5) << 1 | field(32, 1), field(25, 7), field(19, 6))
        let below = wide(field(13, 6), field(6, 7), field(0, 6))
        return TexelBlock { place in
            let (x, y) = (Int32(place & 3), Int32(place >> 2))
            let sum =
                (right &- origin) &* x &+ (below &- origin) &* y &+ origin &* 4 &+ 2
            return Texel(clamping: sum &>> 2)
        }
    }

    /// The modifiers of EAC by table and index.
    static let channelModifiers: InlineArray<16, SIMD8<Int32>> = [
        SIMD8(-3, -6, -9, -15, 2, 5, 8, 14), SIMD8(-3, -7, -10, -13, 2, 6, 9, 12),
        SIMD8(-2, -5, -8, -13, 1, 4, 7, 12), SIMD8(-2, -4, -6, -13, 1, 3, 5, 12),
        SIMD8(-3, -6, -8, -12, 2, 5, 7, 11), SIMD8(-3, -7, -9, -11, 2, 6, 8, 10),
        SIMD8(-4, -7, -8, -11, 3, 6, 7, 10), SIMD8(-3, -5, -8, -11, 2, 4, 7, 10),
        SIMD8(-2, -6, -8, -10, 1, 5, 7, 9), SIMD8(-2, -5, -8, -10, 1, 4, 7, 9),
        SIMD8(-2, -4, -8, -10, 1, 3, 7, 9), SIMD8(-2, -5, -7, -10, 1, 4, 6, 9),
        SIMD8(-3, -4, -7, -10, 2, 3, 6, 9), SIMD8(-1, -2, -3, -10, 0, 1, 2, 9),
        SIMD8(-4, -6, -8, -9, 3, 5, 7, 8), SIMD8(-3, -5, -7, -9, 2, 4, 6, 8),
    ]

    /// Decodes a block of alpha with 8 bits.
    static func alpha(_ word: UInt64) -> InlineArray<16, UInt8> {
        let base = Int32(word >> 56)
        let multiplier = Int32(word >> 52 & 15)
        let table = channelModifiers[Int(word >> 48 & 15)]
        return InlineArray<16, UInt8> {
            UInt8(clamping: base &+ table[index3(word, $0)] &* multiplier)
        }
    }

    /// Decodes a block of a channel with 11 bits, rounded to 8.
    static func channel(_ word: UInt64, isSigned: Bool) -> InlineArray<16, UInt8> {
        let multiplier = Int32(word >> 52 & 15)
        let scale = multiplier == 0 ? 1 : multiplier &* 8
        let table = channelModifiers[Int(word >> 48 & 15)]
        let base = Int32(word >> 56)
        if isSigned {
            let signedBase = max(-127, Int32(Int8(truncatingIfNeeded: base)))
            return InlineArray<16, UInt8> {
                let value = signedBase &* 8 &+ table[index3(word, $0)] &* scale
                let limited = min(max(value, -1023), 1023)
                return UInt8(truncatingIfNeeded: ((limited + 1023) * 255 + 1023) / 2046)
            }
        }
        return InlineArray<16, UInt8> {
            let value = base &* 8 &+ 4 &+ table[index3(word, $0)] &* scale
            let limited = min(max(value, 0), 2047)
            return UInt8(truncatingIfNeeded: (limited * 255 + 1023) / 2047)
        }
    }

    /// Returns the 3-bit index of a texel, which is numbered row by row.
    @inline(__always)
    private static func index3(_ word: UInt64, _ place: Int) -> Int {
        let column = (place & 3) &* 4 &+ place >> 2
        return Int(word >> UInt64(45 &- column &* 3) & 7)
    }
}
