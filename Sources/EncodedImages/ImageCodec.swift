// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A file format with the code that reads and writes it.
public protocol ImageCodec: Sendable {
    var format: ImageFormat { get }
    var decoder: any ImageDecoder { get }
    /// `nil` when the format can only be read.
    var encoder: (any ImageEncoder)? { get }
}

/// Reads one file format.
///
/// It touches no file, starts no task and keeps nothing between calls.
public protocol ImageDecoder: Sendable {
    /// Reads what stands before the pixels.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - limits: what the file may ask for; metadata is checked here, the size by the caller.
    /// - Returns: what the header says, unchecked.
    /// - Throws: ``CodecError`` if there is no whole header.
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader

    /// Decodes the picture as small as ``RowSink/plan`` allows and gives it to `rows` row by row.
    ///
    /// It calls ``RowSink/begin(_:_:_:)`` once and ``RowSink/append(_:)`` for every row from the
    /// top, or their counterparts for planes, ``RowSink/beginYCbCr(_:_:)`` and
    /// ``RowSink/append(_:plane:)``. A file that ends early throws ``CodecError/truncated(byteCount:)``.
    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError)
}

/// Writes one file format.
public protocol ImageEncoder: Sendable {
    /// Encodes a picture of any format; one that the file cannot hold is converted.
    ///
    /// - Returns: the bytes of a whole file.
    func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8]

    /// Whether ``PixelFormat/yCbCr420`` is written without a detour through RGB.
    func prefersYCbCr(_ options: EncodeOptions) -> Bool
}

extension ImageEncoder {
    public func prefersYCbCr(_ options: EncodeOptions) -> Bool { false }
}

/// How a picture is written; a format that lacks a choice ignores it.
public struct EncodeOptions: Hashable, Sendable {
    /// How much of the colour's resolution is kept.
    public enum ChromaSubsampling: String, Hashable, Sendable, CaseIterable {
        case full = "444"
        case halfWidth = "422"
        case half = "420"
    }

    /// Quality of lossy formats from 1 to 100, on libjpeg's scale.
    public var quality = 80
    public var isProgressive = false
    public var chromaSubsampling = ChromaSubsampling.half
    /// Effort of lossless compression from 0 to 9, on zlib's scale.
    public var compressionLevel = 6

    public init() {}
}

/// The codecs that a program reads and writes with, passed down to whoever opens pictures.
public struct CodecSet: Sendable {
    public let codecs: [any ImageCodec]
    /// Converts colours; without it, numbers are taken as sRGB whatever the profile says.
    public let colorConverter: (any ColorConverter)?

    public init(_ codecs: [any ImageCodec], colorConverter: (any ColorConverter)? = nil) {
        self.codecs = codecs
        self.colorConverter = colorConverter
    }

    /// The codec whose signature matches the file's first bytes; of several the longest.
    public func codec(for bytes: Span<UInt8>) -> (any ImageCodec)? {
        var best: (codec: any ImageCodec, length: Int)?
        for codec in codecs {
            for signature in codec.format.signatures
            where signature.bytes.count > best?.length ?? 0 && signature.matches(bytes) {
                best = (codec, signature.bytes.count)
            }
        }
        return best?.codec
    }

    /// The codec of a format by its name or one of its file name extensions, in any case.
    public func codec(named name: String) -> (any ImageCodec)? {
        let name = name.lowercased()
        return codecs.first { $0.format.name == name || $0.format.extensions.contains(name) }
    }
}

/// Converts between colour spaces.
public protocol ColorConverter: Sendable {
    /// The same picture in sRGB. A profile that makes no sense for the picture is ignored.
    func convertedToSRGB(_ image: consuming PixelBuffer) throws(CodecError) -> PixelBuffer
}
