// SPDX-License-Identifier: Apache-2.0

#if HEIF
    internal import CHEIF
#endif
internal import EncodedImages

extension ImageFormat {
    static let heif = ImageFormat(
        name: "heic", extensions: ["heic", "heif", "hif", "heics", "heifs"],
        mediaType: "image/heic",
        signatures: heifBrands.map { Signature(brand: $0) })

    /// HEVC pictures, then pictures in any coding.
    static let heifBrands = [
        "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "mif2", "msf1",
    ]
}

#if HEIF
    /// HEIF (ISO/IEC 23008-12), mostly with HEVC pictures, which cameras of telephones write as HEIC.
    ///
    /// The box `meta` lists items: pictures, their thumbnails, alpha, EXIF, XMP, and grids, whose
    /// tiles are items too. `iprp` gives them properties such as size (`ispe`), colours (`colr`),
    /// the part that is shown (`clap`), and how it is turned (`irot`, `imir`) in the order in which
    /// they are listed. Some cameras repeat the latter in EXIF's orientation, which says nothing here.
    ///
    /// libheif reads, with libde265. Pictures that stand side by side are pages; the first is the
    /// primary one. A thumbnail that is large enough stands for the picture. Sequences show their
    /// still picture, if they have one.
    struct HEIFCodec: ImageCodec {
        let format = ImageFormat.heif
        let decoder: any ImageDecoder = HEIFDecoder(page: 0)
        let encoder: (any ImageEncoder)? = nil

        func recognizedByteCount(_ file: Span<UInt8>) -> Int {
            BoxReader.recognizedByteCount(file, brands: Set(ImageFormat.heifBrands))
        }
    }
#endif

extension CodecEntry {
    static var heif: CodecEntry {
        #if HEIF
            CodecEntry(HEIFCodec(), preload: { _ = unsafe calotype_heif_missing() })
        #else
            CodecEntry(missing: .heif, trait: "HEIF")
        #endif
    }
}
