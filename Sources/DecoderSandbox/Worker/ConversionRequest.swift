// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// A request to convert the colours of an image whose pixels and profile are in shared memory.
struct ConversionRequest {
    private let image: PixelBuffer
    private let isExtended: Bool
    private let memory: SharedPixels?

    /// - Throws: ``WireError``, ``CodecError``.
    init(_ message: Message, _ reader: inout WireReader, buffer: MemoryMapping) throws {
        let shared = try SharedImage(message, &reader)
        isExtended = try reader.value()
        memory = try SharedPixels(message.descriptors.dropFirst().first, &reader, buffer: buffer)
        try reader.end()
        var rest = shared.rest
        image = PixelBuffer(
            shared.pixels, size: shared.size, format: shared.format,
            colorProfile: try rest.value())
    }

    /// Encodes the body of a request.
    static func body(
        of image: PixelBuffer, isExtended: Bool, sharedByteCount: Int, resultByteCount: Int
    ) -> [UInt8] {
        var writer = WireWriter()
        SharedImage.write(image, sharedByteCount: sharedByteCount, to: &writer)
        writer.write(isExtended)
        writer.write(Optional(resultByteCount))
        return writer.bytes
    }

    /// Returns the bytes that are shared with the worker.
    static func sharedBytes(of image: PixelBuffer) -> [UInt8] {
        var profile = WireWriter()
        profile.write(image.colorProfile)
        return SharedImage.bytes(of: image, followedBy: profile.bytes)
    }

    func perform(_ codecs: CodecSet, _ writer: inout WireWriter) throws(CodecError) {
        guard let converter = codecs.colorConverter else {
            throw .library(message: "colour conversion requires the trait ICC")
        }
        let converted =
            isExtended
            ? try converter.convertedToExtendedSRGB(image) : try converter.convertedToSRGB(image)
        try memory?.write(converted, &writer)
    }
}
