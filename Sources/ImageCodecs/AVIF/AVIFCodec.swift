// SPDX-License-Identifier: Apache-2.0

#if AVIF
    internal import CAVIF
#endif
internal import EncodedImages

extension ImageFormat {
    static let avif = ImageFormat(
        name: "avif", extensions: ["avif", "avifs"], mediaType: "image/avif",
        signatures: [Signature(brand: "avif"), Signature(brand: "avis")])
}

#if AVIF
    /// AVIF (AV1 Image File Format): AV1 pictures in HEIF's boxes.
    ///
    /// The box `ftyp` names the brand, `avif` for pictures and `avis` for sequences, as its own or
    /// among those that the file is compatible with. `meta` lists items and gives them properties:
    /// size, colours (`colr`, an ICC profile or code points of H.273), the part that is shown
    /// (`clap`), how it is turned (`irot`, then `imir`); alpha, EXIF and XMP are items of their own.
    /// A sequence is a track in `moov`. EXIF's orientation says nothing here, as MIAF rules.
    ///
    /// libavif reads and writes, with dav1d and libaom. AV1 cannot be decoded smaller; the rows of
    /// its planes go to the resampler as they are, or joined to RGB one at a time.
    struct AVIFCodec: ImageCodec {
        let format = ImageFormat.avif
        let decoder: any ImageDecoder = AVIFDecoder()
        let encoder: (any ImageEncoder)? = AVIFEncoder()

        func recognizedByteCount(_ file: Span<UInt8>) -> Int {
            // A byte more than HEIF's, whose brands such files mostly name as well.
            BoxReader.recognizedByteCount(file, brands: ["avif", "avis"]) > 0 ? 13 : 0
        }
    }
#endif

extension CodecEntry {
    static var avif: CodecEntry {
        #if AVIF
            CodecEntry(AVIFCodec(), preload: { _ = unsafe calotype_avif_missing() })
        #else
            CodecEntry(missing: .avif, trait: "AVIF")
        #endif
    }
}
