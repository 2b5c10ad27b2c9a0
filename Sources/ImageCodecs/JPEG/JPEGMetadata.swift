// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages

/// The metadata blocks in the marker segments of a JPEG file.
///
/// EXIF is in one APP1 segment, and so is the XMP packet. XMP that exceeds a segment continues
/// in further segments as a second packet, split at any byte. IPTC records are in a Photoshop
/// image resource, whose list is split over APP13 segments.
/// - SeeAlso: CIPA DC-008, section 4.5; Adobe, *XMP Specification Part 3*, section 1.1.3.
enum JPEGMetadata {
    static let exif = Array("Exif\0\0".utf8)
    static let xmp = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    static let extendedXMP = Array("http://ns.adobe.com/xmp/extension/\0".utf8)
    static let photoshop = Array("Photoshop 3.0\0".utf8)
    private static let maximumBodyByteCount = 65_533

    /// A part of an extended XMP packet.
    private struct Part {
        /// The GUID of the packet, 32 digits, which the main packet contains.
        let packet: [UInt8]
        let byteCount: Int
        let offset: Int
        let bytes: Range<Int>
    }

    /// Reads the blocks before the first scan; damaged segments end the search without an
    /// error.
    static func read(
        _ file: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        var blocks = MetadataBlocks()
        var parts: [Part] = []
        var partByteCount = 0
        var photoshopBlocks: [UInt8] = []
        var segments = JPEGSegments()
        while let segment = try? segments.next(file),
            segment.marker != JPEGSegments.startOfScan,
            segment.marker != JPEGSegments.endOfImage
        {
            let body = segment.body
            switch segment.marker {
            case 0xE1:
                if blocks.exif == nil, let rest = content(file, body, exif), isTIFF(file, rest) {
                    blocks.exif = file.bytes(rest)
                } else if blocks.xmp == nil, let rest = content(file, body, xmp) {
                    blocks.xmp = file.bytes(rest)
                } else if let rest = content(file, body, extendedXMP),
                    let part = part(file, rest)
                {
                    partByteCount += rest.count
                    try limits.check(.metadataByteCount, partByteCount)
                    parts.append(part)
                }
            case 0xED:
                guard let rest = content(file, body, photoshop) else { continue }
                try limits.check(
                    .metadataByteCount, photoshopBlocks.count + rest.count)
                photoshopBlocks += file.bytes(rest)
            default: break
            }
        }
        blocks.iptc = PhotoshopResources.iptc(in: photoshopBlocks)
        if !parts.isEmpty, let packet = blocks.xmp,
            let name = XMPPacket.extensionName(of: packet).map({ Array($0.utf8) }),
            let rest = try joined(parts.filter { $0.packet == name }, file, limits)
        {
            blocks.xmp = XMPPacket.joined(packet, rest)
        }
        return blocks
    }

    /// Returns the segments that contain the blocks, in the order in which they are written.
    ///
    /// - Throws: ``CodecError/unsupported(feature:)`` for a block that is too large.
    static func segments(
        of blocks: MetadataBlocks
    ) throws(CodecError) -> [(marker: Int32, body: [UInt8])] {
        var segments: [(marker: Int32, body: [UInt8])] = []
        if let block = blocks.exif {
            let body = exif + block
            guard body.count <= maximumBodyByteCount else {
                throw .unsupported(
                    feature: "EXIF block of \(block.count) bytes (JPEG allows at most 65527)"
                )
            }
            segments.append((0xE1, body))
        }
        if let packet = blocks.xmp {
            guard let parts = XMPPacket.split(packet, maximumByteCount: 65_502) else {
                throw .unsupported(
                    feature: "XMP packet of \(packet.count) bytes that cannot be split")
            }
            segments.append((0xE1, xmp + parts.packet))
            if let rest = parts.rest {
                for start in stride(from: 0, to: rest.bytes.count, by: 65_000) {
                    let end = min(start + 65_000, rest.bytes.count)
                    segments.append(
                        (
                            0xE1,
                            extendedXMP + Array(rest.name.utf8)
                                + [UInt8](rest.bytes.count, byteCount: 4, .bigEndian)
                                + [UInt8](start, byteCount: 4, .bigEndian)
                                + rest.bytes[start..<end]
                        ))
                }
            }
        }
        if let records = blocks.iptc {
            let block = PhotoshopResources.block(iptc: records)
            for start in stride(from: 0, to: block.count, by: 65_000) {
                let end = min(start + 65_000, block.count)
                segments.append((0xED, photoshop + block[start..<end]))
            }
        }
        return segments
    }

    /// Returns the rest of the body of a segment that begins with a name; `nil` for another one.
    static func content(
        _ file: Span<UInt8>, _ body: Range<Int>, _ name: [UInt8]
    ) -> Range<Int>? {
        guard body.count > name.count,
            name.indices.allSatisfy({ file[body.lowerBound + $0] == name[$0] })
        else { return nil }
        return body.lowerBound + name.count..<body.upperBound
    }

    private static func isTIFF(_ file: Span<UInt8>, _ range: Range<Int>) -> Bool {
        range.count >= 8 && file[range.lowerBound] == file[range.lowerBound + 1]
            && (file[range.lowerBound] == 0x49 || file[range.lowerBound] == 0x4D)
    }

    private static func part(_ file: Span<UInt8>, _ range: Range<Int>) -> Part? {
        guard range.count > 40 else { return nil }
        let start = range.lowerBound
        return Part(
            packet: file.bytes(start..<start + 32),
            byteCount: file.bigEndian(at: start + 32, byteCount: 4),
            offset: file.bigEndian(at: start + 36, byteCount: 4),
            bytes: start + 40..<range.upperBound)
    }

    /// Returns the packet that the parts form; `nil` if one is missing.
    private static func joined(
        _ parts: [Part], _ file: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) -> [UInt8]? {
        guard let byteCount = parts.first?.byteCount else { return nil }
        try limits.check(.metadataByteCount, byteCount)
        var packet: [UInt8] = []
        for part in parts.sorted(by: { $0.offset < $1.offset }) {
            guard part.offset == packet.count, packet.count + part.bytes.count <= byteCount
            else { return nil }
            packet += file.bytes(part.bytes)
        }
        return packet.count == byteCount ? packet : nil
    }
}

extension Span<UInt8> {
    fileprivate func bytes(_ range: Range<Int>) -> [UInt8] { range.map { self[$0] } }
}
#endif
