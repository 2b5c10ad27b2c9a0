// SPDX-License-Identifier: Apache-2.0

/// Takes from a TIFF file, or one built like it, the metadata that EXIF would hold in another format.
package enum EXIFExtraction {
    /// What is about the picture rather than about how this file stores it.
    private static let pictureTags: Set<Int> = [
        0x010E, 0x010F, 0x0110, 0x0112, 0x011A, 0x011B, 0x0128, 0x0131, 0x0132, 0x013B, 0x4746,
        0x4749, 0x8298, 0x9C9B, 0x9C9C, 0x9C9D, 0x9C9E, 0x9C9F,
    ]
    private static let exif = 0x8769
    private static let location = 0x8825
    /// Offsets in a maker's notes would mean nothing, nor does what EXIF repeats of another file.
    private static let leftOut: Set<Int> = [0x927C, 0xA005]
    /// Longer values are pictures or tables.
    private static let maximumValueByteCount = 8192

    /// A value to be written, or a directory.
    private enum Value {
        case bytes([UInt8])
        case directory([Entry])
    }

    private struct Entry {
        let tag: Int
        let type: Int
        let count: Int
        let value: Value
    }

    /// The blocks of metadata of a TIFF file; without any if it is none.
    package static func blocks(inTIFF file: Span<UInt8>) -> MetadataBlocks {
        var blocks = MetadataBlocks()
        guard let order = TIFFByteOrder(file),
            let first = order.directory(file, at: order.firstDirectory(file))
        else { return blocks }
        if let entry = first.entry(0x02BC), !entry.value.isEmpty {
            blocks.xmp = order.bytes(file, entry)
        }
        if let entry = first.entry(0x83BB) {
            let records = order.bytes(file, entry)
            if records.first == 0x1C { blocks.iptc = records }
        }
        if blocks.iptc == nil, let entry = first.entry(0x8649) {
            blocks.iptc = PhotoshopResources.iptc(in: order.bytes(file, entry))
        }
        var entries = copied(first, file, order) { pictureTags.contains($0) }
        for tag in [exif, location] {
            guard let pointer = first.entry(tag), let offset = order.integer(file, pointer),
                let directory = order.directory(file, at: offset)
            else { continue }
            let below = copied(directory, file, order) { !leftOut.contains($0) }
            if !below.isEmpty {
                entries.append(Entry(tag: tag, type: 4, count: 1, value: .directory(below)))
            }
        }
        if !entries.isEmpty { blocks.exif = block(entries, order) }
        return blocks
    }

    /// The first entry of each tag, as long as their values together are no longer than the file: more
    /// would be values that stand in each other.
    private static func copied(
        _ directory: TIFFByteOrder.Directory, _ file: Span<UInt8>, _ order: TIFFByteOrder,
        where isCopied: (_ tag: Int) -> Bool
    ) -> [Entry] {
        var tags: Set<Int> = []
        var room = file.count
        return directory.entries.compactMap { entry in
            guard isCopied(entry.tag), (1...maximumValueByteCount).contains(entry.value.count),
                entry.value.count <= room, tags.insert(entry.tag).inserted
            else { return nil }
            room -= entry.value.count
            return Entry(
                tag: entry.tag, type: entry.type, count: entry.count,
                value: .bytes(order.bytes(file, entry)))
        }
    }

    private static func block(_ entries: [Entry], _ order: TIFFByteOrder) -> [UInt8] {
        let mark: UInt8 = order.isLittleEndian ? 0x49 : 0x4D
        var block = [mark, mark] + number(42, 2, order) + number(8, 4, order)
        append(entries, to: &block, order)
        return block
    }

    private static func append(
        _ entries: [Entry], to block: inout [UInt8], _ order: TIFFByteOrder
    ) {
        let entries = entries.sorted { $0.tag < $1.tag }
        let start = block.count
        block += number(entries.count, 2, order)
        block += Array(repeating: 0, count: entries.count * 12 + 4)
        for (index, entry) in entries.enumerated() {
            let fields =
                number(entry.tag, 2, order) + number(entry.type, 2, order)
                + number(entry.count, 4, order)
            let place = start + 2 + index * 12
            block.replaceSubrange(place..<place + 8, with: fields)
            if case .bytes(let value) = entry.value, value.count <= 4 {
                block.replaceSubrange(place + 8..<place + 8 + value.count, with: value)
                continue
            }
            if block.count % 2 == 1 { block.append(0) }
            block.replaceSubrange(place + 8..<place + 12, with: number(block.count, 4, order))
            switch entry.value {
            case .bytes(let value): block += value
            case .directory(let below): append(below, to: &block, order)
            }
        }
    }

    private static func number(_ value: Int, _ byteCount: Int, _ order: TIFFByteOrder) -> [UInt8] {
        let little = (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        return order.isLittleEndian ? little : little.reversed()
    }
}
