// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A file format with the code that reads and writes it.
public protocol ImageCodec: Sendable {
    var format: ImageFormat { get }
    /// A ``RefusingDecoder`` when the format can only be written.
    var decoder: any ImageDecoder { get }
    /// `nil` when the format can only be read.
    var encoder: (any ImageEncoder)? { get }

    /// How many bytes of a file speak for this format; 0 when it is of another.
    ///
    /// Of several codecs that know a file, that one reads it for which most bytes speak.
    func recognizedByteCount(_ file: Span<UInt8>) -> Int
}

extension ImageCodec {
    /// Whether files of the format are decoded, by this codec and in this process.
    public var canRead: Bool { !(decoder is RefusingDecoder) }

    /// The length of the longest signature that the file has.
    public func recognizedByteCount(_ file: Span<UInt8>) -> Int {
        var longest = 0
        for signature in format.signatures where signature.matches(file) {
            longest = max(longest, signature.bytes.count)
        }
        return longest
    }
}

extension ImageCodec {
    /// The same format, known by the same bytes, whose files are refused: they are for a process that
    /// can do nothing but decode.
    public var refusedOutsideOfSandbox: any ImageCodec { RefusedCodec(codec: self) }
}

private struct RefusedCodec: ImageCodec {
    let codec: any ImageCodec

    var format: ImageFormat { codec.format }
    var decoder: any ImageDecoder {
        RefusingDecoder(.unsupported(feature: "\(format.name) outside of a sandbox"))
    }
    var encoder: (any ImageEncoder)? { codec.encoder }

    func recognizedByteCount(_ file: Span<UInt8>) -> Int { codec.recognizedByteCount(file) }
}

/// Refuses every file: stands where a format is only written, or must not be read here.
public struct RefusingDecoder: ImageDecoder {
    private let error: CodecError

    /// - Parameter error: what is said of a file.
    public init(_ error: CodecError) { self.error = error }

    public func header(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> ImageHeader { throw error }

    public func decode(
        _ bytes: Span<UInt8>, into rows: inout RowSink
    ) throws(CodecError) { throw error }
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

    /// Decodes the picture as small as the plan of `rows` allows and gives it to it row by row.
    ///
    /// It calls ``RowSink/begin(_:_:_:lattice:)`` once and ``RowSink/append(_:)`` for every row from
    /// the top, or their counterparts for planes, ``RowSink/beginYCbCr(_:_:)`` and
    /// ``RowSink/append(_:plane:)``. A file that ends early throws ``CodecError/truncated(byteCount:)``.
    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError)

    /// The decoder of another of the pictures that a file holds side by side.
    ///
    /// - Parameter page: from 0, which is the one that this decoder reads, to
    ///   ``ImageHeader/pageCount``.
    /// - Returns: `nil` if files of the format hold one picture only.
    func selecting(page: Int) -> (any ImageDecoder)?

    /// Reads an animation frame by frame.
    ///
    /// - Parameters:
    ///   - bytes: the whole file, whose header has been read and checked.
    ///   - limits: what the file may ask for.
    /// - Returns: `nil` if files of the format show one picture only.
    /// - Throws: ``CodecError``.
    func frameReader(
        for bytes: EncodedBytes, limits: DecodeLimits
    ) throws(CodecError) -> (any FrameReader)?

    /// Decodes the picture while its bytes still come in.
    ///
    /// - Parameter limits: what the file may ask for.
    /// - Returns: `nil` if the format needs the whole file.
    /// - Throws: ``CodecError``.
    func incrementalDecoder(limits: DecodeLimits) throws(CodecError) -> (any IncrementalDecoder)?

    /// The blocks of metadata as the file holds them, read without decoding pixels.
    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks
}

extension ImageDecoder {
    public func selecting(page: Int) -> (any ImageDecoder)? { nil }

    public func frameReader(
        for bytes: EncodedBytes, limits: DecodeLimits
    ) throws(CodecError) -> (any FrameReader)? { nil }

    public func incrementalDecoder(
        limits: DecodeLimits
    ) throws(CodecError) -> (any IncrementalDecoder)? { nil }

    public func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks { MetadataBlocks() }
}

/// Writes one file format.
public protocol ImageEncoder: Sendable {
    /// Encodes a picture of any format; one that the file cannot hold is converted.
    ///
    /// - Returns: the bytes of a whole file.
    func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8]

    /// Whether `PixelFormat/yCbCr420` is written without a detour through RGB.
    func prefersYCbCr(_ options: EncodeOptions) -> Bool

    /// Whether a file shows another picture at another ``EncodeOptions/quality``.
    func dependsOnQuality(_ options: EncodeOptions) -> Bool

    /// Whether an ICC profile of the picture is written, where other programs look for it.
    var writesColorProfiles: Bool { get }

    /// Whether encoding a picture of that size may take longer than a second, which nothing can end
    /// in this process; a ``RemoteDecoder`` encodes it then, if there is one.
    func isSlow(_ size: PixelSize, _ options: EncodeOptions) -> Bool
}

extension ImageEncoder {
    public func prefersYCbCr(_ options: EncodeOptions) -> Bool { false }

    public func dependsOnQuality(_ options: EncodeOptions) -> Bool { false }

    public var writesColorProfiles: Bool { false }

    public func isSlow(_ size: PixelSize, _ options: EncodeOptions) -> Bool { false }
}

/// Writes one file format, whose files may move.
public protocol AnimationEncoder: ImageEncoder {
    /// Writes an animation frame by frame.
    ///
    /// - Parameters:
    ///   - size: the size of every frame in pixels.
    ///   - loopCount: how often it is to be shown in all; 0 means for ever.
    ///   - options: how each frame is written.
    /// - Returns: what takes the frames.
    /// - Throws: ``CodecError``.
    func animationWriter(
        _ size: PixelSize, loopCount: Int, _ options: EncodeOptions
    ) throws(CodecError) -> any AnimationWriter
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
    /// How like the picture its file must look, by `PixelBuffer.structuralSimilarity(to:)`.
    ///
    /// The lowest quality from 32 to 95 that is enough then stands in for ``quality``, found in at
    /// most seven attempts; 95 if none is. Animations and lossless files do not look at it.
    public var targetSSIM: Double?
    public var isProgressive = false
    public var chromaSubsampling = ChromaSubsampling.half
    /// Whether formats that can do either keep every sample as it is.
    public var isLossless = false
    /// How much work goes into small files, from 0 to 9, on zlib's scale.
    public var compressionLevel = 6
    /// Whether smaller versions are written beside the picture, in tiles, for viewers of pictures
    /// that are too large to be read whole; TIFF can hold them.
    public var isPyramid = false
    /// What is written besides the pixels and their colour profile.
    public var metadata = MetadataBlocks()

    /// What makes sense for ``targetSSIM``: less cannot be told apart, and more is hardly ever met.
    public static let targetSSIMs = 0.5...0.999

    public init() {}
}
