// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// A request to encode an image whose pixels, profile and metadata are in shared memory.
struct EncodeRequest {
    private let image: PixelBuffer
    private let format: String
    private let options: EncodeOptions

    /// - Throws: ``WireError``, ``CodecError``.
    init(_ message: Message, _ reader: inout WireReader) throws {
        let shared = try SharedImage(message, &reader)
        format = try reader.value()
        var options = try reader.value(EncodeOptions.self)
        try reader.end()
        var rest = shared.rest
        image = PixelBuffer(
            shared.pixels, size: shared.size, format: shared.format,
            colorProfile: try rest.value())
        options.metadata = try rest.value()
        self.options = options
    }

    /// Encodes the body of a request.
    static func body(
        of image: PixelBuffer, _ format: String, _ options: EncodeOptions, sharedByteCount: Int
    ) -> [UInt8] {
        var writer = WireWriter()
        SharedImage.write(image, sharedByteCount: sharedByteCount, to: &writer)
        writer.write(format)
        writer.write(options)
        return writer.bytes
    }

    /// Returns the bytes that are shared with the worker.
    static func sharedBytes(of image: PixelBuffer, _ options: EncodeOptions) -> [UInt8] {
        var writer = WireWriter()
        writer.write(image.colorProfile)
        writer.write(options.metadata)
        return SharedImage.bytes(of: image, followedBy: writer.bytes)
    }

    func perform(
        _ codecs: CodecSet, _ writer: inout WireWriter, _ cancellation: CancellationFlag
    ) throws(CodecError) {
        let destination = try ImageDestination(format: format, codecs: codecs, options: options)
        writer.write(try destination.encode(image, cancellation: cancellation))
    }
}
