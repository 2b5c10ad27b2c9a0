// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import EncodedImages

/// The metadata blocks of a file, before and after its pixels.
///
/// EXIF has a chunk of its own (`eXIf`), XMP is an `iTXt` with a reserved keyword. Older
/// programs, ImageMagick above all, write them as “Raw profile type” text in hexadecimal
/// digits.
struct PNGMetadata {
    private(set) var blocks = MetadataBlocks()
    private let limits: DecodeLimits
    /// The number of text bytes read so far, replaced texts included.
    private var textByteCount = 0

    init(_ file: Span<UInt8>, limits: DecodeLimits) throws(CodecError) {
        self.limits = limits
        var chunks = PNGChunkCursor(limits: limits)
        while true {
            let chunk: PNGChunk
            do throws(CodecError) {
                chunk = try chunks.next(file, verifiesChecksum: false)
            } catch {
                if case .limitExceeded = error { throw error }
                // Metadata before the damage is kept.
                return
            }
            let body = file.extracting(chunk.body)
            switch chunk.type {
            case "eXIf":
                try limits.check(.metadataByteCount, body.count)
                if blocks.exif == nil { blocks.exif = body.indices.map { body[$0] } }
            case "iTXt", "tEXt", "zTXt": try takeText(chunk.type, body)
            case "IEND": return
            default: break
            }
        }
    }

    /// Reads a textual chunk: a keyword, a zero, compression and language fields by type, and
    /// the text.
    private mutating func takeText(
        _ type: String, _ body: Span<UInt8>
    ) throws(CodecError) {
        guard let end = body.indices.prefix(80).first(where: { body[$0] == 0 }) else { return }
        let name = String(decoding: (0..<end).map { body[$0] }, as: UTF8.self)
        let isWanted = name == "XML:com.adobe.xmp" || name.hasPrefix("Raw profile type ")
        guard isWanted, let text = try text(type, body, behind: end) else { return }
        textByteCount += text.count
        try limits.check(.metadataByteCount, textByteCount)
        switch name {
        case "XML:com.adobe.xmp": blocks.xmp = blocks.xmp ?? text
        case "Raw profile type xmp": blocks.xmp = blocks.xmp ?? Self.profile(text)
        case "Raw profile type exif", "Raw profile type APP1":
            guard var block = Self.profile(text) else { return }
            let prefix = Array("Exif\0\0".utf8)
            if block.starts(with: prefix) { block.removeFirst(prefix.count) }
            let isEXIF = [[0x49, 0x49], [0x4D, 0x4D]].contains(Array(block.prefix(2)))
            if isEXIF && blocks.exif == nil { blocks.exif = block }
        case "Raw profile type iptc":
            blocks.iptc = blocks.iptc ?? Self.profile(text).flatMap(Self.records)
        default: break
        }
    }

    private func text(
        _ type: String, _ body: Span<UInt8>, behind end: Int
    ) throws(CodecError) -> [UInt8]? {
        var start = end + 1
        var isCompressed = type == "zTXt"
        if isCompressed { start += 1 }
        if type == "iTXt" {
            guard start + 2 <= body.count else { return nil }
            isCompressed = body[start] == 1
            start += 2
            // The language tag and the translated keyword.
            for _ in 0..<2 {
                while start < body.count, body[start] != 0 { start += 1 }
                start += 1
            }
        }
        guard start <= body.count else { return nil }
        let rest = body.extracting(start..<body.count)
        if isCompressed {
            return try PNGInflater.inflated(rest, .metadataByteCount, limits)
        }
        try limits.check(.metadataByteCount, rest.count)
        return rest.indices.map { rest[$0] }
    }

    /// Decodes a raw profile: a line with a name, one with the byte count, and hexadecimal
    /// digits.
    private static func profile(_ text: [UInt8]) -> [UInt8]? {
        let lines = text.split(separator: 0x0A, maxSplits: 2)
        guard lines.count == 3,
            let count = Int(
                String(decoding: lines[1].filter { $0 != 0x20 }, as: UTF8.self))
        else { return nil }
        let digits = lines[2].compactMap(hexadecimalDigit)
        guard count >= 0, digits.count >= 2, digits.count / 2 >= count else { return nil }
        return (0..<count).map { digits[$0 * 2] << 4 | digits[$0 * 2 + 1] }
    }

    private static func hexadecimalDigit(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x41...0x46: character - 0x41 + 10
        case 0x61...0x66: character - 0x61 + 10
        default: nil
        }
    }

    /// Returns the IPTC records inside the Photoshop resources that ImageMagick keeps around
    /// them.
    private static func records(_ block: [UInt8]) -> [UInt8]? {
        if block.first == 0x1C { return block }
        var offset = 0
        while offset + 12 <= block.count, block[offset..<offset + 4].elementsEqual("8BIM".utf8) {
            let number = block.span.bigEndian(at: offset + 4, byteCount: 2)
            // A Pascal string, padded to an even length.
            let name = (Int(block[offset + 6]) + 2) / 2 * 2
            let start = offset + 6 + name + 4
            guard start <= block.count else { return nil }
            let count = block.span.bigEndian(at: start - 4, byteCount: 4)
            guard count <= block.count - start else { return nil }
            if number == 0x0404 { return Array(block[start..<start + count]) }
            offset = start + count + count % 2
        }
        return nil
    }
}
#endif
