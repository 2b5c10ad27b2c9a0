// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The codecs that a program reads and writes with, passed down to whoever opens pictures.
public struct CodecSet: Sendable {
    public let codecs: [any ImageCodec]
    /// Converts colours; without it, numbers are taken as sRGB whatever the profile says.
    public let colorConverter: (any ColorConverter)?
    /// Formats that this program knows by their signatures only.
    public let missing: [MissingFormat]

    /// A format whose codec was not built in.
    public struct MissingFormat: Sendable {
        public let format: ImageFormat
        /// The trait of the package that builds it in.
        public let trait: String

        public init(_ format: ImageFormat, trait: String) {
            self.format = format
            self.trait = trait
        }
    }

    public init(
        _ codecs: [any ImageCodec], missing: [MissingFormat] = [],
        colorConverter: (any ColorConverter)? = nil
    ) {
        self.codecs = codecs
        self.missing = missing
        self.colorConverter = colorConverter
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
            return .notBuiltIn(format: missing.format.name, trait: missing.trait)
        }
        return .unknownFormat
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
}
