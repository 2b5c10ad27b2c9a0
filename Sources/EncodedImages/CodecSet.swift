// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The codecs of a program, which it passes to every function that opens or writes an image.
public struct CodecSet: Sendable {
    /// The codecs, in an order without a meaning.
    public let codecs: [any ImageCodec]
    /// Converts between colour spaces; without it, all samples are treated as sRGB.
    public let colorConverter: (any ColorConverter)?
    /// The formats that are recognized but cannot be decoded.
    public let missing: [MissingFormat]
    /// Decodes instead of the codecs, which then only encode and name formats.
    public let remoteDecoder: (any RemoteDecoder)?

    /// A format that is recognized but whose codec was not built in.
    public struct MissingFormat: Sendable {
        /// The format.
        public let format: ImageFormat
        /// The error that its files cause.
        public let error: CodecError

        /// A format whose files cause ``CodecError/notBuiltIn(format:trait:)``.
        ///
        /// - Parameters:
        ///   - format: the format.
        ///   - trait: the trait of the package that enables its codec.
        public init(_ format: ImageFormat, trait: String) {
            self.format = format
            error = .notBuiltIn(format: format.name, trait: trait)
        }
    }

    /// A set of codecs.
    ///
    /// - Parameters:
    ///   - codecs: the codecs.
    ///   - missing: the formats that are recognized only.
    ///   - colorConverter: converts between colour spaces.
    ///   - remoteDecoder: decodes instead of the codecs.
    public init(
        _ codecs: [any ImageCodec], missing: [MissingFormat] = [],
        colorConverter: (any ColorConverter)? = nil, remoteDecoder: (any RemoteDecoder)? = nil
    ) {
        self.codecs = codecs
        self.missing = missing
        self.colorConverter = colorConverter
        self.remoteDecoder = remoteDecoder
    }

    /// Returns a set of these codecs and others.
    public func adding(_ others: [any ImageCodec]) -> CodecSet {
        CodecSet(
            codecs + others, missing: missing, colorConverter: colorConverter,
            remoteDecoder: remoteDecoder)
    }

    /// A set that decodes in this process, for files that this program wrote itself.
    public var decodedInProcess: CodecSet {
        CodecSet(codecs, missing: missing, colorConverter: colorConverter)
    }

    /// Returns a set whose files are decoded, and converted to sRGB, by a remote decoder.
    public func decoded(by remoteDecoder: any RemoteDecoder) -> CodecSet {
        CodecSet(
            codecs, missing: missing, colorConverter: colorConverter == nil ? nil : remoteDecoder,
            remoteDecoder: remoteDecoder)
    }

    /// Returns the codec with the longest match for the first bytes of a file; `nil` if none matches.
    public func codec(for bytes: Span<UInt8>) -> (any ImageCodec)? {
        var best: (codec: any ImageCodec, byteCount: Int)?
        for codec in codecs {
            let byteCount = codec.recognizedByteCount(bytes)
            if byteCount > best?.byteCount ?? 0 { best = (codec, byteCount) }
        }
        return best?.codec
    }

    /// Returns the codec for a file as ``codec(for:)`` does; maps the file instead of reading it.
    ///
    /// Returns `nil` if the file cannot be mapped.
    package func codec(forMapped file: EncodedBytes) -> (any ImageCodec)? {
        (try? file.mapped())?.withBytes { codec(for: $0) }
    }

    /// Reads the headers of files; no pixel is decoded.
    ///
    /// A remote decoder reads several in one exchange, which takes a fraction of the time of as many
    /// ``ImageSource``s.
    ///
    /// - Parameters:
    ///   - files: the files.
    ///   - limits: the limits on each file.
    /// - Returns: the result of each file: its format and the size of the upright image in pixels.
    package func sizes(
        of files: [EncodedBytes], limits: DecodeLimits
    ) -> [Result<(format: ImageFormat, size: PixelSize), CodecError>] {
        guard let remoteDecoder else {
            return files.map { file in
                Result { () throws(CodecError) in
                    let source = try ImageSource(file, codecs: self, limits: limits)
                    return (source.format, source.pixelSize)
                }
            }
        }
        return zip(files, remoteDecoder.sizes(of: files, limits: limits)).map { file, result in
            Result { () throws(CodecError) in
                let (name, size) = try file.whileUnchanged { () throws(CodecError) in
                    try result.get()
                }
                try limits.check(size)
                return (try format(named: name), size)
            }
        }
    }

    /// Returns the format that a remote decoder names.
    ///
    /// - Throws: ``CodecError/decoderStopped(_:)`` if there is none with this name.
    func format(named name: String) throws(CodecError) -> ImageFormat {
        guard let format = codecs.first(where: { $0.format.name == name })?.format else {
            throw .decoderStopped(.nonsense(reason: "unknown format \(name)"))
        }
        return format
    }

    /// Returns the error for a file that no codec recognizes.
    func unknownFormat(of bytes: Span<UInt8>) -> CodecError {
        if bytes.isEmpty { return .empty }
        for missing in missing
        where missing.format.signatures.contains(where: { $0.matches(bytes) }) {
            return missing.error
        }
        return .unknownFormat
    }

    /// Converts a decoded image to the colour space and the pixel format of the options.
    func finished(
        _ image: consuming PixelBuffer, _ options: DecodeOptions, _ limits: DecodeLimits
    ) throws(CodecError) -> PixelBuffer {
        let isExtended = options.pixelFormat == .rgbaHalf
        if options.convertsToSRGB, let converter = StandardRangeConverter(image.colorProfile) {
            image = image.convertedFromYCbCr()
            image =
                isExtended
                ? converter.convertedToExtendedSRGB(consume image)
                : converter.converted(consume image)
        } else if options.convertsToSRGB, image.colorProfile != .sRGB,
            let converter = colorConverter
        {
            image =
                isExtended
                ? try converter.convertedToExtendedSRGB(consume image)
                : try converter.convertedToSRGB(consume image)
        }
        let kept = options.keepsDepth ? image.format : image.format.with8BitChannels
        let format = options.pixelFormat ?? kept
        guard format != image.format else { return image }
        try limits.check(.memoryByteCount, PixelBuffer.byteCount(of: image.size, format))
        return image.converted(to: format, dithering: options.dithering)
    }

    /// Returns an image whose colours any format can describe: by a valid ICC profile, or as sRGB.
    ///
    /// - Parameter image: the image.
    /// - Returns: the image, converted to sRGB unless it has such a profile.
    /// - Throws: ``CodecError`` if the conversion fails.
    public func inPortableColors(
        _ image: consuming PixelBuffer
    ) throws(CodecError) -> PixelBuffer {
        let isGray = image.format == .gray8 || image.format == .gray16
        if case .icc(let bytes) = image.colorProfile, let profile = ICCProfile(bytes),
            profile.colorSpace == (isGray ? "GRAY" : "RGB ")
        {
            return image
        }
        return try inSRGB(image)
    }

    /// Converts an image to sRGB.
    ///
    /// - Throws: ``CodecError`` if the conversion fails.
    public func inSRGB(_ image: consuming PixelBuffer) throws(CodecError) -> PixelBuffer {
        var options = DecodeOptions()
        options.keepsDepth = true
        return try finished(image, options, DecodeLimits())
    }

    /// Returns the codec of a format by its name or one of its file extensions, ignoring case.
    public func codec(named name: String) -> (any ImageCodec)? {
        codecs.first { $0.format.isNamed(name) }
    }
}

/// A converter between colour spaces.
public protocol ColorConverter: Sendable {
    /// Converts an image to sRGB; a profile that is invalid for its pixels is ignored.
    ///
    /// - Throws: ``CodecError`` if the library is missing or fails.
    func convertedToSRGB(_ image: consuming PixelBuffer) throws(CodecError) -> PixelBuffer

    /// Converts an image to `PixelFormat/rgbaHalf` with the primaries and the curve of sRGB.
    ///
    /// Colours outside of sRGB become values below 0 or above 1; they are not clipped.
    ///
    /// - Throws: ``CodecError`` if the library is missing or fails.
    func convertedToExtendedSRGB(
        _ image: consuming PixelBuffer
    ) throws(CodecError) -> PixelBuffer
}
