// SPDX-License-Identifier: Apache-2.0

/// Turns a JPEG file without decoding it, by the orientation in its EXIF metadata.
///
/// - SeeAlso: CIPA DC-008 4.6.4 (tag 274, Orientation); T.81 B.1.1.
package enum JPEGOrientation {
    /// A change of some bytes of a file.
    package struct Edit: Hashable, Sendable {
        /// The bytes that are replaced; empty to insert.
        package let range: Range<Int>
        /// The bytes that replace them.
        package let bytes: [UInt8]
    }

    /// Returns the edit that turns an image by a quarter.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - clockwise: whether the image turns to the right.
    /// - Returns: `nil` if the file is no JPEG file, or its EXIF metadata has no place for the
    ///   orientation.
    package static func turning(_ file: [UInt8], clockwise: Bool) -> Edit? {
        guard file.starts(with: [0xFF, 0xD8, 0xFF]) else { return nil }
        var position = 2
        var insertion = 2
        while let marker = integer(file, position, 2, isLittleEndian: false), marker >= 0xFFE0,
            marker <= 0xFFEF || marker == 0xFFFE,
            let length = integer(file, position + 2, 2, isLittleEndian: false), length >= 2
        {
            let body = position + 4
            if marker == 0xFFE1, file.dropFirst(body).starts(with: Array("Exif\0\0".utf8)) {
                return edit(file, tiff: body + 6, end: position + 2 + length, clockwise)
            }
            // A JFIF segment stays the first one.
            if marker == 0xFFE0, position == 2 { insertion = position + 2 + length }
            position += 2 + length
        }
        guard insertion <= file.count else { return nil }
        return Edit(
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

    private static func edit(
        _ file: [UInt8], tiff: Int, end: Int, _ clockwise: Bool
    ) -> Edit? {
        guard let order = integer(file, tiff, 2, isLittleEndian: false) else { return nil }
        let isLittleEndian = order == 0x4949
        guard let offset = integer(file, tiff + 4, 4, isLittleEndian: isLittleEndian),
            let count = integer(file, tiff + offset, 2, isLittleEndian: isLittleEndian)
        else { return nil }
        for index in 0..<count {
            let entry = tiff + offset + 2 + 12 * index
            guard entry + 12 <= end,
                let tag = integer(file, entry, 2, isLittleEndian: isLittleEndian),
                let type = integer(file, entry + 2, 2, isLittleEndian: isLittleEndian),
                let value = integer(file, entry + 8, 2, isLittleEndian: isLittleEndian)
            else { return nil }
            guard tag == 274, type == 3 else { continue }
            let new = UInt8(turned(value, clockwise: clockwise))
            return Edit(
                range: entry + 8..<entry + 10, bytes: isLittleEndian ? [new, 0] : [0, new])
        }
        return nil
    }

    /// A segment with EXIF metadata that contains the orientation alone.
    private static func segment(_ orientation: Int) -> [UInt8] {
        [0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM\0*".utf8)
            + [0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0]
    }

    private static func integer(
        _ file: [UInt8], _ position: Int, _ byteCount: Int, isLittleEndian: Bool
    ) -> Int? {
        guard position >= 0, position + byteCount <= file.count else { return nil }
        let bytes = file[position..<position + byteCount]
        return (isLittleEndian ? Array(bytes.reversed()) : Array(bytes))
            .reduce(0) { $0 << 8 | Int($1) }
    }
}
