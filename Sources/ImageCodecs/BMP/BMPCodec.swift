// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// BMP, the bitmap of Windows and OS/2, in every variant that is known to be in use.
///
/// A file is a file header of 14 bytes, `BM` and where the pixels begin; a bitmap header whose
/// length tells its version; masks of bits or a palette; and rows from the bottom up, each padded to
/// four bytes, which are read from the end of the file so that they come from the top.
///
/// - 12 bytes: OS/2 1.x. 16 to 64: OS/2 2.x. 40: Windows 3, with 52 and 56 as later additions of
///   masks. 108: version 4, with a calibrated colour space. 124: version 5, with an ICC profile.
/// - Pixels: an index of 1, 2, 4 or 8 bits, 16, 24 or 32 bits of colour, cut up by masks of any width,
///   or 64 bits of linear light as GDI+ writes them. Masks of more than 8 bits give 16-bit samples.
/// - Compression: runs (RLE4, RLE8, RLE24), 1-bit lines as fax machines send them (OS/2's Huffman),
///   or a whole JPEG or PNG file. Pixels that runs skip are transparent.
///
/// Alpha counts only where a mask names it. Written are 8-bit greys, 24-bit colours and, with alpha,
/// 32 bits with masks, the latter as version 5, as is any picture with an ICC profile.
/// - SeeAlso: Jason Summers, *BMP Suite*, whose pictures say how each variant is to look;
///   Microsoft, “Bitmap Storage”, *Win32 API*.
struct BMPCodec: ImageCodec {
    let format = ImageFormat(
        name: "bmp", extensions: ["bmp", "dib"], mediaType: "image/bmp",
        signatures: [.init(Array("BM".utf8)), .init(Array("BA".utf8))])
    let decoder: any ImageDecoder = BMPDecoder()
    let encoder: (any ImageEncoder)? = BMPEncoder()

    /// Two letters are little, so the length of the bitmap header must make sense too.
    func recognizedByteCount(_ file: Span<UInt8>) -> Int {
        guard let start = BMPFileHeader.bitmapFileHeaderOffset(file),
            let headerByteCount = file.littleEndian32(at: start + 14),
            (12...255).contains(headerByteCount)
        else { return 0 }
        return 2 + 3
    }
}

extension CodecEntry {
    static var bmp: CodecEntry { CodecEntry(BMPCodec()) }
}
