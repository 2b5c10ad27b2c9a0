// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Reads uncompressed texels.
struct PackedTexels {
    private let layout: TexelLayout
    /// For each of red, green, blue and alpha, the 8-bit value of each sample.
    private let values: InlineArray<4, [UInt8]>
    private let masks: InlineArray<4, UInt32>
    private let shifts: InlineArray<4, UInt32>

    init(_ layout: TexelLayout) {
        self.layout = layout
        let masks: InlineArray<4, UInt32> = [
            layout.red, layout.isLuminance ? layout.red : layout.green,
            layout.isLuminance ? layout.red : layout.blue, layout.alpha,
        ]
        self.masks = masks
        shifts = InlineArray { masks[$0] == 0 ? 0 : UInt32(masks[$0].trailingZeroBitCount) }
        values = InlineArray { channel in
            let bitCount = UInt32(masks[channel].nonzeroBitCount)
            // A missing colour is 0, missing alpha opaque.
            if bitCount == 0 { return [channel == 3 ? 255 : 0] }
            return (0..<1 << bitCount).map { widened($0, bitCount: bitCount) }
        }
    }

    func decode(
        _ bytes: Span<UInt8>, _ size: PixelSize,
        _ body: (Span<Texel>) throws(CodecError) -> Void
    ) throws(CodecError) {
        var row = [Texel](repeating: .opaqueBlack, count: size.width)
        // A single channel other than luminance is shown as grey too.
        let isGray = layout.channelCount == 1
        for y in 0..<size.height {
            for x in 0..<size.width {
                var value: UInt32 = 0
                let offset = (y * size.width + x) * layout.byteCount
                for index in 0..<layout.byteCount {
                    value |= UInt32(bytes[offset + index]) << UInt32(index * 8)
                }
                var texel = Texel.opaqueBlack
                for channel in 0..<4 {
                    texel[channel] =
                        values[channel][
                            Int((value & masks[channel]) >> shifts[channel])]
                }
                if isGray { texel = Texel(texel.x, texel.x, texel.x, 255) }
                row[x] = texel
            }
            try body(row.span)
        }
    }
}
