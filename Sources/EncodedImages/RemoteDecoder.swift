// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// Does what an ``ImageSource`` does, somewhere else: in a process that can do nothing else.
///
/// A ``CodecSet`` that has one hands it every file, and no decoder looks at the bytes in this
/// process. Each call blocks the thread that makes it until there is an answer.
public protocol RemoteDecoder: ColorConverter {
    /// Puts bytes where the other side can read them, once for all calls about them.
    func prepare(_ bytes: EncodedBytes) throws(CodecError) -> EncodedBytes

    /// The same for the bytes of a file, copied so that they can neither be changed nor cut short.
    ///
    /// - Throws: ``CodecError/fileChanged`` if the file was written to meanwhile.
    func snapshot(_ bytes: EncodedBytes) throws(CodecError) -> EncodedBytes

    /// - Returns: the name of the format, and what the header says, unchecked.
    func header(
        of picture: RemotePicture
    ) throws(CodecError) -> (format: String, header: ImageHeader)

    /// See ``ImageSource/metadata()``.
    func metadata(of picture: RemotePicture) throws(CodecError) -> MetadataBlocks

    /// See ``ImageSource/metadataFields()``.
    func metadataFields(of picture: RemotePicture) throws(CodecError) -> MetadataFields

    /// See ``ImageSource/metadata(forWriting:_:)``.
    func metadata(
        of picture: RemotePicture, forWriting policy: MetadataPolicy, _ changes: PictureChanges
    ) throws(CodecError) -> MetadataBlocks

    /// See ``ImageSource/decodedImage(_:cancellation:)``; the pixels take `byteCount` at most.
    func image(
        of picture: RemotePicture, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodedImage

    /// See ``ImageSource/decodedImages(_:cancellation:)``; the pixels of each take as many bytes at
    /// most as `byteCounts` states in the same order.
    func images(
        of picture: RemotePicture, _ options: [DecodeOptions], byteCounts: [Int],
        cancellation: CancellationFlag?
    ) throws(CodecError) -> [DecodedImage?]

    /// See ``ImageSource/decodeRows(_:into:cancellation:)``.
    func rows(
        of picture: RemotePicture, _ options: DecodeOptions, into consumer: any RowConsumer,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> DecodeReport

    /// See ``ImageSource/frames(_:cancellation:)``; the pixels of one take `byteCount` at most.
    func frames(
        of picture: RemotePicture, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> any RemoteFrames

    /// What is to be seen of a file that is still coming in.
    ///
    /// - Parameters:
    ///   - picture: what is there of the file.
    ///   - options: the size and the form that are wanted.
    ///   - byteCount: the most that the pixels of the result can take.
    ///   - cancellation: set by another thread when nobody waits any more.
    /// - Returns: `nil` if there is nothing to be seen yet.
    /// - Throws: ``CodecError``.
    func preview(
        of picture: RemotePicture, _ options: DecodeOptions, byteCount: Int,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> ImagePreview?

    /// Encodes a picture where the work can be ended at any time; see
    /// ``ImageEncoder/isSlow(_:_:)``.
    ///
    /// - Parameters:
    ///   - image: the picture.
    ///   - format: the name of the format.
    ///   - options: how the picture is written.
    ///   - cancellation: set by another thread to end the work.
    /// - Returns: the bytes of a whole file.
    /// - Throws: ``CodecError``.
    func encode(
        _ image: PixelBuffer, as format: String, _ options: EncodeOptions,
        cancellation: CancellationFlag?
    ) throws(CodecError) -> [UInt8]
}

/// Which picture of which file a ``RemoteDecoder`` is asked about.
public struct RemotePicture: Sendable {
    /// The file, as ``RemoteDecoder/prepare(_:)`` returned it.
    public var bytes: EncodedBytes
    /// From 0; see ``ImageSource/page(_:)``.
    public var page: Int
    public var limits: DecodeLimits

    public init(_ bytes: EncodedBytes, page: Int = 0, limits: DecodeLimits) {
        self.bytes = bytes
        self.page = page
        self.limits = limits
    }
}

/// The frames of an animation that a ``RemoteDecoder`` composes, one by one.
public protocol RemoteFrames: AnyObject {
    /// - Returns: `nil` after the last.
    func next() throws(CodecError) -> ImageFrame?
}
