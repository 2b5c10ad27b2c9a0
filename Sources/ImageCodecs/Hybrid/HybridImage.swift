// SPDX-License-Identifier: Apache-2.0

#if JPEG && PNG
public import EncodedImages
public import Pixels

/// An image in two files: the colours as JPEG, and alpha as a grey PNG of the same size.
///
/// JPNG files contain the same two files, concatenated.
public enum HybridImage {
    /// How the colours of translucent pixels are stored.
    public enum Matte: String, Hashable, Sendable, CaseIterable {
        /// Straight colours.
        case none
        /// Composited over white, as in JPEG files for programs without alpha.
        case white
    }

    /// Encodes an image as two files.
    ///
    /// - Parameters:
    ///   - image: the image; without alpha the mask is white.
    ///   - options: the encoder options of both files.
    /// - Returns: a JPEG file of straight colours and a PNG file of alpha.
    /// - Throws: `CodecError`.
    public static func encode(
        _ image: PixelBuffer, _ options: EncodeOptions = EncodeOptions()
    ) throws(CodecError) -> (color: [UInt8], mask: [UInt8]) {
        try JPNGEncoder.parts(of: image, options)
    }

    /// Decodes an image from two files.
    ///
    /// - Parameters:
    ///   - color: a JPEG file.
    ///   - mask: a PNG file of the same size, grey or with an alpha channel; its profile and
    ///     gamma are ignored.
    ///   - matte: how the colours are stored.
    ///   - options: the decoder options.
    ///   - limits: the limits for both files together.
    /// - Returns: the image and the decode report.
    /// - Throws: `CodecError`.
    public static func decode(
        color: [UInt8], mask: [UInt8], matte: Matte = .none,
        options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> DecodedImage {
        for count in [color.count, mask.count] { try limits.check(.byteCount, count) }
        let file = JPNGFooter.joined(
            color: color, mask: mask, isOverWhite: matte == .white)
        let codecs = CodecSet([JPNGCodec()], colorConverter: builtInCodecs.colorConverter)
        return try ImageSource(EncodedBytes(file), codecs: codecs, limits: limits)
            .decodedImage(options)
    }
}
#endif
