// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// No signature, because the file begins like any JPEG file.
let jpngFormat = ImageFormat(
    name: "jpng", extensions: ["jpng"], mediaType: "image/x-jpng", signatures: [])

#if JPEG && PNG
/// JPNG: a JPEG file of colours, a PNG file of alpha, and a footer with their lengths.
///
/// Programs without JPNG support show the colours. The footer has 16 bytes, little-endian: the
/// lengths of the two files and of the footer, a version, and the name in reverse. A file is
/// recognized only if the lengths add up to its size.
///
/// Colours are straight. Writers before version 1.2, identified by a misspelled name,
/// composited them over white; decoding reverses this. Profile and orientation are those of the
/// JPEG file. For reduced images both files are decoded at a reduced size.
///
/// The encoder writes straight colours and extends them beyond the visible edge to the end of
/// the JPEG blocks, which avoids ringing.
/// - SeeAlso: Nick Lockwood, *JPNG*, `JPNG.h` and `README.md`.
struct JPNGCodec: ImageCodec {
    let format = jpngFormat
    let decoder: any ImageDecoder = JPNGDecoder()
    let encoder: (any ImageEncoder)? = JPNGEncoder()

    /// Returns more than the three bytes of the JPEG signature.
    func recognizedByteCount(_ file: Span<UInt8>) -> Int {
        JPNGFooter(file) == nil ? 0 : 3 + JPNGFooter.byteCount
    }
}
#endif

/// Nothing unless both halves of a file can be decoded.
var jpngEntry: CodecEntry {
    #if JPEG && PNG
    CodecEntry(JPNGCodec())
    #else
    CodecEntry()
    #endif
}
