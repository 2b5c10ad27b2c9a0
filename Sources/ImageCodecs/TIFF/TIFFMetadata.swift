// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import EncodedImages

/// Converts the metadata of a page to the blocks of other formats, and back.
enum TIFFMetadata {
    /// The description of the image, its resolution, and the programs and people that made it.
    private static let descriptions: [TIFFTag] = [
        .imageDescription, .make, .model, .xResolution, .yResolution, .resolutionUnit,
        .software,
        .dateTime, .artist, .hostComputer, .copyright,
    ]
    /// The tags that any TIFF file has.
    private static let ubiquitous: Set<TIFFTag> = [
        .xResolution, .yResolution, .resolutionUnit, .software,
    ]
    private static let children: [TIFFTag] = [.exifIFD, .gpsIFD]

    static func blocks(
        _ directory: TIFFDirectory, _ bytes: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) -> MetadataBlocks {
        var blocks = MetadataBlocks()
        blocks.xmp = try block(.xmp, directory, bytes, limits)
        // Without the zeros that pad it to whole words.
        blocks.iptc = try block(.iptc, directory, bytes, limits).map { iptc in
            Array(iptc[..<((iptc.lastIndex { $0 != 0 } ?? -1) + 1)])
        }
        blocks.exif = try exif(directory, bytes, limits)
        return blocks
    }

    private static func block(
        _ tag: TIFFTag, _ directory: TIFFDirectory, _ bytes: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) -> [UInt8]? {
        guard let range = directory.range(tag) else { return nil }
        try limits.check(.metadataByteCount, range.count)
        return range.map { bytes[$0] }
    }

    /// An EXIF block with the directories of the page; `nil` if it would say nothing.
    private static func exif(
        _ directory: TIFFDirectory, _ bytes: Span<UInt8>, _ limits: DecodeLimits
    ) throws(CodecError) -> [UInt8]? {
        let own = (descriptions + children).filter { directory.entry($0) != nil }
        guard own.contains(where: { !ubiquitous.contains($0) }) else { return nil }
        let layout = TIFFLayout(directory.layout.byteOrder)
        var block = layout.blockHeader
        _ = try append(
            descriptions + [.orientation], of: directory, bytes, besides: [], next: 0, limits,
            TIFFDirectoryWriter(layout: layout), to: &block)
        return block
    }

    /// Adds the directories of an EXIF block and IPTC records to a file.
    ///
    /// - Parameters:
    ///   - metadata: the blocks; an EXIF block that cannot be read is omitted.
    ///   - file: a file whose first directory has neither.
    /// - Returns: the file with a new first directory at its end.
    /// - Throws: ``CodecError`` if it is not a TIFF file.
    static func adding(
        _ metadata: MetadataBlocks, to file: [UInt8]
    ) throws(CodecError) -> [UInt8] {
        let exif = metadata.exif ?? []
        let added = firstDirectory(exif)
        guard added != nil || metadata.iptc != nil else { return file }
        let layout = try TIFFLayout(header: file.span)
        let own = try TIFFDirectory(
            checking: layout, file.span, at: layout.firstDirectory(file.span))
        let writer = TIFFDirectoryWriter(layout: TIFFLayout(.littleEndian, isBig: layout.isBig))
        var limits = DecodeLimits()
        limits.maximumMetadataByteCount = .max
        var kept: [TIFFDirectoryWriter.Field] = []
        for entry in own.entries where entry.tag != .iptc {
            guard own.entry(entry.tag) == entry, let range = own.range(entry.tag) else {
                continue
            }
            kept.append(
                .init(
                    tag: entry.tag, type: entry.type, count: entry.count,
                    value: Array(file[range])))
        }
        if let iptc = metadata.iptc {
            // UNDEFINED: bytes without a meaning in TIFF.
            kept.append(.init(tag: .iptc, type: 7, count: iptc.count, value: iptc))
        }
        var result = file
        let start = try append(
            descriptions.filter { own.entry($0) == nil }, of: added, exif.span, besides: kept,
            next: own.next, limits, writer, to: &result)
        result.set(
            start, at: layout.firstDirectoryPlace, byteCount: layout.offsetByteCount,
            writer.layout.byteOrder)
        return result
    }

    private static func firstDirectory(_ exif: [UInt8]) -> TIFFDirectory? {
        guard let layout = try? TIFFLayout(header: exif.span) else { return nil }
        return try? TIFFDirectory(
            checking: layout, exif.span, at: layout.firstDirectory(exif.span))
    }

    /// Appends a directory and its children.
    ///
    /// - Returns: its offset.
    private static func append(
        _ tags: [TIFFTag], of directory: TIFFDirectory?, _ bytes: Span<UInt8>,
        besides kept: [TIFFDirectoryWriter.Field], next: Int, _ limits: DecodeLimits,
        _ writer: TIFFDirectoryWriter, to file: inout [UInt8]
    ) throws(CodecError) -> Int {
        var fields = kept
        if let directory {
            fields += try writer.fields(tags, of: directory, bytes, limits: limits)
        }
        var found: [(tag: TIFFTag, fields: [TIFFDirectoryWriter.Field])] = []
        for tag in children {
            guard let directory, let offset = directory.unsigned(tag, bytes),
                let child = try? TIFFDirectory(checking: directory.layout, bytes, at: offset)
            else { continue }
            // The offset of a further directory would be wrong in the new file.
            let own = Set(child.entries.map(\.tag)).subtracting([.interoperabilityIFD])
            found.append((tag, try writer.fields(Array(own), of: child, bytes, limits: limits)))
            fields.append(TIFFDirectoryWriter.pointer(tag))
        }
        let (start, places) = writer.append(fields, next: next, to: &file)
        for (tag, fields) in found {
            let (child, _) = writer.append(fields, next: 0, to: &file)
            if let place = places[tag] {
                file.set(child, at: place, byteCount: 4, writer.layout.byteOrder)
            }
        }
        return start
    }
}
#endif
