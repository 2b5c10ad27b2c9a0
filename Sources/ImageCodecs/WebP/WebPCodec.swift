// SPDX-License-Identifier: Apache-2.0

#if WebP
internal import CWebP
#endif
internal import EncodedImages

let webPFormat = ImageFormat(
    name: "webp", extensions: ["webp"], mediaType: "image/webp",
    signatures: [
        // Bytes 8 to 14; the RIFF length before them varies.
        .init(Array("WEBPVP8".utf8), at: 8)
    ])

#if WebP
/// WebP, lossy and lossless, with transparency and animation.
///
/// A file is a RIFF container of chunks, each with a FourCC, a length, a payload and padding to
/// an even length. A simple file has one chunk, `VP8 ` (lossy, a VP8 key frame) or `VP8L`
/// (lossless). An extended file begins with `VP8X`, the canvas size and feature flags. It may
/// contain `ICCP`, `ALPH` (the alpha of a lossy image), `ANIM` with an `ANMF` per frame, `EXIF`
/// and `XMP `. The container is parsed and written in Swift, the bitstreams are coded by
/// libwebp. No side exceeds 16383 pixels.
/// - SeeAlso: RFC 9649.
struct WebPCodec: ImageCodec {
    let format = webPFormat
    let decoder: any ImageDecoder = WebPDecoder()
    let encoder: (any ImageEncoder)? = WebPEncoder()
}
#endif

var webPEntry: CodecEntry {
    #if WebP
    CodecEntry(WebPCodec(), preload: { _ = unsafe calotype_webp_missing() })
    #else
    CodecEntry(missing: webPFormat, trait: "WebP")
    #endif
}
