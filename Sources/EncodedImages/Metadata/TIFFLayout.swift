// SPDX-License-Identifier: Apache-2.0

/// The byte order and the offset width of a TIFF file, or of an EXIF block, which has its structure.
///
/// - SeeAlso: TIFF 6.0, section 2; Adobe, *BigTIFF Design*.
package struct TIFFLayout: Hashable, Sendable {
    package let byteOrder: ByteOrder
    /// Whether counts and offsets have 64 bits, as in BigTIFF, instead of 32.
    package let isBig: Bool

    package init(_ byteOrder: ByteOrder, isBig: Bool = false) {
        self.byteOrder = byteOrder
        self.isBig = isBig
    }

    /// The layout of a block with 32-bit offsets; `nil` unless it begins with `II` or `MM`.
    package init?(_ block: Span<UInt8>) {
        guard block.count >= 8, block[0] == block[1], block[0] == 0x49 || block[0] == 0x4D else {
            return nil
        }
        self.init(block[0] == 0x49 ? .littleEndian : .bigEndian)
    }

    /// The first bytes of a block, whose first directory is at offset 8.
    package var blockHeader: [UInt8] {
        let mark: UInt8 = byteOrder == .littleEndian ? 0x49 : 0x4D
        return [mark, mark] + integerBytes(42, 2) + integerBytes(8, 4)
    }

    /// The length of an offset, and of the number of values of an entry, in bytes.
    package var offsetByteCount: Int { isBig ? 8 : 4 }
    /// The length of the number of entries before a directory, in bytes.
    package var entryCountByteCount: Int { isBig ? 8 : 2 }
    /// The length of an entry in bytes: tag, type, number of values, and value or offset.
    package var entryByteCount: Int { isBig ? 20 : 12 }
    /// The offset of the offset of the first directory.
    package var firstDirectoryPlace: Int { isBig ? 8 : 4 }

    /// The offset of the first directory, or 0 if the bytes do not contain it.
    package func firstDirectory(_ bytes: Span<UInt8>) -> Int {
        integer(bytes, at: firstDirectoryPlace, offsetByteCount) ?? 0
    }

    /// Returns an unsigned integer; `nil` if it does not lie within the bytes or exceeds `Int`.
    package func integer(_ bytes: Span<UInt8>, at offset: Int, _ byteCount: Int) -> Int? {
        bytes.integer(at: offset, byteCount: byteCount, byteOrder)
    }

    /// Returns the lowest bytes of an integer in this byte order.
    package func integerBytes(_ value: Int, _ byteCount: Int) -> [UInt8] {
        [UInt8](value, byteCount: byteCount, byteOrder)
    }

    /// Reads the directory at an offset; `nil` if the bytes end before it.
    package func directory(_ bytes: Span<UInt8>, at offset: Int) -> TIFFDirectory? {
        TIFFDirectoryOutline(self, bytes, at: offset).map { TIFFDirectory($0, bytes) }
    }
}
