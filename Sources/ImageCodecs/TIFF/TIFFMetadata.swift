// SPDX-License-Identifier: Apache-2.0

#if TIFF
    internal import EncodedImages

    /// The metadata of a page as the blocks that other formats hold, and back.
    enum TIFFMetadata {
        /// What describes the picture, its resolution, and the program and people that made it.
        private static let descriptions = [
            270, 271, 272, 282, 283, 296, 305, 306, 315, 316, 33432,
        ]
        /// The directories of the camera and of the place.
        private static let children = [34665, 34853]

        static func blocks(
            _ directory: TIFFDirectory, _ bytes: Span<UInt8>, _ limits: DecodeLimits
        ) throws(CodecError) -> MetadataBlocks {
            var blocks = MetadataBlocks()
            blocks.xmp = try block(700, directory, bytes, limits)
            // Padded with zeros to whole words.
            blocks.iptc = try block(33723, directory, bytes, limits).map { iptc in
                Array(iptc[..<((iptc.lastIndex { $0 != 0 } ?? -1) + 1)])
            }
            blocks.exif = try exif(directory, bytes, limits)
            return blocks
        }

        private static func block(
            _ tag: Int, _ directory: TIFFDirectory, _ bytes: Span<UInt8>, _ limits: DecodeLimits
        ) throws(CodecError) -> [UInt8]? {
            guard let range = directory.range(tag, bytes) else { return nil }
            try limits.check(.metadataByteCount, range.count)
            return range.map { bytes[$0] }
        }

        /// A file of its own with the directories that EXIF knows and no pixels.
        private static func exif(
            _ directory: TIFFDirectory, _ bytes: Span<UInt8>, _ limits: DecodeLimits
        ) throws(CodecError) -> [UInt8]? {
            let own = (descriptions + children).filter { directory.entries[$0] != nil }
            // Every picture has a resolution, and every program names itself.
            guard own.contains(where: { ![282, 283, 296, 305].contains($0) }) else { return nil }
            let file = directory.file
            let writer = TIFFDirectoryWriter(isLittleEndian: file.isLittleEndian, isBig: false)
            var block = Array((file.isLittleEndian ? "II" : "MM").utf8)
            block += writer.number(42, 2) + writer.number(8, 4)
            _ = try append(
                descriptions + [274], of: directory, bytes, besides: [], next: 0, limits, writer,
                to: &block)
            return block
        }

        /// A file with an EXIF block's directories and IPTC records besides what it has.
        ///
        /// - Parameters:
        ///   - metadata: what is added; an EXIF block that cannot be read is left out.
        ///   - file: a file whose first directory has neither.
        /// - Returns: the file with its first directory anew at the end.
        /// - Throws: ``CodecError`` if the file is none.
        static func adding(
            _ metadata: MetadataBlocks, to file: [UInt8]
        ) throws(CodecError) -> [UInt8] {
            let exif = metadata.exif ?? []
            let added = firstDirectory(exif)
            guard added != nil || metadata.iptc != nil else { return file }
            let target = try TIFFFile(file.span)
            let own = try TIFFDirectory(target, file.span, at: target.firstDirectory)
            let outline = try TIFFDirectoryOutline(target, file.span, at: own.offset)
            let writer = TIFFDirectoryWriter(isLittleEndian: true, isBig: target.isBig)
            var limits = DecodeLimits()
            limits.maximumMetadataByteCount = .max
            var kept: [TIFFDirectoryWriter.Field] = []
            for (tag, entry) in own.entries where tag != 33723 {
                guard let range = own.range(tag, file.span) else { continue }
                kept.append(
                    .init(
                        tag: tag, type: entry.type, count: entry.count, value: Array(file[range])))
            }
            if let iptc = metadata.iptc {
                // Bytes of no meaning to TIFF.
                kept.append(.init(tag: 33723, type: 7, count: iptc.count, value: iptc))
            }
            var result = file
            let start = try append(
                descriptions.filter { own.entries[$0] == nil }, of: added, exif.span, besides: kept,
                next: outline.next, limits, writer, to: &result)
            writer.put(
                start, byteCount: target.isBig ? 8 : 4, at: target.isBig ? 8 : 4, in: &result)
            return result
        }

        private static func firstDirectory(_ exif: [UInt8]) -> TIFFDirectory? {
            guard let file = try? TIFFFile(exif.span) else { return nil }
            return try? TIFFDirectory(file, exif.span, at: file.firstDirectory)
        }

        /// Writes a directory and its children.
        ///
        /// - Returns: where it begins.
        private static func append(
            _ tags: [Int], of directory: TIFFDirectory?, _ bytes: Span<UInt8>,
            besides kept: [TIFFDirectoryWriter.Field], next: Int, _ limits: DecodeLimits,
            _ writer: TIFFDirectoryWriter, to file: inout [UInt8]
        ) throws(CodecError) -> Int {
            var fields = kept
            if let directory {
                fields += try writer.fields(tags, of: directory, bytes, limits: limits)
            }
            var found: [(tag: Int, fields: [TIFFDirectoryWriter.Field])] = []
            for tag in children {
                guard let directory, let offset = directory.integer(tag, bytes),
                    let child = try? TIFFDirectory(directory.file, bytes, at: offset)
                else { continue }
                // Offsets to further directories would lead nowhere.
                let own = child.entries.keys.filter { $0 != 40965 }
                found.append(
                    (tag, try writer.fields(Array(own), of: child, bytes, limits: limits)))
                fields.append(TIFFDirectoryWriter.pointer(tag))
            }
            let (start, places) = writer.append(fields, next: next, to: &file)
            for (tag, fields) in found {
                let (child, _) = writer.append(fields, next: 0, to: &file)
                if let place = places[tag] {
                    writer.put(child, byteCount: 4, at: place, in: &file)
                }
            }
            return start
        }
    }
#endif
