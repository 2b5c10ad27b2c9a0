// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages

/// Finds the gain map of a JPEG file: a second JPEG file after the first one, which the Multi-Picture
/// Format lists.
/// - SeeAlso: CIPA DC-007, *Multi-Picture Format*, 5.2.
enum JPEGGainMapReader {
    static let multiImageName = Array("MPF\0".utf8)
    static let isoName = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)
    /// The tag of the list of images (MP Entry).
    private static let listTag = 0xB002
    private static let entryByteCount = 16
    private static let maximumImageCount = 16

    /// Returns the gain map of a file.
    ///
    /// - Parameters:
    ///   - file: the whole file.
    ///   - limits: a map with more bytes than metadata may have counts as absent.
    /// - Returns: `nil` if no image in the list is one, or its metadata is damaged.
    static func read(_ file: Span<UInt8>, _ limits: DecodeLimits) -> GainMap? {
        for range in images(of: file)
        where range.count <= limits.maximumMetadataByteCount {
            let map = file.extracting(range)
            guard let metadata = metadata(of: map, in: file, limits) else { continue }
            return GainMap(metadata, file: range.map { file[$0] })
        }
        return nil
    }

    /// Returns whether a segment lists further images.
    static func listsImages(_ body: Span<UInt8>) -> Bool { entries(body).count > 1 }

    /// Returns the ranges of all images but the first.
    private static func images(of file: Span<UInt8>) -> [Range<Int>] {
        var segments = JPEGSegments()
        while let segment = try? segments.next(file),
            segment.marker != JPEGSegments.startOfScan,
            segment.marker != JPEGSegments.endOfImage
        {
            guard segment.marker == 0xE2 else { continue }
            let body = file.extracting(segment.body)
            let entries = entries(body)
            guard entries.count > 1 else { continue }
            // Offsets are relative to the byte order mark.
            let origin = segment.body.lowerBound + multiImageName.count
            return entries.dropFirst().compactMap { entry in
                let start = origin + entry.offset
                let end = start + entry.byteCount
                guard entry.offset > 0, end <= file.count, end - start > 4,
                    file[start] == 0xFF, file[start + 1] == 0xD8
                else { return nil }
                return start..<end
            }
        }
        return []
    }

    /// Reads the list of images in the body of a segment.
    private static func entries(_ body: Span<UInt8>) -> [(byteCount: Int, offset: Int)] {
        guard let rest = JPEGMetadata.content(body, 0..<body.count, multiImageName),
            rest.count > 8
        else { return [] }
        let block = body.extracting(rest)
        let order: ByteOrder = block[0] == UInt8(ascii: "I") ? .littleEndian : .bigEndian
        func number(_ offset: Int, _ byteCount: Int) -> Int? {
            block.integer(at: offset, byteCount: byteCount, order)
        }
        guard let directory = number(4, 4), let count = number(directory, 2) else { return [] }
        for index in 0..<min(count, 100) {
            let field = directory + 2 + index * 12
            guard number(field, 2) == listTag, let size = number(field + 4, 4),
                let start = number(field + 8, 4)
            else { continue }
            return (0..<min(size / entryByteCount, maximumImageCount)).compactMap { image in
                let entry = start + image * entryByteCount
                guard let byteCount = number(entry + 4, 4), let offset = number(entry + 8, 4)
                else { return nil }
                return (byteCount, offset)
            }
        }
        return []
    }

    /// Reads the metadata of a map from its own file; that of ISO 21496-1 precedes XMP.
    private static func metadata(
        of map: Span<UInt8>, in file: Span<UInt8>, _ limits: DecodeLimits
    ) -> GainMapMetadata? {
        var packet: GainMapMetadata?
        var segments = JPEGSegments()
        while let segment = try? segments.next(map),
            segment.marker != JPEGSegments.startOfScan,
            segment.marker != JPEGSegments.endOfImage
        {
            let body = segment.body
            if segment.marker == 0xE2, let rest = JPEGMetadata.content(map, body, isoName) {
                if let iso = GainMapMetadata(iso: rest.map { map[$0] }) { return iso }
            } else if segment.marker == 0xE1, packet == nil,
                let rest = JPEGMetadata.content(map, body, JPEGMetadata.xmp)
            {
                packet = GainMapMetadata(
                    xmp: rest.map { map[$0] }, exif: try? JPEGMetadata.read(file, limits).exif)
            }
        }
        return packet
    }
}
#endif
