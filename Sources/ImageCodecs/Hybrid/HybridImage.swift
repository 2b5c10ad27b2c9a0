// SPDX-License-Identifier: Apache-2.0

#if JPEG && PNG
    public import EncodedImages
    public import Pixels

    /// A picture in two files: its colours as JPEG, its alpha as a grey PNG of the same size.
    ///
    /// JPNG files hold the same two, one behind the other.
    public enum HybridImage {
        /// What the colours of pixels that are not opaque are.
        public enum Matte: String, Hashable, Sendable, CaseIterable {
            /// Their own, straight.
            case none
            /// Laid over white, as a JPEG for programs that know no alpha would be.
            case white
        }

        /// Writes a picture as two files.
        ///
        /// - Parameters:
        ///   - image: any picture; one without alpha gets a mask that is white everywhere.
        ///   - options: how each is written.
        /// - Returns: a JPEG file of straight colours and a PNG file.
        /// - Throws: `CodecError`.
        public static func encode(
            _ image: PixelBuffer, _ options: EncodeOptions = EncodeOptions()
        ) throws(CodecError) -> (color: [UInt8], mask: [UInt8]) {
            try JPNGEncoder.parts(of: image, options)
        }

        /// Reads a picture from two files.
        ///
        /// - Parameters:
        ///   - color: a JPEG file.
        ///   - mask: a PNG file of the same size, grey or with an alpha channel; no profile and no gamma
        ///     is applied to it.
        ///   - matte: what the colours are.
        ///   - options: the size and the form that are wanted.
        ///   - limits: what both files together may ask for.
        /// - Returns: the picture and what was done for it.
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
