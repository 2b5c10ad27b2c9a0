// SPDX-License-Identifier: Apache-2.0

#if JPEG && PNG
internal import EncodedImages
internal import Pixels

/// Encodes both files with the encoders of their formats.
struct JPNGEncoder: ImageEncoder {
    func dependsOnQuality(_ options: EncodeOptions) -> Bool { true }

    /// The JPEG file contains the profile.
    func stores(_ profile: ColorProfile) -> Bool { true }

    func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8] {
        let parts = try Self.parts(of: image, options)
        guard parts.color.count <= Int(UInt32.max), parts.mask.count <= Int(UInt32.max) else {
            throw .unsupported(feature: "JPNG with a part of 4 GiB or more")
        }
        return JPNGFooter.joined(color: parts.color, mask: parts.mask)
    }

    /// Returns a JPEG file of straight colours, which contains the metadata, and a PNG file of
    /// alpha.
    static func parts(
        of image: PixelBuffer, _ options: EncodeOptions
    ) throws(CodecError) -> (color: [UInt8], mask: [UInt8]) {
        let size = image.size
        var mask = MutablePixelBuffer(size: size, format: .gray8)
        var color = image
        if image.format.hasAlpha {
            let image = image.converted(to: .rgba8)
            for y in 0..<size.height {
                let row = image.row(y)
                mask.withMutableRow(y) { mask in
                    for x in 0..<size.width { mask[x] = row[x * 4 + 3] }
                }
            }
            color = HiddenColors.filled(image)
        } else {
            for y in 0..<size.height {
                mask.withMutableRow(y) { mask in
                    for x in 0..<size.width { mask[x] = 255 }
                }
            }
        }
        var maskOptions = options
        maskOptions.metadata = MetadataBlocks()
        return (
            try JPEGEncoder().encode(color, options),
            try PNGEncoder().encode(mask.finish(), maskOptions)
        )
    }
}
#endif
