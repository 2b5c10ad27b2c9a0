// SPDX-License-Identifier: Apache-2.0

/// The image resource blocks of Photoshop, one of which contains the IPTC records.
/// - SeeAlso: Adobe, *Photoshop File Formats Specification*, section Image Resource Blocks.
public enum PhotoshopResources {
    private static let iptcIdentifier = 0x0404

    /// Returns the IPTC records in a list of blocks, each of which begins with a signature such as
    /// `8BIM`.
    ///
    /// - Parameter blocks: the blocks, whose end may be missing.
    /// - Returns: the first records that are not empty; `nil` if there are none.
    public static func iptc(in blocks: [UInt8]) -> [UInt8]? {
        let bytes = blocks.span
        var offset = 0
        while offset + 12 <= blocks.count {
            guard blocks[offset..<offset + 4].allSatisfy({ (0x20...0x7E).contains($0) }) else {
                return nil
            }
            let identifier = bytes.bigEndian(at: offset + 4, byteCount: 2)
            // A name after its length, padded to an even number of bytes.
            let nameByteCount = (Int(blocks[offset + 6]) + 2) / 2 * 2
            let lengthOffset = offset + 6 + nameByteCount
            guard let length = bytes.integer(at: lengthOffset, byteCount: 4) else { return nil }
            let start = lengthOffset + 4
            guard length <= blocks.count - start else { return nil }
            if identifier == iptcIdentifier, length > 0 {
                return Array(blocks[start..<start + length])
            }
            offset = start + (length + 1) / 2 * 2
        }
        return nil
    }

    /// Returns a block that contains IPTC records.
    public static func block(iptc records: [UInt8]) -> [UInt8] {
        var block = Array("8BIM".utf8)
        block.append(iptcIdentifier, byteCount: 2)
        block += [0, 0]
        block.append(records.count, byteCount: 4)
        return block + records + (records.count % 2 == 0 ? [] : [0])
    }
}
