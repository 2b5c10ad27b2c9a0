// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Turns a JPEG file without decoding it, by the orientation in its EXIF metadata.
///
/// - SeeAlso: CIPA DC-008 4.6.4 (tag 274, Orientation); T.81 B.1.1.
package enum JPEGOrientation {
    /// Returns the edit that turns an image by a quarter.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - clockwise: whether the image turns to the right.
    /// - Returns: `nil` if the file is no JPEG file, or its EXIF metadata has no place for the
    ///   orientation.
    package static func turning(_ file: [UInt8], clockwise: Bool) -> FileEdit? {
        guard file.starts(with: [0xFF, 0xD8, 0xFF]) else { return nil }
        var position = 2
        var insertion = 2
        while let marker = integer(file, at: position),
            0xFFE0...0xFFEF ~= marker || marker == 0xFFFE,
            let length = integer(file, at: position + 2), length >= 2
        {
            let body = position + 4
            let end = position + 2 + length
            if marker == 0xFFE1, end <= file.count,
                file[body..<end].starts(with: Array("Exif\0\0".utf8))
            {
                return edit(file, exif: body + 6..<end, clockwise)
            }
            // A JFIF segment stays the first one.
            if marker == 0xFFE0, position == 2 { insertion = end }
            position = end
        }
        guard insertion <= file.count else { return nil }
        return FileEdit(
            range: insertion..<insertion, bytes: segment(turned(1, clockwise: clockwise)))
    }

    /// Returns the orientation after a quarter turn.
    static func turned(_ orientation: Int, clockwise: Bool) -> Int {
        for cycle in [[1, 6, 3, 8], [2, 7, 4, 5]] {
            guard let index = cycle.firstIndex(of: orientation) else { continue }
            return cycle[(index + (clockwise ? 1 : 3)) % 4]
        }
        return clockwise ? 6 : 8
    }

    /// Returns the edit of the orientation in EXIF metadata.
    private static func edit(
        _ file: [UInt8], exif: Range<Int>, _ clockwise: Bool
    ) -> FileEdit? {
        let block = file.span.extracting(exif)
        guard let layout = TIFFLayout(block),
            let directory = layout.directory(block, at: layout.firstDirectory(block)),
            let entry = directory.entry(.orientation), entry.type == 3,
            let orientation = directory.integer(entry, block)
        else { return nil }
        let start = exif.lowerBound + entry.valueOffset
        return FileEdit(
            range: start..<start + 2,
            bytes: layout.integerBytes(turned(orientation, clockwise: clockwise), 2))
    }

    /// A segment with EXIF metadata that contains the orientation alone.
    private static func segment(_ orientation: Int) -> [UInt8] {
        [0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM\0*".utf8)
            + [0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0]
    }

    private static func integer(_ file: [UInt8], at offset: Int) -> Int? {
        file.span.integer(at: offset, byteCount: 2, .bigEndian)
    }
}
