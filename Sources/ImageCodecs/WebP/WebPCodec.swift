// SPDX-License-Identifier: Apache-2.0

#if WebP
    internal import CWebP
#endif
internal import EncodedImages

extension ImageFormat {
    static let webP = ImageFormat(
        name: "webp", extensions: ["webp"], mediaType: "image/webp",
        signatures: [
            // Twelve bytes, of which the length in the middle is any.
            .init(Array("WEBPVP8".utf8), at: 8)
        ])
}

#if WebP
    /// WebP, lossy and lossless, with transparency and animation.
    ///
    /// A file is a RIFF container of chunks, each with a name of four letters, a length, a body and
    /// a byte that makes it even. A simple file has one, `VP8 ` (lossy, a key frame of that video
    /// format) or `VP8L` (lossless). An extended one begins with `VP8X`, the size of the canvas and
    /// what else there is: `ICCP`, `ALPH` (the transparency of a lossy picture), `ANIM` with an
    /// `ANMF` for each frame, and behind them `EXIF` and `XMP `. The container is read and
    /// written in Swift, pixels by libwebp. No side is longer than 16383 pixels.
    /// - SeeAlso: RFC 9649.
    struct WebPCodec: ImageCodec {
        let format = ImageFormat.webP
        let decoder: any ImageDecoder = WebPDecoder()
        let encoder: (any ImageEncoder)? = WebPEncoder()
    }
#endif

extension CodecEntry {
    static var webP: CodecEntry {
        #if WebP
            CodecEntry(WebPCodec(), preload: { _ = unsafe calotype_webp_missing() })
        #else
            CodecEntry(missing: .webP, trait: "WebP")
        #endif
    }
}
