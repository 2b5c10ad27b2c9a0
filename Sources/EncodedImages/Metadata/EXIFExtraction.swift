// SPDX-License-Identifier: Apache-2.0

/// Makes the metadata blocks of a TIFF file, or of a file with its structure.
package enum EXIFExtraction {
    /// The tags that describe the image, not the way in which this file stores it.
    private static let imageTags: Set<TIFFTag> = [
        .imageDescription, .make, .model, .orientation, .xResolution, .yResolution,
        .resolutionUnit, .software, .dateTime, .artist, .rating, .ratingPercent, .copyright,
        .xpTitle, .xpComment, .xpAuthor, .xpKeywords, .xpSubject,
    ]
    /// Maker notes contain offsets into the original file; the interoperability directory describes
    /// that file.
    private static let omittedTags: Set<TIFFTag> = [.makerNote, .interoperabilityIFD]
    /// Longer values are images or tables.
    private static let maximumValueByteCount = 8192

    /// A value to be written, or a directory.
    private enum Value {
        case bytes([UInt8])
        case directory([Entry])
    }

    private struct Entry {
        let tag: TIFFTag
        let type: Int
        let count: Int
        let value: Value
    }

    /// Returns the metadata blocks of a TIFF file; none if it is not one.
    package static func blocks(inTIFF file: Span<UInt8>) -> MetadataBlocks {
        var blocks = MetadataBlocks()
        guard let layout = TIFFLayout(file),
            let first = layout.directory(file, at: layout.firstDirectory(file))
        else { return blocks }
        if let entry = first.entry(.xmp), !entry.value.isEmpty {
            blocks.xmp = first.bytes(entry, file)
        }
        if let entry = first.entry(.iptc) {
            let records = first.bytes(entry, file)
            if records.first == 0x1C { blocks.iptc = records }
        }
        if blocks.iptc == nil, let entry = first.entry(.photoshop) {
            blocks.iptc = PhotoshopResources.iptc(in: first.bytes(entry, file))
        }
        var entries = copied(first, file) { imageTags.contains($0) }
        for tag in [TIFFTag.exifIFD, .gpsIFD] {
            guard let directory = first.directory(tag, file) else { continue }
            let children = copied(directory, file) { !omittedTags.contains($0) }
            if !children.isEmpty {
                entries.append(Entry(tag: tag, type: 4, count: 1, value: .directory(children)))
            }
        }
        if !entries.isEmpty { blocks.exif = block(entries, layout) }
        return blocks
    }

    /// The first entry of each tag, while their values together are no longer than the file: more
    /// would be values that overlap.
    private static func copied(
        _ directory: TIFFDirectory, _ file: Span<UInt8>, where isCopied: (TIFFTag) -> Bool
    ) -> [Entry] {
        var tags: Set<TIFFTag> = []
        var room = file.count
        return directory.entries.compactMap { entry in
            guard isCopied(entry.tag), (1...maximumValueByteCount).contains(entry.value.count),
                entry.value.count <= room, tags.insert(entry.tag).inserted
            else { return nil }
            room -= entry.value.count
            return Entry(
                tag: entry.tag, type: entry.type, count: entry.count,
                value: .bytes(directory.bytes(entry, file)))
        }
    }

    private static func block(_ entries: [Entry], _ layout: TIFFLayout) -> [UInt8] {
        var block = layout.blockHeader
        append(entries, to: &block, layout)
        return block
    }

    private static func append(_ entries: [Entry], to block: inout [UInt8], _ layout: TIFFLayout) {
        let entries = entries.sorted { $0.tag.rawValue < $1.tag.rawValue }
        let start = block.count
        block += layout.integerBytes(entries.count, 2)
        block += Array(repeating: 0, count: entries.count * 12 + 4)
        for (index, entry) in entries.enumerated() {
            let fields =
                layout.integerBytes(entry.tag.rawValue, 2) + layout.integerBytes(entry.type, 2)
                + layout.integerBytes(entry.count, 4)
            let place = start + 2 + index * 12
            block.replaceSubrange(place..<place + 8, with: fields)
            if case .bytes(let value) = entry.value, value.count <= 4 {
                block.replaceSubrange(place + 8..<place + 8 + value.count, with: value)
                continue
            }
            if block.count % 2 == 1 { block.append(0) }
            block.set(block.count, at: place + 8, byteCount: 4, layout.byteOrder)
            switch entry.value {
            case .bytes(let value): block += value
            case .directory(let children): append(children, to: &block, layout)
            }
        }
    }
}
