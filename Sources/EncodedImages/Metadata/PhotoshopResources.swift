// SPDX-License-Identifier: Apache-2.0

/// The blocks that Photoshop puts into files, of which one holds the IPTC records.
/// - SeeAlso: Adobe, *Photoshop File Formats Specification*, section Image Resource Blocks.
public enum PhotoshopResources {
    private static let iptcNumber = 0x0404

    /// The IPTC records in a list of blocks, each beginning with `8BIM`.
    ///
    /// - Returns: the first that is not empty.
    public static func iptc(in blocks: [UInt8]) -> [UInt8]? {
        var offset = 0
        while offset + 12 <= blocks.count {
            guard blocks[offset..<offset + 4].allSatisfy({ (0x20...0x7E).contains($0) }) else {
                return nil
            }
            let number = Int(blocks[offset + 4]) << 8 | Int(blocks[offset + 5])
            // A name with its length before it, filled up to an even number of bytes.
            let name = (Int(blocks[offset + 6]) + 2) / 2 * 2
            let lengthOffset = offset + 6 + name
            guard lengthOffset + 4 <= blocks.count else { return nil }
            let length = blocks[lengthOffset..<lengthOffset + 4].reduce(0) { $0 << 8 | Int($1) }
            let start = lengthOffset + 4
            guard length <= blocks.count - start else { return nil }
            if number == iptcNumber, length > 0 { return Array(blocks[start..<start + length]) }
            offset = start + (length + 1) / 2 * 2
        }
        return nil
    }

    /// A block that holds IPTC records.
    public static func block(iptc records: [UInt8]) -> [UInt8] {
        var block = Array("8BIM".utf8) + [UInt8(iptcNumber >> 8), UInt8(iptcNumber & 255), 0, 0]
        for shift in [24, 16, 8, 0] {
            block.append(UInt8(truncatingIfNeeded: records.count >> shift))
        }
        return block + records + (records.count % 2 == 0 ? [] : [0])
    }
}
