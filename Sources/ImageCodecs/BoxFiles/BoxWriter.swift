// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Writes the boxes of an ISO base media file, which ``BoxReader`` reads.
enum BoxWriter {
    /// Returns a box, with a header of 8 bytes unless it needs the extended length.
    static func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
        let length = body.count + 8
        guard length <= UInt32.max else {
            return [UInt8](1, byteCount: 4, .bigEndian) + Array(type.utf8)
                + [UInt8](length + 8, byteCount: 8, .bigEndian) + body
        }
        return [UInt8](length, byteCount: 4, .bigEndian) + Array(type.utf8) + body
    }

    /// Returns a box with a version and flags.
    static func fullBox(
        _ type: String, _ body: [UInt8], version: Int = 0, flags: Int = 0
    ) -> [UInt8] {
        let versionAndFlags = version << 24 | flags
        return box(type, [UInt8](versionAndFlags, byteCount: 4, .bigEndian) + body)
    }
}
