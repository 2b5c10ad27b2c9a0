// SPDX-License-Identifier: Apache-2.0

/// Decodes blocks of BC7.
///
/// A block has one of eight modes, which differ in the number of subsets, each with two end points, and
/// in the precision of end points and indices.
/// - SeeAlso: Khronos Group, *Khronos Data Format Specification*, “BPTC”.
struct BC7Block {
    private struct Mode {
        let subsetCount, partitionBits, rotationBits, selectionBits: Int
        let colorBits, alphaBits: Int
        /// Bits that extend every end point, one each or one per subset.
        let endPointBits, sharedBits: Int
        let indexBits, secondIndexBits: Int

        init(
            _ subsetCount: Int, _ partitionBits: Int, _ rotationBits: Int, _ selectionBits: Int,
            _ colorBits: Int, _ alphaBits: Int, _ endPointBits: Int, _ sharedBits: Int,
            _ indexBits: Int, _ secondIndexBits: Int
        ) {
            self.subsetCount = subsetCount
            self.partitionBits = partitionBits
            self.rotationBits = rotationBits
            self.selectionBits = selectionBits
            self.colorBits = colorBits
            self.alphaBits = alphaBits
            self.endPointBits = endPointBits
            self.sharedBits = sharedBits
            self.indexBits = indexBits
            self.secondIndexBits = secondIndexBits
        }
    }

    private static let modes: InlineArray<8, Mode> = [
        Mode(3, 4, 0, 0, 4, 0, 1, 0, 3, 0),
        Mode(2, 6, 0, 0, 6, 0, 0, 1, 3, 0),
        Mode(3, 6, 0, 0, 5, 0, 0, 0, 2, 0),
        Mode(2, 6, 0, 0, 7, 0, 1, 0, 2, 0),
        Mode(1, 0, 2, 1, 5, 6, 0, 0, 2, 3),
        Mode(1, 0, 2, 0, 7, 8, 0, 0, 2, 2),
        Mode(1, 0, 0, 0, 7, 7, 1, 0, 4, 0),
        Mode(2, 6, 0, 0, 5, 5, 1, 0, 2, 0),
    ]

    /// Decodes a block; a block of no mode is transparent black, as the specification demands.
    static func decode(_ low: UInt64, _ high: UInt64) -> TexelBlock {
        let number = (low & 0xFF).trailingZeroBitCount
        guard number < 8 else { return TexelBlock(repeating: Texel(repeating: 0)) }
        let mode = modes[number]
        var bits = BlockBits(low: low, high: high)
        _ = bits.next(number + 1)
        let partition = bits.next(mode.partitionBits)
        let rotation = bits.next(mode.rotationBits)
        let swapsIndices = bits.next(mode.selectionBits) == 1
        let ends = endPoints(mode, &bits)
        let first = indices(mode, mode.indexBits, partition, &bits)
        let second =
            mode.secondIndexBits == 0
            ? first : indices(mode, mode.secondIndexBits, partition, &bits)
        return TexelBlock { place in
            let subset = BPTCPartitions.subset(of: place, mode.subsetCount, partition)
            let (a, b) = (ends[2 * subset], ends[2 * subset + 1])
            let colorBits =
                swapsIndices ? mode.secondIndexBits : mode.indexBits
            let alphaBits =
                mode.secondIndexBits == 0 || swapsIndices
                ? mode.indexBits : mode.secondIndexBits
            let color = swapsIndices ? second[place] : first[place]
            let alpha = swapsIndices ? first[place] : second[place]
            let colorWeight = BPTCWeights.weight(color, colorBits)
            let alphaWeight = BPTCWeights.weight(alpha, alphaBits)
            let weights = SIMD4<UInt16>(
                colorWeight, colorWeight, colorWeight, alphaWeight)
            var texel = Texel(
                truncatingIfNeeded: (a &* (64 &- weights) &+ b &* weights &+ 32) &>> 6)
            if rotation > 0 {
                let exchanged = texel[rotation - 1]
                texel[rotation - 1] = texel.w
                texel.w = exchanged
            }
            return texel
        }
    }

    private static func endPoints(
        _ mode: Mode, _ bits: inout BlockBits
    ) -> InlineArray<6, SIMD4<UInt16>> {
        var ends = InlineArray<6, SIMD4<UInt16>>(repeating: SIMD4(repeating: 0))
        let count = mode.subsetCount * 2
        for channel in 0..<4 {
            let bitCount = channel == 3 ? mode.alphaBits : mode.colorBits
            for end in 0..<count { ends[end][channel] = UInt16(bits.next(bitCount)) }
        }
        var extensions = InlineArray<6, UInt16>(repeating: 0)
        let hasExtension = mode.endPointBits + mode.sharedBits > 0
        if mode.endPointBits > 0 {
            for end in 0..<count { extensions[end] = UInt16(bits.next(1)) }
        } else if mode.sharedBits > 0 {
            for subset in 0..<mode.subsetCount {
                let bit = UInt16(bits.next(1))
                extensions[subset * 2] = bit
                extensions[subset * 2 + 1] = bit
            }
        }
        for end in 0..<count {
            for channel in 0..<4 {
                var bitCount = channel == 3 ? mode.alphaBits : mode.colorBits
                guard bitCount > 0 else {
                    ends[end][channel] = 255
                    continue
                }
                var value = ends[end][channel]
                if hasExtension {
                    value = value << 1 | extensions[end]
                    bitCount += 1
                }
                ends[end][channel] = UInt16(widened(UInt32(value), bitCount: UInt32(bitCount)))
            }
        }
        return ends
    }

    /// Reads an index for each texel; that of the first texel of each subset has one bit less.
    private static func indices(
        _ mode: Mode, _ bitCount: Int, _ partition: Int, _ bits: inout BlockBits
    ) -> InlineArray<16, UInt8> {
        InlineArray<16, UInt8> { place in
            let isAnchor = BPTCPartitions.isAnchor(place, mode.subsetCount, partition)
            return UInt8(bits.next(isAnchor ? bitCount - 1 : bitCount))
        }
    }
}
