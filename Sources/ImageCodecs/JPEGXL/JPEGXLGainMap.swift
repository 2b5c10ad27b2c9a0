// SPDX-License-Identifier: Apache-2.0

#if JPEGXL
internal import EncodedImages

/// The gain map of a JPEG XL file: the box `jhgm` of its container.
///
/// The box contains a version, the metadata of ISO 21496-1, the colour space of the alternate image as
/// code points or as a compressed ICC profile, and the map as a codestream.
/// - SeeAlso: libjxl, `jxl/gain_map.h`.
enum JPEGXLGainMap {
    static let boxType = "jhgm"

    /// Returns whether a file has the box, compressed (`brob`) or not.
    static func isPresent(in file: Span<UInt8>) -> Bool {
        guard file.count > 12, file[0] == 0 else { return false }
        var reader = BoxReader(0..<file.count)
        while let box = reader.next(file) {
            if box.type == boxType { return true }
            if box.type == "brob", file.text(at: box.start, byteCount: 4) == boxType {
                return true
            }
        }
        return false
    }

    /// Returns a file with a gain map.
    ///
    /// - Parameters:
    ///   - base: a file without a map.
    ///   - map: the map, a codestream without a container.
    /// - Returns: `nil` if the map is in a container.
    static func joined(_ base: [UInt8], _ map: GainMap) -> [UInt8]? {
        guard map.file.starts(with: codestreamMark) else { return nil }
        let metadata = map.metadata.isoBytes
        var contents: [UInt8] = [0] + [UInt8](metadata.count, byteCount: 2, .bigEndian) + metadata
        // Neither code points nor a profile.
        contents += [0, 0, 0, 0, 0]
        return container(base) + BoxWriter.box(boxType, contents + map.file)
    }

    private static let codestreamMark: [UInt8] = [0xFF, 0x0A]

    /// Returns a file as a container, in which all boxes state their length (ISO/IEC 18181-2, 9).
    private static func container(_ file: [UInt8]) -> [UInt8] {
        guard !file.starts(with: codestreamMark) else {
            return BoxWriter.box("JXL ", [0x0D, 0x0A, 0x87, 0x0A])
                + BoxWriter.box("ftyp", Array("jxl \0\0\0\0jxl ".utf8))
                + BoxWriter.box("jxlc", file)
        }
        var file = file
        var reader = BoxReader(0..<file.count)
        var last: BoxReader.Box?
        while let box = reader.next(file.span) { last = box }
        // The length 0 stands for all bytes to the end.
        if let last, file.span.integer(at: last.range.lowerBound, byteCount: 4) == 0 {
            file.set(last.range.count, at: last.range.lowerBound, byteCount: 4, .bigEndian)
        }
        return file
    }

    /// Reads the contents of the box; `nil` if they are damaged or of another version.
    static func map(_ contents: Span<UInt8>) -> GainMap? {
        guard contents.integer(at: 0, byteCount: 1) == 0,
            let metadataByteCount = contents.integer(at: 1, byteCount: 2)
        else { return nil }
        var offset = 3 + metadataByteCount
        guard let colorByteCount = contents.integer(at: offset, byteCount: 1),
            let metadata = GainMapMetadata(iso: (3..<offset).map { contents[$0] })
        else { return nil }
        offset += 1 + colorByteCount
        guard let profileByteCount = contents.integer(at: offset, byteCount: 4) else { return nil }
        offset += 4 + profileByteCount
        guard offset < contents.count else { return nil }
        return GainMap(metadata, file: (offset..<contents.count).map { contents[$0] })
    }
}
#endif
