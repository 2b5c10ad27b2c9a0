// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// The first 14 bytes of a file.
struct BMPFileHeader {
    /// Where the bitmap header begins.
    let bitmapHeaderOffset: Int
    /// Where the pixels begin, as stated.
    let dataOffset: Int
    /// The bytes of the file, as stated; many writers state nonsense.
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

    /// Where `BM` stands: at the start, or behind the head of an OS/2 bitmap array (`BA`), of whose
    /// bitmaps the first is read.
    static func bitmapFileHeaderOffset(_ file: Span<UInt8>) -> Int? {
        func isName(_ second: UInt8, at offset: Int) -> Bool {
            file.count >= offset + 2 && file[offset] == 0x42 && file[offset + 1] == second
        }
        if isName(0x4D, at: 0) { return 0 }
        return isName(0x41, at: 0) && isName(0x4D, at: 14) ? 14 : nil
    }
}
