// SPDX-License-Identifier: Apache-2.0

#if JPEGXL
internal import CJPEGXL
#endif
internal import EncodedImages

let jpegXLFormat = ImageFormat(
    name: "jxl", extensions: ["jxl"], mediaType: "image/jxl",
    signatures: [
        // The start of a bare codestream, and the first box of a container.
        .init([0xFF, 0x0A]),
        .init([0, 0, 0, 12] + Array("JXL ".utf8) + [13, 10, 0x87, 10]),
    ])

#if JPEGXL
/// JPEG XL (ISO/IEC 18181), as a bare codestream or in a container with EXIF and XMP.
///
/// Pixels are coded losslessly (modular mode), as DCT coefficients in the XYB colour space
/// (VarDCT mode), or as the coefficients of a JPEG file, which can be reconstructed bit for bit
/// (``JPEGXLTranscoding``). Colours are specified by enumerated values or an ICC profile; XYB
/// images are decoded to a profile that the decoder chooses. The orientation of the codestream
/// is applied; EXIF's is ignored.
///
/// libjxl 0.7 reads and writes. It decodes whole images only, so their memory is checked
/// against the limits.
struct JPEGXLCodec: ImageCodec {
    let format = jpegXLFormat
    let decoder: any ImageDecoder = JPEGXLDecoder()
    let encoder: (any ImageEncoder)? = JPEGXLEncoder()
}
#endif

var jpegXLEntry: CodecEntry {
    #if JPEGXL
    var entry = CodecEntry(
        JPEGXLCodec(), preload: { _ = unsafe calotype_jxl_reader_missing() })
    // libhwy measures the resolution of the clock when it is loaded.
    entry.needsOwnProcess = true
    return entry
    #else
    CodecEntry(missing: jpegXLFormat, trait: "JPEGXL")
    #endif
}
