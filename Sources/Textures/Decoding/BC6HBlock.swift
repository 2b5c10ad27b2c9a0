// SPDX-License-Identifier: Apache-2.0

/// Decodes blocks of BC6H to half-precision floats.
///
/// A block has one of 14 modes, which differ in the number of subsets, in the precision of end points and
/// in whether all but the first end point are stored as differences.
/// - SeeAlso: Khronos Group, *Khronos Data Format Specification*, “BPTC”.
struct BC6HBlock {
    /// The bit patterns of red, green and blue as half-precision floats; the fourth lane is 0.
    typealias Texels = InlineArray<16, SIMD4<UInt16>>

    /// Consecutive bits of a block, which belong to one channel of an end point.
    private struct Field {
        var channel, end, shift, bitCount: Int
        /// Whether the highest bit comes first.
        var isReversed: Bool
    }

    private struct Mode {
        /// The number of bits of the first end point, and of the differences of each channel.
        let bitCount: Int
        let differences: SIMD4<Int32>
        let isTransformed: Bool
        let fields: [Field]
        let endCount: Int

        /// A mode of fields in the order of the bits, such as “rw9:0” for bits 0 to 9 of red of the first
        /// end point; the end points are w, x, y and z.
        init(
            _ bitCount: Int, _ red: Int32, _ green: Int32, _ blue: Int32,
            isTransformed: Bool = true, _ fields: String
        ) {
            self.bitCount = bitCount
            self.differences = SIMD4(red, green, blue, 0)
            self.isTransformed = isTransformed
            endCount = fields.contains("z") ? 4 : 2
            self.fields = fields.split(separator: " ").map { field in
                let bits = field.dropFirst(2).split(separator: ":").compactMap { Int($0) }
                let (first, last) = (bits.first ?? 0, bits.last ?? 0)
                return Field(
                    channel: field.hasPrefix("r") ? 0 : field.hasPrefix("g") ? 1 : 2,
                    end: Int(field.utf8.dropFirst().first ?? 0) - Int(UInt8(ascii: "w")),
                    shift: min(first, last), bitCount: abs(first - last) + 1,
                    isReversed: first < last)
            }
        }
    }

    /// The modes by the lowest five bits of a block, of which two are significant if they are 0 or 1.
    private static let modes: [Int: Mode] = [
        0: Mode(
            10, 5, 5, 5,
            """
            gy4 by4 bz4 rw9:0 gw9:0 bw9:0 rx4:0 gz4 gy3:0 gx4:0 bz0 gz3:0 bx4:0 bz1 by3:0 \
            ry4:0 bz2 rz4:0 bz3
            """),
        1: Mode(
            7, 6, 6, 6,
            """
            gy5 gz4 gz5 rw6:0 bz0 bz1 by4 gw6:0 by5 bz2 gy4 bw6:0 bz3 bz5 bz4 rx5:0 gy3:0 \
            gx5:0 gz3:0 bx5:0 by3:0 ry5:0 rz5:0
            """),
        2: Mode(
            11, 5, 4, 4,
            """
            rw9:0 gw9:0 bw9:0 rx4:0 rw10 gy3:0 gx3:0 gw10 bz0 gz3:0 bx3:0 bw10 bz1 by3:0 \
            ry4:0 bz2 rz4:0 bz3
            """),
        6: Mode(
            11, 4, 5, 4,
            """
            rw9:0 gw9:0 bw9:0 rx3:0 rw10 gz4 gy3:0 gx4:0 gw10 gz3:0 bx3:0 bw10 bz1 by3:0 \
            ry3:0 bz0 bz2 rz3:0 gy4 bz3
            """),
        10: Mode(
            11, 4, 4, 5,
            """
            rw9:0 gw9:0 bw9:0 rx3:0 rw10 by4 gy3:0 gx3:0 gw10 bz0 gz3:0 bx4:0 bw10 by3:0 \
            ry3:0 bz1 bz2 rz3:0 bz4 bz3
            """),
        14: Mode(
            9, 5, 5, 5,
            """
            rw8:0 by4 gw8:0 gy4 bw8:0 bz4 rx4:0 gz4 gy3:0 gx4:0 bz0 gz3:0 bx4:0 bz1 by3:0 \
            ry4:0 bz2 rz4:0 bz3
            """),
        18: Mode(
            8, 6, 5, 5,
            """
            rw7:0 gz4 by4 gw7:0 bz2 gy4 bw7:0 bz3 bz4 rx5:0 gy3:0 gx4:0 bz0 gz3:0 bx4:0 bz1 \
            by3:0 ry5:0 rz5:0
            """),
        22: Mode(
            8, 5, 6, 5,
            """
            rw7:0 bz0 by4 gw7:0 gy5 gy4 bw7:0 gz5 bz4 rx4:0 gz4 gy3:0 gx5:0 gz3:0 bx4:0 bz1 \
            by3:0 ry4:0 bz2 rz4:0 bz3
            """),
        26: Mode(
            8, 5, 5, 6,
            """
            rw7:0 bz1 by4 gw7:0 by5 gy4 bw7:0 bz5 bz4 rx4:0 gz4 gy3:0 gx4:0 bz0 gz3:0 bx5:0 \
            by3:0 ry4:0 bz2 rz4:0 bz3
            """),
        30: Mode(
            6, 6, 6, 6, isTransformed: false,
            """
            rw5:0 gz4 bz0 bz1 by4 gw5:0 gy5 by5 bz2 gy4 bw5:0 gz5 bz3 bz5 bz4 rx5:0 gy3:0 \
            gx5:0 gz3:0 bx5:0 by3:0 ry5:0 rz5:0
            """),
        3: Mode(
            10, 10, 10, 10, isTransformed: false, "rw9:0 gw9:0 bw9:0 rx9:0 gx9:0 bx9:0"),
        7: Mode(11, 9, 9, 9, "rw9:0 gw9:0 bw9:0 rx8:0 rw10 gx8:0 gw10 bx8:0 bw10"),
        11: Mode(
            12, 8, 8, 8, "rw9:0 gw9:0 bw9:0 rx7:0 rw10:11 gx7:0 gw10:11 bx7:0 bw10:11"),
        15: Mode(
            16, 4, 4, 4, "rw9:0 gw9:0 bw9:0 rx3:0 rw10:15 gx3:0 gw10:15 bx3:0 bw10:15"),
    ]
    private static let modesByNumber: [Mode?] = (0..<32).map { modes[$0 & 3 < 2 ? $0 & 3 : $0] }

    /// Decodes a block; a block of no mode is black.
    static func decode(_ low: UInt64, _ high: UInt64, isSigned: Bool) -> Texels {
        let number = Int(low & 31)
        guard let mode = modesByNumber[number] else {
            return Texels(repeating: SIMD4(repeating: 0))
        }
        var bits = BlockBits(low: low, high: high)
        _ = bits.next(number & 3 < 2 ? 2 : 5)
        let ends = endPoints(mode, &bits, isSigned: isSigned)
        let subsetCount = mode.endCount / 2
        let partition = subsetCount == 2 ? bits.next(5) : 0
        let indexBits = subsetCount == 2 ? 3 : 4
        return Texels { place in
            let isAnchor = BPTCPartitions.isAnchor(place, subsetCount, partition)
            let index = UInt8(bits.next(isAnchor ? indexBits - 1 : indexBits))
            let subset = BPTCPartitions.subset(of: place, subsetCount, partition)
            let weight = Int32(BPTCWeights.weight(index, indexBits))
            let (a, b) = (ends[2 * subset], ends[2 * subset + 1])
            let color = (a &* (64 &- weight) &+ b &* weight &+ 32) &>> 6
            return half(color, isSigned: isSigned)
        }
    }

    /// Scales 16 or 17 bits to the finite half-precision floats.
    private static func half(_ color: SIMD4<Int32>, isSigned: Bool) -> SIMD4<UInt16> {
        guard isSigned else { return SIMD4(truncatingIfNeeded: (color &* 31) &>> 6) }
        let isNegative = color .< 0
        let magnitude = (color.replacing(with: 0 &- color, where: isNegative) &* 31) &>> 5
        let signed = magnitude.replacing(with: magnitude | 0x8000, where: isNegative)
        return SIMD4(truncatingIfNeeded: signed)
    }

    private static func endPoints(
        _ mode: Mode, _ bits: inout BlockBits, isSigned: Bool
    ) -> InlineArray<4, SIMD4<Int32>> {
        var ends = InlineArray<4, SIMD4<Int32>>(repeating: SIMD4(repeating: 0))
        for field in mode.fields {
            var value = bits.next(field.bitCount)
            if field.isReversed {
                value = (0..<field.bitCount).reduce(0) { $0 << 1 | value >> $1 & 1 }
            }
            ends[field.end][field.channel] |= Int32(value << field.shift)
        }
        let whole = SIMD4(repeating: Int32(mode.bitCount))
        if isSigned { ends[0] = extended(ends[0], whole) }
        for end in 1..<mode.endCount {
            if mode.isTransformed {
                let sum = ends[0] &+ extended(ends[end], mode.differences)
                ends[end] = sum & (1 << Int32(mode.bitCount) - 1)
            }
            if isSigned { ends[end] = extended(ends[end], whole) }
        }
        for end in 0..<mode.endCount {
            for channel in 0..<3 {
                ends[end][channel] = unquantized(
                    ends[end][channel], mode.bitCount, isSigned: isSigned)
            }
        }
        return ends
    }

    /// Extends the sign of integers of a number of bits for each.
    private static func extended(_ values: SIMD4<Int32>, _ bits: SIMD4<Int32>) -> SIMD4<Int32> {
        let unused = 32 &- bits
        return (values &<< unused) &>> unused
    }

    private static func unquantized(_ value: Int32, _ bitCount: Int, isSigned: Bool) -> Int32 {
        let magnitude = abs(value)
        let greatest = Int32(1) << Int32(isSigned ? bitCount - 1 : bitCount) - 1
        if bitCount >= 15 && !isSigned || bitCount >= 16 || value == 0 { return value }
        let scaled =
            magnitude >= greatest
            ? (isSigned ? 0x7FFF : 0xFFFF) : (magnitude << 15 + 0x4000) >> Int32(bitCount - 1)
        return value < 0 ? -scaled : scaled
    }
}
