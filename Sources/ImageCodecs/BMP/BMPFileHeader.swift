// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// The 14-byte file header.
struct BMPFileHeader {
    /// The offset of the bitmap header.
    let bitmapHeaderOffset: Int
    /// The offset of the pixels in the file header.
    let dataOffset: Int
    /// The file size in the file header; many encoders write a wrong one.
    let statedByteCount: Int

    init(_ file: Span<UInt8>) throws(CodecError) {
        guard let start = Self.bitmapFileHeaderOffset(file),
            let byteCount = file.littleEndian32(at: start + 2),
            let dataOffset = file.littleEndian32(at: start + 10)
        else { throw .truncated(byteCount: file.count) }
        bitmapHeaderOffset = start + 14
        statedByteCount = Int(byteCount)
        self.dataOffset = Int(dataOffset)
    }

    /// Returns the offset of `BM`: 0, or 14 after the header of an OS/2 bitmap array (`BA`), whose
    /// first bitmap is decoded.
    static func bitmapFileHeaderOffset(_ file: Span<UInt8>) -> Int? {
        func isName(_ second: UInt8, at offset: Int) -> Bool {
            file.count >= offset + 2 && file[offset] == 0x42 && file[offset + 1] == second
        }
        if isName(0x4D, at: 0) { return 0 }
        return isName(0x41, at: 0) && isName(0x4D, at: 14) ? 14 : nil
    }
}
