// SPDX-License-Identifier: Apache-2.0

#if JPEGXL
    internal import CJPEGXL
#endif
internal import EncodedImages

extension ImageFormat {
    static let jpegXL = ImageFormat(
        name: "jxl", extensions: ["jxl"], mediaType: "image/jxl",
        signatures: [
            // A bare codestream, and the first box of a container.
            Signature([0xFF, 0x0A]),
            Signature([0, 0, 0, 12] + Array("JXL ".utf8) + [13, 10, 0x87, 10]),
        ])
}

#if JPEGXL
    /// JPEG XL (ISO/IEC 18181), as a bare codestream or in boxes with EXIF and XMP.
    ///
    /// Pixels are coded as they are (modular mode), as frequencies in colours of the format's own,
    /// XYB, or as the coefficients of the JPEG file from which they came, which can be made again to
    /// the byte (``JPEGXLTranscoding``). Colours are stated by code points or an ICC profile; pictures
    /// in XYB come out in what the decoder says. The codestream's orientation counts, EXIF's does not.
    ///
    /// libjxl 0.7 reads and writes. It decodes whole pictures only, so their memory is asked for.
    struct JPEGXLCodec: ImageCodec {
        let format = ImageFormat.jpegXL
        let decoder: any ImageDecoder = JPEGXLDecoder()
        let encoder: (any ImageEncoder)? = JPEGXLEncoder()
    }
#endif

extension CodecEntry {
    static var jpegXL: CodecEntry {
        #if JPEGXL
            CodecEntry(JPEGXLCodec(), preload: { _ = unsafe calotype_jxl_reader_missing() })
        #else
            CodecEntry(missing: .jpegXL, trait: "JPEGXL")
        #endif
    }
}
