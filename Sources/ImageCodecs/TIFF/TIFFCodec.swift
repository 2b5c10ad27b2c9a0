// SPDX-License-Identifier: Apache-2.0

#if TIFF
internal import CTIFF
#endif
internal import EncodedImages

let tiffFormat = ImageFormat(
    name: "tiff", extensions: ["tif", "tiff", "btf", "tf8"], mediaType: "image/tiff",
    signatures: [
        .init(Array("II*\0".utf8)), .init(Array("MM\0*".utf8)),
        .init(Array("II+\0".utf8)), .init(Array("MM\0+".utf8)),
    ])

#if TIFF
/// TIFF 6.0 with its usual extensions, and BigTIFF.
///
/// A file is a chain of directories (IFDs). Each is a list of tagged entries that describe an
/// image: a page, or a reduced version of the page before. Pixels are stored in strips or tiles,
/// which are compressed separately. This codec reads and checks directories itself, so that
/// reading a header needs no library and libtiff opens no invalid directory. libtiff decompresses
/// by row or by row of tiles; this codec converts the samples. A reduced version that is large
/// enough is decoded instead of its page.
struct TIFFCodec: ImageCodec {
    let format = tiffFormat
    let decoder: any ImageDecoder = TIFFDecoder()
    let encoder: (any ImageEncoder)? = TIFFEncoder()
}
#endif

var tiffEntry: CodecEntry {
    #if TIFF
    CodecEntry(TIFFCodec(), preload: { _ = unsafe calotype_tiff_missing() })
    #else
    CodecEntry(missing: tiffFormat, trait: "TIFF")
    #endif
}
