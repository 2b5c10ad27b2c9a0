// SPDX-License-Identifier: Apache-2.0

/// A ZIP archive that is assembled record by record, so that tests can damage any of them.
public struct ZIPFile {
    public struct Entry {
        public var name: [UInt8]
        public var localName: [UInt8]?
        public var contents: [UInt8]
        /// The bytes as they are stored; `nil` for the contents.
        public var stored: [UInt8]?
        public var method = 0
        public var flags = 0x800
        public var checksum: UInt32
        /// The size in the directory; `nil` for that of the contents.
        public var byteCount: Int?
        /// The attributes of Unix.
        public var mode = 0o100644

        public init(_ name: String, _ contents: [UInt8]) {
            self.name = Array(name.utf8)
            self.contents = contents
            checksum = plainCRC32(contents)
        }
    }

    public var entries: [Entry] = []
    public var comment: [UInt8] = []
    public var prefix: [UInt8] = []
    /// The number of entries in the record at the end; `nil` for the actual one.
    public var entryCount: Int?
    /// Whether sizes and offsets are in the records of ZIP64.
    public var isZIP64 = false

    /// An archive of entries.
    public init(entries: [Entry] = []) { self.entries = entries }

    public var bytes: [UInt8] {
        var file: [UInt8] = prefix
        var directory: [UInt8] = []
        for entry in entries {
            let offset = file.count - prefix.count
            let stored = entry.stored ?? entry.contents
            let byteCount = entry.byteCount ?? entry.contents.count
            let localName = entry.localName ?? entry.name
            file += little(0x0403_4B50, 4) + little(45, 2) + little(entry.flags, 2)
            file += little(entry.method, 2) + little(0, 4) + little(Int(entry.checksum), 4)
            file += little(stored.count, 4) + little(byteCount, 4)
            file += little(localName.count, 2) + little(0, 2) + localName + stored
            let extra =
                isZIP64
                ? little(1, 2) + little(24, 2) + little(byteCount, 8) + little(stored.count, 8)
                    + little(offset, 8) : []
            directory += little(0x0201_4B50, 4) + little(3 << 8 | 45, 2) + little(45, 2)
            directory += little(entry.flags, 2) + little(entry.method, 2) + little(0, 4)
            directory += little(Int(entry.checksum), 4)
            directory += little(isZIP64 ? 0xFFFF_FFFF : stored.count, 4)
            directory += little(isZIP64 ? 0xFFFF_FFFF : byteCount, 4)
            directory += little(entry.name.count, 2) + little(extra.count, 2) + little(0, 2)
            directory += little(0, 2) + little(0, 2) + little(entry.mode << 16, 4)
            directory += little(isZIP64 ? 0xFFFF_FFFF : offset, 4) + entry.name + extra
        }
        let offset = file.count - prefix.count
        let count = entryCount ?? entries.count
        file += directory
        if isZIP64 {
            let place = file.count - prefix.count
            file += little(0x0606_4B50, 4) + little(44, 8) + little(45, 2) + little(45, 2)
            file += little(0, 4) + little(0, 4) + little(count, 8) + little(count, 8)
            file += little(directory.count, 8) + little(offset, 8)
            file += little(0x0706_4B50, 4) + little(0, 4) + little(place, 8) + little(1, 4)
        }
        let short = isZIP64 ? 0xFFFF : count
        file += little(0x0605_4B50, 4) + little(0, 4) + little(short, 2) + little(short, 2)
        file += little(isZIP64 ? 0xFFFF_FFFF : directory.count, 4)
        file += little(isZIP64 ? 0xFFFF_FFFF : offset, 4)
        return file + little(comment.count, 2) + comment
    }
}

private func little(_ value: Int, _ byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

/// The checksum bit by bit.
private func plainCRC32(_ bytes: [UInt8]) -> UInt32 {
    var remainder = UInt32.max
    for byte in bytes {
        remainder ^= UInt32(byte)
        for _ in 0..<8 { remainder = remainder >> 1 ^ (remainder & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    return ~remainder
}
