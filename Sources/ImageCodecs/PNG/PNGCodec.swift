// SPDX-License-Identifier: Apache-2.0

#if PNG
    internal import CPNG
#endif
internal import EncodedImages

extension ImageFormat {
    static let png = ImageFormat(
        name: "png", extensions: ["png"], mediaType: "image/png",
        signatures: [Signature([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])])
}

#if PNG
    /// PNG (ISO/IEC 15948), all colour types and depths.
    ///
    /// A file is a signature and a list of chunks, each with a length, a type, a body and a
    /// checksum; `IDAT` chunks hold one zlib stream of rows, each row filtered by its neighbours.
    /// Inflating is two thirds of a decoder's time, so it is ISA-L's, and chunks, filters and
    /// samples are read here, row by row; libpng writes. Samples of 16 bits are rounded to 8.
    /// An animation (`acTL`) has a `fcTL` before each frame, and frames behind the first in `fdAT`.
    struct PNGCodec: ImageCodec {
        /// The bytes before the first chunk.
        static let signature = ImageFormat.png.signatures[0].bytes

        let format = ImageFormat.png
        let decoder: any ImageDecoder = PNGDecoder()
        let encoder: (any ImageEncoder)? = PNGEncoder()
    }
#endif

extension CodecEntry {
    static var png: CodecEntry {
        #if PNG
            CodecEntry(PNGCodec(), preload: { _ = unsafe calotype_png_writer_missing() })
        #else
            CodecEntry(missing: .png, trait: "PNG")
        #endif
    }
}
