// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

extension ImageFormat {
    /// No signature: it begins as any JPEG file does.
    static let jpng = ImageFormat(
        name: "jpng", extensions: ["jpng"], mediaType: "image/x-jpng", signatures: [])
}

#if JPEG && PNG
    /// JPNG, a JPEG file of colours, a PNG file of alpha, and a footer that says where each is.
    ///
    /// Programs that know JPEG alone show the colours. The footer has 16 bytes: the lengths of the two,
    /// its own, a version and a name that the first writer wrote backwards, all with the smallest
    /// byte first; a file is one only if the lengths add up to it.
    ///
    /// Colours are straight, but those of writers before 1.2, told by a misspelled name, lie over
    /// white, which is taken away again. Profile and orientation are those of the JPEG file. A picture
    /// that is wanted smaller is decoded at a reduced size in both parts.
    ///
    /// What is written has straight colours, which reach beyond the edge of what can be seen to the
    /// end of the JPEG blocks there, so that no ringing comes in from behind it.
    /// - SeeAlso: Nick Lockwood, *JPNG*, `JPNG.h` and `README.md`.
    struct JPNGCodec: ImageCodec {
        let format = ImageFormat.jpng
        let decoder: any ImageDecoder = JPNGDecoder()
        let encoder: (any ImageEncoder)? = JPNGEncoder()

        /// More than the three bytes that speak for JPEG.
        func recognizedByteCount(_ file: Span<UInt8>) -> Int {
            JPNGFooter(file) == nil ? 0 : 3 + JPNGFooter.byteCount
        }
    }
#endif

extension CodecEntry {
    /// Nothing unless both halves of a file can be decoded.
    static var jpng: CodecEntry {
        #if JPEG && PNG
            CodecEntry(JPNGCodec())
        #else
            CodecEntry()
        #endif
    }
}
