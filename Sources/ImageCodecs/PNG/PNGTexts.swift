// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import EncodedImages

/// The metadata blocks without a chunk type of their own, as textual chunks.
///
/// An XMP packet is an `iTXt` (XMP Specification Part 3, 1.1.5). IPTC records are written as a
/// Photoshop resource in hexadecimal digits, as ImageMagick introduced and ExifTool does too.
enum PNGTexts {
    struct Text {
        let keyword: String
        let bytes: [UInt8]
        let isCompressed: Bool
    }

    static func texts(of blocks: MetadataBlocks) -> [Text] {
        var texts: [Text] = []
        // Text ends at its first zero; some packets contain zeros after their end.
        if let packet = blocks.xmp.map({ Array($0.prefix { $0 != 0 }) }), !packet.isEmpty {
            texts.append(
                Text(keyword: "XML:com.adobe.xmp", bytes: packet, isCompressed: false))
        }
        if let records = blocks.iptc, !records.isEmpty {
            texts.append(
                Text(
                    keyword: "Raw profile type iptc",
                    bytes: rawProfile("iptc", PhotoshopResources.block(iptc: records)),
                    isCompressed: true))
        }
        return texts
    }

    /// Encodes a raw profile: a name, the byte count, and hexadecimal digits, 36 bytes per
    /// line.
    private static func rawProfile(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        let count = String(bytes.count)
        let gap = String(repeating: " ", count: max(0, 8 - count.utf8.count))
        var text = Array("\n\(name)\n\(gap)\(count)".utf8)
        for (index, byte) in bytes.enumerated() {
            if index % 36 == 0 { text.append(0x0A) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return text + [0x0A]
    }
}
#endif
