// SPDX-License-Identifier: Apache-2.0

#if JPEG
internal import EncodedImages

/// Appends a gain map to a JPEG file: Ultra HDR, with the metadata of ISO 21496-1 in addition.
enum JPEGGainMapWriter {
    /// The number of bytes of the segment that lists the images, with its marker.
    private static let listByteCount = 90
    /// The number of bytes from the marker to the byte order mark.
    private static let listOriginOffset = 8
    /// The attribute of a base image, "Baseline MP Primary Image" in CIPA DC-007.
    private static let baseAttribute = 0x03_0000

    /// Returns the metadata blocks of a base image.
    static func blocks(_ blocks: MetadataBlocks, map: [UInt8]) -> MetadataBlocks {
        var blocks = blocks
        blocks.xmp = GainMapMetadata.basePacket(blocks.xmp, mapByteCount: map.count)
        return blocks
    }

    /// The segment of a base image that announces the metadata of ISO 21496-1 in the map.
    static let versionBody = JPEGGainMapReader.isoName + [0, 0, 0, 0]

    /// Returns the file of a map with its metadata in place of any that it had.
    ///
    /// - Returns: `nil` if the file is not JPEG.
    static func mapFile(_ map: GainMap) -> [UInt8]? {
        let file = map.file
        guard file.count > 4, file[0] == 0xFF, file[1] == 0xD8 else { return nil }
        var result: [UInt8] = [0xFF, 0xD8]
        result += segment(0xE1, JPEGMetadata.xmp + map.metadata.xmpPacket)
        result += segment(0xE2, JPEGGainMapReader.isoName + map.metadata.isoBytes)
        return result + tables(of: file.span, file)
    }

    /// Returns a file without its application segments.
    private static func tables(of span: Span<UInt8>, _ file: [UInt8]) -> [UInt8] {
        var segments = JPEGSegments()
        var result: [UInt8] = []
        while let segment = try? segments.next(span) {
            if segment.marker == JPEGSegments.startOfScan
                || segment.marker == JPEGSegments.endOfImage
            {
                return result + file[(segment.body.lowerBound - 4)...]
            }
            // The colour transform is stated by the segment of Adobe.
            guard !(0xE0...0xED).contains(segment.marker) else { continue }
            result += [0xFF, segment.marker]
            result += file[(segment.body.lowerBound - 2)..<segment.body.upperBound]
        }
        return result
    }

    /// Inserts the list of images into a base image, and appends the map.
    ///
    /// - Parameters:
    ///   - base: a JPEG file that was encoded with ``blocks(_:map:)``.
    ///   - map: the result of ``mapFile(_:)``.
    /// - Returns: the file; `base` alone if it is damaged.
    static func joined(_ base: [UInt8], _ map: [UInt8]) -> [UInt8] {
        guard let place = place(base.span) else { return base }
        let byteCount = base.count + listByteCount
        let origin = place + listOriginOffset
        var list = JPEGGainMapReader.multiImageName + Array("MM".utf8)
        func append(_ values: (Int, byteCount: Int)...) {
            for value in values { list.append(value.0, byteCount: value.byteCount) }
        }
        append((42, 2), (8, 4), (3, 2))
        // The version of the format is "0100".
        append((0xB000, 2), (7, 2), (4, 4), (0x3031_3030, 4))
        append((0xB001, 2), (4, 2), (1, 4), (2, 4))
        append((0xB002, 2), (7, 2), (32, 4), (50, 4))
        append((0, 4))
        append((baseAttribute, 4), (byteCount, 4), (0, 4), (0, 4))
        append((0, 4), (map.count, 4), (byteCount - origin, 4), (0, 4))
        return Array(base[..<place]) + segment(0xE2, list) + base[place...] + map
    }

    /// Returns the offset of the first segment that is not an application segment.
    private static func place(_ base: Span<UInt8>) -> Int? {
        var segments = JPEGSegments()
        var place = segments.offset
        while let segment = try? segments.next(base) {
            guard (0xE0...0xEF).contains(segment.marker) else { return place }
            place = segments.offset
        }
        return nil
    }

    private static func segment(_ marker: UInt8, _ body: [UInt8]) -> [UInt8] {
        [0xFF, marker] + [UInt8](body.count + 2, byteCount: 2, .bigEndian) + body
    }
}
#endif
