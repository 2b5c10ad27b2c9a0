// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels
internal import Glibc

/// A request for pixels, a header or metadata of a file whose descriptor the host has sent.
struct DecodeRequest {
    let bytes: EncodedBytes
    let page: Int
    let limits: DecodeLimits
    let options: DecodeOptions
    /// The options of further results of the same decode.
    let furtherOptions: [DecodeOptions]
    /// The maximum size of the planes that the host keeps; 0 if it keeps none.
    let planesByteCount: Int
    /// The destination of the pixels; `nil` for requests without pixels.
    let memory: SharedPixels?

    /// The policy and the changes of requests for metadata that will be written.
    let rewriting: (policy: MetadataPolicy, changes: ImageChanges)?
    /// The bytes of the index of the file, if the host has sent one.
    private let index: EncodedBytes?
    /// The tiles that are requested, if any.
    let tiles: [StoredTile]

    /// - Throws: ``WireError``, ``CodecError``.
    init(_ message: Message, _ reader: inout WireReader, buffer: MemoryMapping) throws {
        var descriptors = message.descriptors[...]
        guard let file = descriptors.popFirst() else {
            throw WireError(reason: "the request has no file descriptor")
        }
        bytes = try EncodedBytes(descriptor: file, byteCount: try reader.number())
        page = try reader.number()
        limits = try reader.value()
        options = try reader.value()
        furtherOptions = try reader.array()
        planesByteCount = try reader.number()
        index =
            if let count = try reader.optional(Int.self), let descriptor = descriptors.popFirst() {
                try EncodedBytes(descriptor: descriptor, byteCount: count)
            } else { nil }
        memory = try SharedPixels(descriptors.first, &reader, buffer: buffer)
        rewriting =
            message.kind == .metadataForWriting
            ? (try reader.value(), try reader.value()) : nil
        tiles = message.kind == .jpegTiles ? try reader.array() : []
        try reader.end()
    }

    /// Encodes the body of a request.
    static func body(
        _ image: RemoteImage, _ options: DecodeOptions,
        _ furtherOptions: [DecodeOptions] = [], planesByteCount: Int = 0, byteCount: Int?
    ) -> [UInt8] {
        var writer = WireWriter()
        writer.write(image.bytes.count)
        writer.write(image.page)
        writer.write(image.limits)
        writer.write(options)
        writer.write(furtherOptions)
        writer.write(planesByteCount)
        writer.write(image.index?.count)
        writer.write(byteCount)
        return writer.bytes
    }

    func source(_ codecs: CodecSet) throws(CodecError) -> ImageSource {
        var source = try ImageSource(bytes, codecs: codecs, limits: limits).page(page)
        source.index = index.flatMap { index in
            try? ImageIndex(bytes: index.copy(of: 0..<index.count))
        }
        return source
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

/// The shared memory into which a worker writes pixels: that of the request, or the worker's buffer.
final class SharedPixels {
    private let descriptor: Int32?
    private let buffer: MemoryMapping
    private let byteCount: Int
    /// The offset of the next image.
    private var position = 0

    /// Reads the size of the memory; the result is `nil` if the host expects no pixels.
    init?(
        _ descriptor: Int32?, _ reader: inout WireReader, buffer: MemoryMapping
    ) throws(WireError) {
        guard let byteCount = try reader.optional(Int.self) else { return nil }
        guard byteCount > 0, descriptor != nil || byteCount <= ControlPage.bufferByteCount else {
            throw WireError(reason: "the request has no memory for its pixels")
        }
        self.descriptor = descriptor
        self.buffer = buffer
        self.byteCount = byteCount
    }

    deinit { if let descriptor { close(descriptor) } }

    /// Appends an image to the memory, and its description to `writer`.
    ///
    /// Memory of the request is unmapped afterwards, because the host can seal it only then.
    func write(_ image: PixelBuffer, _ writer: inout WireWriter) throws(CodecError) {
        let own = descriptor.flatMap {
            MemoryMapping($0, byteCount: position + image.byteCount, isWritable: true)
        }
        guard image.byteCount <= byteCount - position, own != nil || descriptor == nil else {
            throw .library(message: "no shared memory for a result of \(image.byteCount) bytes")
        }
        if let own {
            own.write(image.bytes, at: position)
        } else {
            buffer.write(image.bytes, at: ControlPage.pageByteCount + position)
        }
        position += image.byteCount
        writer.write(image.size)
        writer.write(image.format)
        writer.write(image.colorProfile)
    }

    /// Appends planes to the memory, and their description to `writer`.
    func write(_ planes: ReducedPlanes, _ writer: inout WireWriter) throws(CodecError) {
        writer.write(planes.reductions.lowerBound)
        writer.write(planes.reductions.upperBound)
        writer.write(planes.planes.count)
        for plane in planes.planes {
            try write(plane.samples, &writer)
            writer.write(plane.horizontalScale)
            writer.write(plane.verticalScale)
        }
    }
}
