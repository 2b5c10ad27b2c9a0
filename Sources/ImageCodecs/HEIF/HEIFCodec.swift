// SPDX-License-Identifier: Apache-2.0

#if HEIF
internal import CHEIF
#endif
internal import EncodedImages

let heifFormat = ImageFormat(
    name: "heic", extensions: ["heic", "heif", "hif", "heics", "heifs"],
    mediaType: "image/heic",
    signatures: heifBrands.map { .init(brand: $0) })

/// The brands of HEVC images, then those of images in any coding.
let heifBrands = [
    "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "mif2", "msf1",
]

#if HEIF
/// HEIF (ISO/IEC 23008-12), mostly with HEVC images, which phone cameras write as HEIC.
///
/// The `meta` box lists items: images, thumbnails, auxiliary images with alpha, EXIF, XMP, and
/// grids, whose tiles are items too. `iprp` assigns properties such as size (`ispe`), colour
/// (`colr`), clean aperture (`clap`), rotation (`irot`) and mirroring (`imir`), applied in the
/// listed order. Some cameras repeat the rotation in EXIF's orientation, which is ignored.
///
/// libheif decodes, with libde265. Top-level images are pages; the first is the primary item. A
/// sufficiently large thumbnail is decoded instead of the image. Of a sequence the still image
/// is decoded, if it has one.
struct HEIFCodec: ImageCodec {
    let format = heifFormat
    let decoder: any ImageDecoder = HEIFDecoder(page: 0)
    let encoder: (any ImageEncoder)? = nil

    func recognizedByteCount(_ file: Span<UInt8>) -> Int {
        BoxReader.recognizedByteCount(file, brands: Set(heifBrands))
    }
}
#endif

var heifEntry: CodecEntry {
    #if HEIF
    var entry = CodecEntry(HEIFCodec(), preload: { _ = unsafe calotype_heif_missing() })
    // libde265 computes tables when it is loaded.
    entry.needsOwnProcess = true
    return entry
    #else
    CodecEntry(missing: heifFormat, trait: "HEIF")
    #endif
}
