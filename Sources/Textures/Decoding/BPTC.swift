// SPDX-License-Identifier: Apache-2.0

/// The subsets of BC6H and BC7, whose texels share end points.
enum BPTCPartitions {
    /// Returns the subset of a texel.
    static func subset(of place: Int, _ subsetCount: Int, _ partition: Int) -> Int {
        switch subsetCount {
        case 2: Int(two[partition] >> UInt16(place) & 1)
        case 3: Int(three[partition] >> UInt32(place * 2) & 3)
        default: 0
        }
    }

    /// Returns whether a texel is the first of its subset, whose index lacks its highest bit.
    static func isAnchor(_ place: Int, _ subsetCount: Int, _ partition: Int) -> Bool {
        if place == 0 { return true }
        switch subsetCount {
        case 2: return place == anchorOfTwo[partition]
        case 3: return place == secondOfThree[partition] || place == thirdOfThree[partition]
        default: return false
        }
    }

    /// A bit for each texel.
    private static let two: InlineArray<64, UInt16> = [
        0xCCCC, 0x8888, 0xEEEE, 0xECC8, 0xC880, 0xFEEC, 0xFEC8, 0xEC80,
        0xC800, 0xFFEC, 0xFE80, 0xE800, 0xFFE8, 0xFF00, 0xFFF0, 0xF000,
        0xF710, 0x008E, 0x7100, 0x08CE, 0x008C, 0x7310, 0x3100, 0x8CCE,
        0x088C, 0x3110, 0x6666, 0x366C, 0x17E8, 0x0FF0, 0x718E, 0x399C,
        0xAAAA, 0xF0F0, 0x5A5A, 0x33CC, 0x3C3C, 0x55AA, 0x9696, 0xA55A,
        0x73CE, 0x13C8, 0x324C, 0x3BDC, 0x6996, 0xC33C, 0x9966, 0x0660,
        0x0272, 0x04E4, 0x4E40, 0x2720, 0xC936, 0x936C, 0x39C6, 0x639C,
        0x9336, 0x9CC6, 0x817E, 0xE718, 0xCCF0, 0x0FCC, 0x7744, 0xEE22,
    ]

    /// Two bits for each texel.
    private static let three: InlineArray<64, UInt32> = [
        0xAA68_5050, 0x6A5A_5040, 0x5A5A_4200, 0x5450_A0A8,
        0xA5A5_0000, 0xA0A0_5050, 0x5555_A0A0, 0x5A5A_5050,
        0xAA55_0000, 0xAA55_5500, 0xAAAA_5500, 0x9090_9090,
        0x9494_9494, 0xA4A4_A4A4, 0xA9A5_9450, 0x2A0A_4250,
        0xA594_5040, 0x0A42_5054, 0xA5A5_A500, 0x55A0_A0A0,
        0xA8A8_5454, 0x6A6A_4040, 0xA4A4_5000, 0x1A1A_0500,
        0x0050_A4A4, 0xAAA5_9090, 0x1469_6914, 0x6969_1400,
        0xA085_85A0, 0xAA82_1414, 0x50A4_A450, 0x6A5A_0200,
        0xA9A5_8000, 0x5090_A0A8, 0xA8A0_9050, 0x2424_2424,
        0x00AA_5500, 0x2492_4924, 0x2449_9224, 0x50A5_0A50,
        0x500A_A550, 0xAAAA_4444, 0x6666_0000, 0xA5A0_A5A0,
        0x50A0_50A0, 0x6928_6928, 0x44AA_AA44, 0x6666_6600,
        0xAA44_4444, 0x54A8_54A8, 0x9580_9580, 0x9696_9600,
        0xA854_54A8, 0x8095_9580, 0xAA14_1414, 0x9696_0000,
        0xAAAA_1414, 0xA050_50A0, 0xA0A5_A5A0, 0x9600_0000,
        0x4080_4080, 0xA9A8_A9A8, 0xAAAA_AA44, 0x2A4A_5254,
    ]

    private static let anchorOfTwo: InlineArray<64, Int> = [
        15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
        15, 2, 8, 2, 2, 8, 8, 15, 2, 8, 2, 2, 8, 8, 2, 2,
        15, 15, 6, 8, 2, 8, 15, 15, 2, 8, 2, 2, 2, 15, 15, 6,
        6, 2, 6, 8, 15, 15, 2, 2, 15, 15, 15, 15, 15, 2, 2, 15,
    ]

    private static let secondOfThree: InlineArray<64, Int> = [
        3, 3, 15, 15, 8, 3, 15, 15, 8, 8, 6, 6, 6, 5, 3, 3,
        3, 3, 8, 15, 3, 3, 6, 10, 5, 8, 8, 6, 8, 5, 15, 15,
        8, 15, 3, 5, 6, 10, 8, 15, 15, 3, 15, 5, 15, 15, 15, 15,
        3, 15, 5, 5, 5, 8, 5, 10, 5, 10, 8, 13, 15, 12, 3, 3,
    ]

    private static let thirdOfThree: InlineArray<64, Int> = [
        15, 8, 8, 3, 15, 15, 3, 8, 15, 15, 15, 15, 15, 15, 15, 8,
        15, 8, 15, 3, 15, 8, 15, 8, 3, 15, 6, 10, 15, 15, 10, 8,
        15, 3, 15, 10, 10, 8, 9, 10, 6, 15, 8, 15, 3, 6, 6, 8,
        15, 3, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3, 15, 15, 8,
    ]
}

/// The weights of the second end point of BC6H and BC7, of 64.
enum BPTCWeights {
    /// Returns the weight of an index of 2 to 4 bits.
    @inline(__always)
    static func weight(_ index: UInt8, _ bitCount: Int) -> UInt16 {
        switch bitCount {
        case 2: weights2[Int(index)]
        case 3: weights3[Int(index)]
        default: weights4[Int(index)]
        }
    }

    private static let weights2: InlineArray<4, UInt16> = [0, 21, 43, 64]
    private static let weights3: InlineArray<8, UInt16> = [0, 9, 18, 27, 37, 46, 55, 64]
    private static let weights4: InlineArray<16, UInt16> = [
        0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64,
    ]
}

/// Reads bits from the lowest of a block of 128.
struct BlockBits {
    var low, high: UInt64

    @inline(__always)
    mutating func next(_ count: Int) -> Int {
        let value = low & ((1 << UInt64(count)) - 1)
        low = low >> UInt64(count) | (count == 0 ? 0 : high << UInt64(64 - count))
        high >>= UInt64(count)
        return Int(value)
    }
}
