// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// An image in shared memory: its pixels, followed by its profile and metadata.
struct SharedImage {
    let size: PixelSize
    let format: PixelFormat
    let pixels: MemoryMapping
    /// A reader of the bytes after the pixels.
    let rest: WireReader

    /// - Throws: ``WireError``, ``CodecError``.
    init(_ message: Message, _ reader: inout WireReader) throws {
        guard let file = message.descriptors.first else {
            throw WireError(reason: "the request has no descriptor of an image")
        }
        let bytes = try EncodedBytes(descriptor: file, byteCount: try reader.number())
        size = try PixelSize(imageFrom: &reader)
        format = try reader.value(PixelFormat.self)
        let count = PixelBuffer.byteCount(of: size, format)
        guard count < bytes.count, let mapping = MemoryMapping(file, byteCount: count) else {
            throw WireError(reason: "the shared memory is smaller than the image")
        }
        pixels = mapping
        rest = WireReader(bytes.withBytes { bytes in (count..<bytes.count).map { bytes[$0] } })
    }

    /// Writes the part of the body of a request that ``init(_:_:)`` reads.
    static func write(
        _ image: PixelBuffer, sharedByteCount: Int, to writer: inout WireWriter
    ) {
        writer.write(sharedByteCount)
        writer.write(image.size)
        writer.write(image.format)
    }

    /// Returns the bytes that are shared with the worker.
    static func bytes(of image: PixelBuffer, followedBy rest: [UInt8]) -> [UInt8] {
        let image = image.withAlignedRows
        let pixels = image.bytes
        return unsafe [UInt8](unsafeUninitializedCapacity: pixels.count + rest.count) {
            buffer, count in
            unsafe pixels.withUnsafeBufferPointer {
                count = unsafe buffer.update(fromContentsOf: $0)
            }
            count = unsafe buffer[count...].update(fromContentsOf: rest)
        }
    }
}
