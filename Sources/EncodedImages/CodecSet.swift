// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The codecs that a program reads and writes with, passed down to whoever opens pictures.
public struct CodecSet: Sendable {
    public let codecs: [any ImageCodec]
    /// Converts colours; without it, numbers are taken as sRGB whatever the profile says.
    public let colorConverter: (any ColorConverter)?
    /// Formats that this program knows by their signatures only.
    public let missing: [MissingFormat]
    /// Decodes in place of the codecs, which then only write and lend their names.
    public let remoteDecoder: (any RemoteDecoder)?

    /// A format whose codec was not built in, or is not among these.
    public struct MissingFormat: Sendable {
        public let format: ImageFormat
        /// What is said of its files.
        public let error: CodecError

        /// - Parameters:
        ///   - format: what was left out.
        ///   - trait: the trait of the package that builds it in.
        public init(_ format: ImageFormat, trait: String) {
            self.format = format
            error = .notBuiltIn(format: format.name, trait: trait)
        }
    }

    public init(
        _ codecs: [any ImageCodec], missing: [MissingFormat] = [],
        colorConverter: (any ColorConverter)? = nil, remoteDecoder: (any RemoteDecoder)? = nil
    ) {
        self.codecs = codecs
        self.missing = missing
        self.colorConverter = colorConverter
        self.remoteDecoder = remoteDecoder
    }

    /// The same codecs and others.
    public func adding(_ others: [any ImageCodec]) -> CodecSet {
        CodecSet(
            codecs + others, missing: missing, colorConverter: colorConverter,
            remoteDecoder: remoteDecoder)
    }

    /// The same formats, decoded in this process: for files that this program made itself.
    public var decodedHere: CodecSet {
        CodecSet(codecs, missing: missing, colorConverter: colorConverter)
    }

    /// The same formats, decoded and converted to other colours by somebody else.
    public func decoded(by remoteDecoder: any RemoteDecoder) -> CodecSet {
        CodecSet(
            codecs, missing: missing, colorConverter: colorConverter == nil ? nil : remoteDecoder,
            remoteDecoder: remoteDecoder)
    }

    /// The codec for whose format most bytes of the file speak.
    public func codec(for bytes: Span<UInt8>) -> (any ImageCodec)? {
        var best: (codec: any ImageCodec, byteCount: Int)?
        for codec in codecs {
            let byteCount = codec.recognizedByteCount(bytes)
            if byteCount > best?.byteCount ?? 0 { best = (codec, byteCount) }
        }
        return best?.codec
    }

    /// Why no codec knows a file.
    func unknownFormat(of bytes: Span<UInt8>) -> CodecError {
        for missing in missing
        where missing.format.signatures.contains(where: { $0.matches(bytes) }) {
            return missing.error
        }
        return .unknownFormat
    }

    /// A decoded picture in the colours and the form that were asked for.
    func finished(
        _ image: consuming PixelBuffer, _ options: DecodeOptions, _ limits: DecodeLimits
    ) throws(CodecError) -> PixelBuffer {
        if options.convertsToSRGB, image.colorProfile != .sRGB, let converter = colorConverter {
            image =
                options.pixelFormat == .rgbaHalf
                ? try converter.convertedToExtendedSRGB(image)
                : try converter.convertedToSRGB(image)
        }
        guard let format = options.pixelFormat, format != image.format else { return image }
        try limits.check(.memoryByteCount, PixelBuffer.byteCount(of: image.size, format))
        return image.converted(to: format, dithering: options.dithering)
    }

    /// The same picture in colours that any file can say: those of an ICC profile that describes it,
    /// else sRGB.
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

    /// The same picture in sRGB.
    public func inSRGB(_ image: consuming PixelBuffer) throws(CodecError) -> PixelBuffer {
        try finished(image, DecodeOptions(), DecodeLimits())
    }

    /// The codec of a format by its name or one of its file name extensions, in any case.
    public func codec(named name: String) -> (any ImageCodec)? {
        codecs.first { $0.format.isNamed(name) }
    }
}

/// Converts between colour spaces.
public protocol ColorConverter: Sendable {
    /// The same picture in sRGB. A profile that makes no sense for the picture is ignored.
    func convertedToSRGB(_ image: consuming PixelBuffer) throws(CodecError) -> PixelBuffer

    /// The same picture as `PixelFormat/rgbaHalf` by sRGB's primaries and curve, in which colours
    /// that sRGB does not have are below 0 or above 1 instead of cut off.
    func convertedToExtendedSRGB(
        _ image: consuming PixelBuffer
    ) throws(CodecError) -> PixelBuffer
}
