// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
internal import EncodedImages

/// A request for the formats and sizes of several files.
struct SizesRequest {
    private let files: [EncodedBytes]
    private let limits: DecodeLimits

    /// - Throws: ``WireError``, ``CodecError``.
    init(_ message: Message, _ reader: inout WireReader) throws {
        limits = try reader.value()
        let byteCounts = try reader.array(Int.self)
        try reader.end()
        guard byteCounts.count == message.descriptors.count else {
            throw WireError(reason: "the numbers of files and of descriptors differ")
        }
        files = try zip(message.descriptors, byteCounts).map {
            try EncodedBytes(descriptor: $0, byteCount: $1, isMapped: false)
        }
    }

    /// Encodes the body of a request.
    static func body(_ files: [EncodedBytes], _ limits: DecodeLimits) -> [UInt8] {
        var writer = WireWriter()
        writer.write(limits)
        writer.write(files.map(\.count))
        return writer.bytes
    }

    func perform(_ codecs: CodecSet, _ writer: inout WireWriter) {
        for file in files {
            calotype_begin_image()
            do throws(CodecError) {
                let source = try ImageSource(file, codecs: codecs, limits: limits)
                writer.write(true)
                writer.write(source.format.name)
                writer.write(source.pixelSize)
            } catch {
                writer.write(false)
                writer.write(error)
            }
        }
    }
}
