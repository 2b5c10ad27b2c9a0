// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A decoder outside of this process, such as a sandboxed worker.
///
/// A ``CodecSet`` with a remote decoder passes it every file, and nothing in this process parses the
/// bytes. Each call blocks the calling thread until the response.
public protocol RemoteDecoder: ColorConverter {
    /// Makes bytes accessible to the remote process, once for all calls with them.
    ///
    /// - Throws: ``CodecError``.
    func prepare(_ bytes: EncodedBytes) throws(CodecError) -> EncodedBytes

    /// Copies the bytes of a file so that no other process can change or truncate them.
    ///
    /// - Throws: ``CodecError/fileChanged`` if the file was written to meanwhile.
    func snapshot(_ bytes: EncodedBytes) throws(CodecError) -> EncodedBytes

    /// Reads the header.
    ///
    /// - Returns: the name of the format and the header; neither is checked.
    /// - Throws: ``CodecError``.
    func header(
        of image: RemoteImage
    ) throws(CodecError) -> (format: String, header: ImageHeader)

    /// Reads the headers of several files, for their formats and sizes only.
    ///
    /// - Parameters:
    ///   - files: the files, open or as ``prepare(_:)`` returned them.
    ///   - limits: the limits on each file.
    /// - Returns: the result of each file: the name of its format and the size of the upright image in
    ///   pixels; neither is checked.
    func sizes(
        of files: [EncodedBytes], limits: DecodeLimits
    ) -> [Result<(format: String, size: PixelSize), CodecError>]

    /// See ``ImageSource/metadata()``.
    func metadata(of image: RemoteImage) throws(CodecError) -> MetadataBlocks

    /// See ``ImageSource/metadataFields()``.
    func metadataFields(of image: RemoteImage) throws(CodecError) -> MetadataFields

    /// See ``ImageSource/metadata(forWriting:_:)``.
    func metadata(
        of image: RemoteImage, forWriting policy: MetadataPolicy, _ changes: ImageChanges
    ) throws(CodecError) -> MetadataBlocks

    /// See ``ImageSource/gainMap()``.
    func gainMap(of image: RemoteImage) throws(CodecError) -> GainMap?

    /// See ``ImageSource/jpegTiles(_:)``.
    func jpegTiles(
        _ tiles: [StoredTile], of image: RemoteImage
    ) throws(CodecError) -> [[UInt8]?]

    /// See ``ImageSource/makeIndex(cancellation:)``; the index has at most `maximumByteCount` bytes.
    func makeIndex(
        of image: RemoteImage, maximumByteCount: Int, cancellation: CancellationFlag?
    ) throws(CodecError) -> ImageIndex?

    /// See ``ImageSource/decodedImage(_:cancellation:)``; the pixels have at most `byteCount` bytes.
    func image(
        of image: RemoteImage, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodedImage

    /// See ``ImageSource/decodedSizes(_:planesByteCount:cancellation:)``; `byteCounts` are the maximum sizes
    /// of the pixels of each result, in the same order.
    func images(
        of image: RemoteImage, _ options: [DecodeOptions], byteCounts: [Int],
        planesByteCount: Int, cancellation: CancellationFlag?
    ) throws(CodecError) -> (images: [DecodedImage?], planes: ReducedPlanes?)

    /// See ``ImageSource/decodeRows(_:into:cancellation:)``.
    func rows(
        of image: RemoteImage, _ options: DecodeOptions, into consumer: any RowConsumer,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodeReport

    /// See ``ImageSource/frames(_:cancellation:)``; the pixels of a frame have at most `byteCount`
    /// bytes.
    func frames(
        of image: RemoteImage, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> any RemoteFrames

    /// Decodes a preview of a partly received file.
    ///
    /// - Parameters:
    ///   - image: the received bytes of the file.
    ///   - options: the size and the form of the result.
    ///   - byteCount: the maximum size of the pixels of the result in bytes.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: `nil` if no pixels can be decoded yet.
    /// - Throws: ``CodecError``.
    func preview(
        of image: RemoteImage, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> ImagePreview?

    /// Encodes an image in a process that can be killed; see ``ImageEncoder/isSlow(_:_:)``.
    ///
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the name of the format.
    ///   - options: the options of the encoder.
    ///   - cancellation: cancels the work from another thread.
    /// - Returns: the bytes of a whole file.
    /// - Throws: ``CodecError``.
    func encode(
        _ image: PixelBuffer, as format: String, _ options: EncodeOptions,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> [UInt8]
}

extension RemoteDecoder {
    /// Reads one header after the other.
    public func sizes(
        of files: [EncodedBytes], limits: DecodeLimits
    ) -> [Result<(format: String, size: PixelSize), CodecError>] {
        files.map { file in
            Result { () throws(CodecError) in try size(of: file, limits: limits) }
        }
    }

    /// Reads the header of one file; see ``sizes(of:limits:)``.
    package func size(
        of file: EncodedBytes, limits: DecodeLimits
    ) throws(CodecError) -> (format: String, size: PixelSize) {
        try limits.check(.byteCount, file.count)
        let (format, header) = try header(of: RemoteImage(try prepare(file), limits: limits))
        try limits.check(header)
        return (format, header.pixelSize)
    }

    /// Returns `nil`.
    public func gainMap(of image: RemoteImage) throws(CodecError) -> GainMap? { nil }

    /// Returns no tiles.
    public func jpegTiles(
        _ tiles: [StoredTile], of image: RemoteImage
    ) throws(CodecError) -> [[UInt8]?] { tiles.map { _ in nil } }

    /// Returns `nil`.
    public func makeIndex(
        of image: RemoteImage, maximumByteCount: Int, cancellation: CancellationFlag?
    ) throws(CodecError) -> ImageIndex? { nil }
}

/// A page of a file that a ``RemoteDecoder`` decodes.
public struct RemoteImage: Sendable {
    /// The file, as ``RemoteDecoder/prepare(_:)`` returned it.
    public var bytes: EncodedBytes
    /// The number of the page from 0; see ``ImageSource/page(_:)``.
    public var page: Int
    /// The limits on the file.
    public var limits: DecodeLimits
    /// The ``ImageIndex/bytes`` of the index of the page, as ``RemoteDecoder/prepare(_:)`` returned them.
    public var index: EncodedBytes?

    /// A page of a file.
    public init(_ bytes: EncodedBytes, page: Int = 0, limits: DecodeLimits) {
        self.bytes = bytes
        self.page = page
        self.limits = limits
    }
}

/// The frames of an animation that a ``RemoteDecoder`` composes, one by one.
public protocol RemoteFrames: AnyObject {
    /// Returns the next frame; `nil` after the last.
    ///
    /// - Throws: ``CodecError``.
    func next() throws(CodecError) -> ImageFrame?
}
