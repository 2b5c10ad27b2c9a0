// SPDX-License-Identifier: Apache-2.0

#if AVIF
internal import CAVIF
#endif
internal import EncodedImages

let avifFormat = ImageFormat(
    name: "avif", extensions: ["avif", "avifs"], mediaType: "image/avif",
    signatures: [.init(brand: "avif"), .init(brand: "avis")])

#if AVIF
/// AVIF (AV1 Image File Format): AV1 images in an ISO base media file.
///
/// The `ftyp` box contains the major brand and the compatible brands, `avif` for images and
/// `avis` for sequences. `meta` lists items and their properties: size (`ispe`), colour
/// (`colr`, an ICC profile or code points of ITU-T H.273), clean aperture (`clap`), rotation
/// and mirroring (`irot`, then `imir`). Alpha is an auxiliary image; EXIF and XMP are metadata
/// items. A sequence is a track in `moov`. EXIF's orientation is ignored (ISO/IEC 23000-22,
/// MIAF).
///
/// libavif reads and writes, with dav1d and libaom. AV1 has no reduced-size decoding; the rows
/// of the planes are passed to the resampler, or converted to RGB one at a time.
struct AVIFCodec: ImageCodec {
    let format = avifFormat
    let decoder: any ImageDecoder = AVIFDecoder()
    let encoder: (any ImageEncoder)? = AVIFEncoder()

    func recognizedByteCount(_ file: Span<UInt8>) -> Int {
        // One byte more than HEIF, whose brands are mostly listed in such files as well.
        BoxReader.recognizedByteCount(file, brands: ["avif", "avis"]) > 0 ? 13 : 0
    }
}
#endif

var avifEntry: CodecEntry {
    #if AVIF
    var entry = CodecEntry(AVIFCodec(), preload: { _ = unsafe calotype_avif_missing() })
    // libavif loads four codecs.
    entry.needsOwnProcess = true
    return entry
    #else
    CodecEntry(missing: avifFormat, trait: "AVIF")
    #endif
}
