// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A file format, with its decoder and its encoder.
public protocol ImageCodec: Sendable {
    /// The format.
    var format: ImageFormat { get }
    /// The decoder; a ``RejectingDecoder`` for a format that can only be written.
    var decoder: any ImageDecoder { get }
    /// The encoder; `nil` for a format that can only be read.
    var encoder: (any ImageEncoder)? { get }

    /// Returns the number of bytes by which a file is recognized; 0 for another format.
    ///
    /// The codec with the highest number decodes the file.
    func recognizedByteCount(_ file: Span<UInt8>) -> Int
}

extension ImageCodec {
    /// Whether this codec decodes files in this process.
    public var canRead: Bool { !(decoder is RejectingDecoder) }

    /// Returns the length of the longest matching signature; 0 if none matches.
    public func recognizedByteCount(_ file: Span<UInt8>) -> Int {
        var longest = 0
        for signature in format.signatures where signature.matches(file) {
            longest = max(longest, signature.bytes.count)
        }
        return longest
    }
}

extension ImageCodec {
    /// A codec that recognizes the same files and refuses to decode them outside of a sandbox.
    public var rejectedOutsideSandbox: any ImageCodec { RefusedCodec(codec: self) }
}

private struct RefusedCodec: ImageCodec {
    let codec: any ImageCodec

    var format: ImageFormat { codec.format }
    var decoder: any ImageDecoder {
        RejectingDecoder(.unsupported(feature: "\(format.name) outside of a sandbox"))
    }
    var encoder: (any ImageEncoder)? { codec.encoder }

    func recognizedByteCount(_ file: Span<UInt8>) -> Int { codec.recognizedByteCount(file) }
}

/// A decoder that throws an error for every file.
public struct RejectingDecoder: ImageDecoder {
    private let error: CodecError

    /// A decoder that throws this error.
    public init(_ error: CodecError) { self.error = error }

    /// Throws the error.
    public func header(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> ImageHeader { throw error }

    /// Throws the error.
    public func decode(
        _ bytes: Span<UInt8>, into rows: inout RowSink
    ) throws(CodecError) { throw error }
}

/// A decoder of one file format.
///
/// It opens no file, starts no task and keeps no state between calls.
public protocol ImageDecoder: Sendable {
    /// Reads the header of a file.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - limits: the limits on metadata; the caller checks the size of the image.
    /// - Returns: the header; its values are not checked.
    /// - Throws: ``CodecError`` if the header is incomplete or invalid.
    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader

    /// Decodes the image, shrunk as far as the plan of `rows` allows, and appends its rows.
    ///
    /// It calls ``RowSink/begin(_:_:_:lattice:)`` once and ``RowSink/append(_:)`` for every row from
    /// the top, or the functions for planes, ``RowSink/beginYCbCr(_:_:reductions:)`` and
    /// ``RowSink/append(_:plane:)``.
    ///
    /// - Throws: ``CodecError``, ``CodecError/truncated(byteCount:)`` if the file ends early.
    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError)

    /// Returns whether ``RowSink/beginYCbCr(_:_:reductions:)`` would get the same planes of any file for two
    /// plans that differ in the size of the result only.
    ///
    /// - Returns: `false` if it depends on the file.
    func sharesPlanes(_ plan: DecodePlan, _ other: DecodePlan) -> Bool

    /// Returns the decoder of another page of a file.
    ///
    /// - Parameter page: the number of the page, from 0, which this decoder reads.
    /// - Returns: `nil` if files of the format have one page.
    func selecting(page: Int) -> (any ImageDecoder)?

    /// Returns a reader of the frames of an animation.
    ///
    /// - Parameters:
    ///   - bytes: the whole file; the caller has checked its header.
    ///   - limits: the limits on the file.
    /// - Returns: `nil` if files of the format are not animated.
    /// - Throws: ``CodecError``.
    func frameReader(
        for bytes: EncodedBytes, limits: DecodeLimits
    ) throws(CodecError) -> (any FrameReader)?

    /// Returns a decoder for a file that is still being received.
    ///
    /// - Parameter limits: the limits on the file.
    /// - Returns: `nil` if the format needs the whole file.
    /// - Throws: ``CodecError``.
    func incrementalDecoder(limits: DecodeLimits) throws(CodecError) -> (any IncrementalDecoder)?

    /// Reads the blocks of metadata without decoding pixels.
    ///
    /// - Throws: ``CodecError``.
    func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks

    /// Returns the gain map; see ``ImageSource/gainMap()``.
    ///
    /// - Throws: ``CodecError``.
    func gainMap(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> GainMap?

    /// Returns tiles as JPEG files, without decoding them; see ``ImageSource/jpegTiles(_:)``.
    ///
    /// - Throws: ``CodecError``.
    func jpegTiles(
        _ tiles: [StoredTile], of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> [[UInt8]?]

    /// Makes an index, which ``RowSink/index`` passes to ``decode(_:into:)``.
    ///
    /// - Parameters:
    ///   - bytes: the whole file; the caller has checked its header.
    ///   - limits: the limits on the file.
    ///   - cancellation: cancels the work from another thread.
    ///   - releaseInput: see ``RowSink/releaseInput``.
    /// - Returns: `nil` if this file has no use for one, or is damaged.
    /// - Throws: ``CodecError``.
    func makeIndex(
        of bytes: Span<UInt8>, limits: DecodeLimits, cancellation: CancellationFlag?,
        releaseInput: (@Sendable (Range<Int>) -> Void)?
    ) throws(CodecError) -> ImageIndex?
}

extension ImageDecoder {
    /// Returns `nil`.
    public func sharesPlanes(_ plan: DecodePlan, _ other: DecodePlan) -> Bool { false }

    public func selecting(page: Int) -> (any ImageDecoder)? { nil }

    /// Returns `nil`.
    public func frameReader(
        for bytes: EncodedBytes, limits: DecodeLimits
    ) throws(CodecError) -> (any FrameReader)? { nil }

    /// Returns `nil`.
    public func incrementalDecoder(
        limits: DecodeLimits
    ) throws(CodecError) -> (any IncrementalDecoder)? { nil }

    /// Returns no blocks.
    public func metadata(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks { MetadataBlocks() }

    /// Returns `nil`.
    public func gainMap(
        of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> GainMap? { nil }

    /// Returns no tiles.
    public func jpegTiles(
        _ tiles: [StoredTile], of bytes: Span<UInt8>, limits: DecodeLimits
    ) throws(CodecError) -> [[UInt8]?] { tiles.map { _ in nil } }

    /// Returns `nil`.
    public func makeIndex(
        of bytes: Span<UInt8>, limits: DecodeLimits, cancellation: CancellationFlag?,
        releaseInput: (@Sendable (Range<Int>) -> Void)?
    ) throws(CodecError) -> ImageIndex? { nil }
}

/// An encoder of one file format.
public protocol ImageEncoder: Sendable {
    /// Encodes an image; pixel formats that files cannot contain are converted.
    ///
    /// - Returns: the bytes of a whole file.
    /// - Throws: ``CodecError``.
    func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8]

    /// Whether `PixelFormat/yCbCr420` is encoded without a conversion to RGB.
    func prefersYCbCr(_ options: EncodeOptions) -> Bool

    /// Whether ``EncodeOptions/quality`` changes the decoded pixels.
    func dependsOnQuality(_ options: EncodeOptions) -> Bool

    /// Whether the ICC profile of the image is written where other programs read it.
    var writesColorProfiles: Bool { get }

    /// Whether ``EncodeOptions/gainMap`` is written.
    var writesGainMaps: Bool { get }

    /// Adds the gain map to a file that ``encode(_:_:)`` returned, unless that has written it.
    ///
    /// - Parameters:
    ///   - map: the gain map, whose file is of the same format.
    ///   - file: the file of the image.
    /// - Returns: the file of both.
    /// - Throws: ``CodecError``.
    func adding(_ map: GainMap, to file: [UInt8]) throws(CodecError) -> [UInt8]

    /// Whether files contain more than 8 bits per sample and state the transfer function PQ.
    var writesHDR: Bool { get }

    /// Whether the file states this colour space of the samples.
    func stores(_ profile: ColorProfile) -> Bool

    /// Whether encoding an image of this size may take more than a second.
    ///
    /// It cannot be cancelled in this process; a ``RemoteDecoder`` encodes such an image if one is
    /// available.
    func isSlow(_ size: PixelSize, _ options: EncodeOptions) -> Bool
}

extension ImageEncoder {
    /// Returns `false`.
    public func prefersYCbCr(_ options: EncodeOptions) -> Bool { false }

    /// Returns `false`.
    public func dependsOnQuality(_ options: EncodeOptions) -> Bool { false }

    /// `false`.
    public var writesColorProfiles: Bool { false }

    /// `false`.
    public var writesGainMaps: Bool { false }

    /// Returns the file unchanged.
    public func adding(_ map: GainMap, to file: [UInt8]) throws(CodecError) -> [UInt8] { file }

    /// `false`.
    public var writesHDR: Bool { false }

    /// Returns whether the samples are sRGB or profiles are written.
    public func stores(_ profile: ColorProfile) -> Bool { writesColorProfiles || profile.isSRGB }

    /// Returns `false`.
    public func isSlow(_ size: PixelSize, _ options: EncodeOptions) -> Bool { false }
}

/// An encoder of a file format with animations.
public protocol AnimationEncoder: ImageEncoder {
    /// Starts an animation.
    ///
    /// - Parameters:
    ///   - size: the size of every frame in pixels.
    ///   - loopCount: the number of times that the animation is played; 0 means infinitely. More than
    ///     the format can express becomes its maximum.
    ///   - options: the options for each frame.
    /// - Returns: a writer of the frames.
    /// - Throws: ``CodecError``.
    func animationWriter(
        _ size: PixelSize, loopCount: Int, _ options: EncodeOptions
    ) throws(CodecError) -> any AnimationWriter
}

/// The options for encoding an image; a format ignores those that it does not support.
public struct EncodeOptions: Hashable, Sendable {
    /// The resolution of chroma, relative to luma.
    public enum ChromaSubsampling: String, Hashable, Sendable, CaseIterable {
        /// 4:4:4: full resolution.
        case full = "444"
        /// 4:2:2: half the width.
        case halfWidth = "422"
        /// 4:2:0: half the width and half the height.
        case half = "420"
    }

    /// The quality of lossy formats from 1 to 100, on the scale of libjpeg.
    public var quality = 80
    /// The minimum similarity of the decoded file, by `PixelBuffer.structuralSimilarity(to:)`.
    ///
    /// The lowest sufficient quality from 32 to 95 then overrides ``quality``; 95 if none is
    /// sufficient. The search takes at most seven attempts. Animations and lossless files ignore it.
    public var targetSSIM: Double?
    /// Whether the file is progressive or interlaced.
    public var isProgressive = false
    /// The resolution of chroma.
    public var chromaSubsampling = ChromaSubsampling.half
    /// Whether formats that support both lossy and lossless coding are lossless.
    public var isLossless = false
    /// The effort for small files from 0 to 9, on the scale of zlib.
    public var compressionLevel = 6
    /// Whether the file also contains reduced versions of the image, all in tiles; TIFF only.
    public var isPyramid = false
    /// The metadata that is written in addition to the colour profile.
    public var metadata = MetadataBlocks()
    /// The gain map that is written beside the image, a file of the same format, if that has any.
    ///
    /// It shows the same part as the image, at a resolution of its own.
    public var gainMap: GainMap?

    /// The valid values of ``targetSSIM``; higher ones are hardly ever reached.
    public static let targetSSIMs = 0.5...0.999

    /// The default options.
    public init() {}
}
