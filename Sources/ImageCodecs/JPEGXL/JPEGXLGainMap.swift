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
