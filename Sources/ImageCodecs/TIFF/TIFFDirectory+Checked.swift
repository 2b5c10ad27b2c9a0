// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import EncodedImages

extension TIFFLayout {
    /// Reads the header of a TIFF or BigTIFF file.
    init(header bytes: Span<UInt8>) throws(CodecError) {
        guard bytes.count >= 8 else { throw .truncated(byteCount: bytes.count) }
        let isLittleEndian = bytes[0] == 0x49
        let isBig = bytes[isLittleEndian ? 2 : 3] == 43
        self.init(isLittleEndian ? .littleEndian : .bigEndian, isBig: isBig)
        guard isBig else { return }
        if bytes.count < 16 { throw .truncated(byteCount: bytes.count) }
        let width = integer(bytes, at: 4, 2) ?? 0
        guard width == 8 else {
            throw .malformed(
                reason: "BigTIFF offsets of \(width) bytes instead of 8", offset: 4)
        }
        guard integer(bytes, at: firstDirectoryPlace, offsetByteCount) != nil else {
            throw .malformed(
                reason: "the offset of the first directory exceeds 2^63", offset: 8)
        }
    }
}

extension TIFFDirectoryOutline {
    /// Directories written by programs have 20 entries, those of cameras 100.
    static let maximumEntryCount = 4096

    /// Reads the outline of a directory that lies within the file.
    ///
    /// - Throws: ``CodecError/truncated(byteCount:)`` if the file ends before the directory does, or
    ///   ``CodecError/malformed(reason:offset:)``.
    init(
        checking layout: TIFFLayout, _ bytes: Span<UInt8>, at offset: Int
    ) throws(CodecError) {
        guard offset >= 8 else {
            throw .malformed(reason: "directory within the header, at \(offset)", offset: 4)
        }
        guard let outline = TIFFDirectoryOutline(layout, bytes, at: offset) else {
            throw .truncated(byteCount: bytes.count)
        }
        guard (1...Self.maximumEntryCount).contains(outline.statedEntryCount) else {
            throw .malformed(
                reason: "directory of \(outline.statedEntryCount) entries; 1 to "
                    + "\(Self.maximumEntryCount) are supported", offset: offset)
        }
        guard outline.isWhole else { throw .truncated(byteCount: bytes.count) }
        self = outline
    }

    /// Whether it describes a reduced version of another image, or a transparency mask.
    func isSubordinate(_ bytes: Span<UInt8>) -> Bool {
        for index in 0..<entryCount {
            guard let entry = entry(index, bytes),
                entry.tag == .newSubfileType || entry.tag == .subfileType
            else { continue }
            let value = layout.integer(
                bytes, at: entry.offset + 4 + layout.offsetByteCount, entry.type == 3 ? 2 : 4)
            // NewSubfileType: bit 0 for reduced, bit 2 for a mask. SubfileType: 2 for reduced.
            return entry.tag == .newSubfileType ? (value ?? 0) & 5 != 0 : value == 2
        }
        return false
    }
}

extension TIFFDirectory {
    /// Reads a directory that lies within the file.
    ///
    /// - Throws: ``CodecError/truncated(byteCount:)`` if the file ends before the directory does, or
    ///   ``CodecError/malformed(reason:offset:)``.
    init(
        checking layout: TIFFLayout, _ bytes: Span<UInt8>, at offset: Int
    ) throws(CodecError) {
        self.init(try TIFFDirectoryOutline(checking: layout, bytes, at: offset), bytes)
    }

    /// The bytes of the value of an entry; `nil` if it is missing, empty or not all there.
    func range(_ tag: TIFFTag) -> Range<Int>? {
        entry(tag).flatMap { $0.value.isEmpty ? nil : $0.value }
    }
}
#endif
