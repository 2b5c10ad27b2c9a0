// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// The textual chunks of a thumbnail: keywords and values in ASCII.
///
/// - SeeAlso: Thumbnail Managing Standard, “Thumbnail attributes”; ISO/IEC 15948, 11.3.4.3.
struct ThumbnailText: Hashable, Sendable {
    private(set) var values: [String: String] = [:]
    private var keywords: [String] = []

    init(_ texts: [(String, String)]) { append(texts) }

    mutating func append(_ texts: [(String, String)]) {
        for (keyword, value) in texts where values.updateValue(value, forKey: keyword) == nil {
            keywords.append(keyword)
        }
    }

    /// Reads the uncompressed texts of a PNG file; those before the first damaged chunk.
    init(png file: Span<UInt8>) {
        var offset = Self.signatureByteCount
        while let length = file.integer(at: offset, byteCount: 4),
            length <= file.count - offset - Self.chunkByteCount
        {
            if file.text(at: offset + 4, byteCount: 4) == "tEXt" {
                let body = file.extracting(offset + 8..<offset + 8 + length)
                let end = body.indices.first { body[$0] == 0 } ?? length
                append([
                    (
                        body.text(at: 0, byteCount: end),
                        body.text(at: end + 1, byteCount: length - end - 1)
                    )
                ])
            }
            offset += length + Self.chunkByteCount
        }
    }

    /// Returns a PNG file with the texts in addition to its own chunks.
    func added(toPNG file: [UInt8]) -> [UInt8] {
        let chunks = keywords.flatMap { keyword in
            Self.chunk("tEXt", Array(keyword.utf8) + [0] + Array((values[keyword] ?? "").utf8))
        }
        return file[..<Self.headerByteCount] + chunks + file[Self.headerByteCount...]
    }

    private static let signatureByteCount = 8
    /// The length, the type and the checksum of a chunk.
    private static let chunkByteCount = 12
    /// The signature and the `IHDR` chunk, which is always first and of the same length.
    private static let headerByteCount = signatureByteCount + chunkByteCount + 13

    private static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + body
        var checksum = CRC32()
        checksum.combine(checked.span)
        return [UInt8](body.count, byteCount: 4, .bigEndian) + checked
            + [UInt8](Int(checksum.value), byteCount: 4, .bigEndian)
    }
}
