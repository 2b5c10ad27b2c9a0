// SPDX-License-Identifier: Apache-2.0

#if JPEG2000
internal import CJPEG2000
#endif
internal import EncodedImages

let jpeg2000Format = ImageFormat(
    name: "jpeg2000", extensions: ["jp2", "j2k", "jpx", "jpf", "j2c", "jpc", "jph"],
    mediaType: "image/jp2",
    signatures: [
        .init([0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
        .init([0xFF, 0x4F, 0xFF, 0x51]),
    ])

#if JPEG2000
/// JPEG 2000 (ISO/IEC 15444-1), as a JP2 file or a bare codestream.
///
/// A JP2 file is a sequence of boxes: `jp2h` defines the channels (colours, palette, alpha),
/// `uuid` boxes contain metadata, and `jp2c` the codestream. That has a main header (`SIZ`:
/// size, tiles and components; `COD`: the coding style) and the tile-parts with the coded
/// coefficients. Everything but the tiles is parsed in Swift. OpenJPEG decodes them one by one,
/// so a tiled image takes memory for a row of tiles. The wavelet contains the image at 1/2,
/// 1/4, … of its size; a smaller result is decoded from such a resolution level.
struct JPEG2000Codec: ImageCodec {
    let format = jpeg2000Format
    let decoder: any ImageDecoder = JPEG2000Decoder()
    let encoder: (any ImageEncoder)? = JPEG2000Encoder()
}
#endif

var jpeg2000Entry: CodecEntry {
    #if JPEG2000
    CodecEntry(JPEG2000Codec(), preload: { _ = unsafe calotype_j2k_missing() })
    #else
    CodecEntry(missing: jpeg2000Format, trait: "JPEG2000")
    #endif
}
