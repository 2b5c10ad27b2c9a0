// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// A picture whose colours are to be converted: its pixels and then its profile, in memory of the host.
struct ConversionRequest {
    private let image: PixelBuffer
    private let isExtended: Bool
    private let memory: SharedPixels?

    /// - Throws: ``WireError``, ``CodecError``.
    init(_ message: Message, _ reader: inout WireReader, room: MemoryMapping) throws {
        guard let file = message.descriptors.first else {
            throw WireError(reason: "a request without a picture")
        }
        let bytes = try EncodedBytes(descriptor: file, byteCount: try reader.number())
        let size = try PixelSize(pictureFrom: &reader)
        let format = try reader.value(PixelFormat.self)
        isExtended = try reader.value()
        memory = try SharedPixels(message.descriptors.dropFirst().first, &reader, room: room)
        try reader.end()
        let count = PixelBuffer.byteCount(of: size, format)
        guard count < bytes.count, let mapping = MemoryMapping(file, byteCount: count) else {
            throw WireError(reason: "a picture without its pixels")
        }
        var rest = WireReader(bytes.withBytes { bytes in (count..<bytes.count).map { bytes[$0] } })
        image = PixelBuffer(
            mapping, size: size, format: format, colorProfile: try rest.value())
    }

    /// The body of a request, in the order in which it is read.
    static func body(
        of image: PixelBuffer, isExtended: Bool, sharedByteCount: Int, resultByteCount: Int
    ) -> [UInt8] {
        var writer = WireWriter()
        writer.write(sharedByteCount)
        writer.write(image.size)
        writer.write(image.format)
        writer.write(isExtended)
        writer.write(Optional(resultByteCount))
        return writer.bytes
    }

    /// What is shared with the worker.
    static func sharedBytes(of image: PixelBuffer) -> [UInt8] {
        var profile = WireWriter()
        profile.write(image.colorProfile)
        let pixels = image.bytes
        return unsafe [UInt8](unsafeUninitializedCapacity: pixels.count + profile.bytes.count) {
            buffer, count in
            unsafe pixels.withUnsafeBufferPointer {
                count = unsafe buffer.update(fromContentsOf: $0)
            }
            count = unsafe buffer[count...].update(fromContentsOf: profile.bytes)
        }
    }

    func perform(_ codecs: CodecSet, _ writer: inout WireWriter) throws(CodecError) {
        guard let converter = codecs.colorConverter else {
            throw .library(message: "colours cannot be converted")
        }
        let converted =
            isExtended
            ? try converter.convertedToExtendedSRGB(image) : try converter.convertedToSRGB(image)
        try memory?.write(converted, &writer)
    }
}
