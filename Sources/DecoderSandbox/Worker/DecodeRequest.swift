// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels
#if canImport(Glibc)
    internal import Glibc
#endif

/// What the host wants of a file, with the open files that it sent along.
struct DecodeRequest {
    let bytes: EncodedBytes
    let page: Int
    let limits: DecodeLimits
    let options: DecodeOptions
    /// Further sizes that are wanted of the same decode.
    let furtherOptions: [DecodeOptions]
    /// Where the pixels go; for requests that want some.
    let memory: SharedPixels?

    /// For requests for metadata to be written: what is kept, and what has changed.
    let rewriting: (policy: MetadataPolicy, changes: PictureChanges)?

    /// - Throws: ``WireError``, ``CodecError``.
    init(_ message: Message, _ reader: inout WireReader, room: MemoryMapping) throws {
        guard let file = message.descriptors.first else {
            throw WireError(reason: "a request without a file")
        }
        bytes = try EncodedBytes(descriptor: file, byteCount: try reader.number())
        page = try reader.number()
        limits = try reader.value()
        options = try reader.value()
        furtherOptions = try reader.array()
        memory = try SharedPixels(message.descriptors.dropFirst().first, &reader, room: room)
        rewriting =
            message.kind == .metadataForWriting
            ? (try reader.value(), try reader.value()) : nil
        try reader.end()
    }

    /// The body of a request, in the order in which it is read.
    static func body(
        _ picture: RemotePicture, _ options: DecodeOptions,
        _ furtherOptions: [DecodeOptions] = [], byteCount: Int?
    ) -> [UInt8] {
        var writer = WireWriter()
        writer.write(picture.bytes.count)
        writer.write(picture.page)
        writer.write(picture.limits)
        writer.write(options)
        writer.write(furtherOptions)
        writer.write(byteCount)
        return writer.bytes
    }

    func source(_ codecs: CodecSet) throws(CodecError) -> ImageSource {
        try ImageSource(bytes, codecs: codecs, limits: limits).page(page)
    }

    func preview(
        _ codecs: CodecSet, _ cancellation: CancellationFlag
    ) throws(CodecError) -> ImagePreview? {
        var image = IncrementalImage(
            codecs: codecs, options: options, limits: limits, cancellation: cancellation)
        try image.append(
            bytes.withBytes { bytes in bytes.indices.map { bytes[$0] } })
        return try image.preview()
    }
}

/// Memory of the host into which a worker writes pixels: its own if the host sent some, or the room.
final class SharedPixels {
    private let descriptor: Int32?
    private let room: MemoryMapping
    private let byteCount: Int
    /// Where the next picture goes.
    private var position = 0

    /// - Returns: `nil` if the host wants no pixels.
    init?(
        _ descriptor: Int32?, _ reader: inout WireReader, room: MemoryMapping
    ) throws(WireError) {
        guard let byteCount = try reader.optional(Int.self) else { return nil }
        guard byteCount > 0, descriptor != nil || byteCount <= ControlPage.roomByteCount else {
            throw WireError(reason: "a request without memory for its pixels")
        }
        self.descriptor = descriptor
        self.room = room
        self.byteCount = byteCount
    }

    deinit { if let descriptor { close(descriptor) } }

    /// Writes a picture there, behind those before it, and its description to `writer`.
    ///
    /// Memory of its own is not mapped any more afterwards: only then can the host make sure that
    /// nobody writes to it.
    func write(_ image: PixelBuffer, _ writer: inout WireWriter) throws(CodecError) {
        let own = descriptor.flatMap {
            MemoryMapping($0, byteCount: position + image.byteCount, isWritable: true)
        }
        guard image.byteCount <= byteCount - position, own != nil || descriptor == nil else {
            throw .library(message: "a result of \(image.byteCount) bytes has no room")
        }
        if let own {
            own.write(image.bytes, at: position)
        } else {
            room.write(image.bytes, at: ControlPage.pageByteCount + position)
        }
        position += image.byteCount
        writer.write(image.size)
        writer.write(image.format)
        writer.write(image.colorProfile)
    }
}
