// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// A picture in memory of the host: its pixels, then what else belongs to it.
struct SharedPicture {
    let size: PixelSize
    let format: PixelFormat
    let pixels: MemoryMapping
    /// Reads what follows the pixels.
    let rest: WireReader

    /// - Throws: ``WireError``, ``CodecError``.
    init(_ message: Message, _ reader: inout WireReader) throws {
        guard let file = message.descriptors.first else {
            throw WireError(reason: "a request without a picture")
        }
        let bytes = try EncodedBytes(descriptor: file, byteCount: try reader.number())
        size = try PixelSize(pictureFrom: &reader)
        format = try reader.value(PixelFormat.self)
        let count = PixelBuffer.byteCount(of: size, format)
        guard count < bytes.count, let mapping = MemoryMapping(file, byteCount: count) else {
            throw WireError(reason: "a picture without its pixels")
        }
        pixels = mapping
        rest = WireReader(bytes.withBytes { bytes in (count..<bytes.count).map { bytes[$0] } })
    }

    /// Writes what ``init(_:_:)`` reads of the body of a request.
    static func write(
        _ image: PixelBuffer, sharedByteCount: Int, to writer: inout WireWriter
    ) {
        writer.write(sharedByteCount)
        writer.write(image.size)
        writer.write(image.format)
    }

    /// The bytes that are shared with the worker.
    static func bytes(of image: PixelBuffer, followedBy rest: [UInt8]) -> [UInt8] {
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
