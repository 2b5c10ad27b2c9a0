// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// BMP, the bitmap of Windows and OS/2, in all variants known to be in use.
///
/// A file consists of a file header of 14 bytes (`BM` and the offset of the pixels), a bitmap
/// header (DIB header) whose length identifies its version, bit masks or a colour table, and rows.
/// Rows are stored bottom-up by default, padded to four bytes; they are read from the end of the
/// file, so that they are delivered from the top.
///
/// - 12 bytes: OS/2 1.x. 16 to 64: OS/2 2.x. 40: Windows 3, with 52 and 56 as later additions of
///   masks. 108: version 4, with a calibrated colour space. 124: version 5, with an ICC profile.
/// - Pixels: indices of 1, 2, 4 or 8 bits, colours of 16, 24 or 32 bits with masks of any width, or
///   64 bits of linear light as GDI+ writes them. Masks of more than 8 bits produce 16-bit samples.
/// - Compression: run lengths (RLE4, RLE8, RLE24), or an embedded JPEG or PNG file; OS/2's Huffman
///   1D is not supported. Pixels that RLE skips are transparent.
///
/// Alpha is used only if a mask specifies it. The encoder writes 8-bit grey, 24-bit colour and,
/// with alpha, 32 bits with masks. Images with alpha or an ICC profile get a version 5 header.
/// - SeeAlso: Jason Summers, *BMP Suite*, which specifies how each variant should look; Microsoft,
///   “Bitmap Storage”, *Win32 API*.
struct BMPCodec: ImageCodec {
    let format = ImageFormat(
        name: "bmp", extensions: ["bmp", "dib"], mediaType: "image/bmp",
        signatures: [.init(Array("BM".utf8)), .init(Array("BA".utf8))])
    let decoder: any ImageDecoder = BMPDecoder()
    let encoder: (any ImageEncoder)? = BMPEncoder()

    /// The two-byte signature is ambiguous, so the length of the bitmap header must be valid too.
    func recognizedByteCount(_ file: Span<UInt8>) -> Int {
        guard let start = BMPFileHeader.bitmapFileHeaderOffset(file),
            let headerByteCount = file.littleEndian32(at: start + 14),
            (12...255).contains(headerByteCount)
        else { return 0 }
        return 2 + 3
    }
}

let bmpEntry = CodecEntry(BMPCodec())
