// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import CPNG
#endif
internal import EncodedImages

let pngFormat = ImageFormat(
    name: "png", extensions: ["png"], mediaType: "image/png",
    signatures: [.init([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])])

#if PNG
/// PNG (ISO/IEC 15948), all colour types and bit depths.
///
/// A file is a signature and a sequence of chunks, each with a length, a type, data and a CRC.
/// The `IDAT` chunks contain one zlib stream of scanlines, each preceded by its filter type.
/// Inflating takes two thirds of a decoder's time, so ISA-L does it; chunks, filters and
/// samples are decoded in Swift, row by row. libpng encodes. 16-bit samples are rounded to 8
/// bits.
/// In an animation (`acTL`), an `fcTL` precedes each frame; frames after the first are in
/// `fdAT`.
struct PNGCodec: ImageCodec {
    /// The eight bytes before the first chunk.
    static let signature = pngFormat.signatures[0].bytes

    let format = pngFormat
    let decoder: any ImageDecoder = PNGDecoder()
    let encoder: (any ImageEncoder)? = PNGEncoder()
}
#endif

var pngEntry: CodecEntry {
    #if PNG
    CodecEntry(PNGCodec(), encoderPreload: { _ = unsafe calotype_png_writer_missing() })
    #else
    CodecEntry(missing: pngFormat, trait: "PNG")
    #endif
}
