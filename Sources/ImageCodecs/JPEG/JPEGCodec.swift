// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

let jpegFormat = ImageFormat(
    name: "jpeg", extensions: ["jpg", "jpeg", "jpe", "jfif"], mediaType: "image/jpeg",
    signatures: [.init([0xFF, 0xD8, 0xFF])])

#if JPEG
/// JPEG (ITU-T T.81), with JFIF, Exif and Adobe markers.
///
/// A file is a sequence of marker segments (T.81 B.1.1.4): a two-byte marker, and mostly a
/// length and a body. `SOF` specifies the size and the coding; `SOS` is followed by
/// entropy-coded data up to the next marker. The header is parsed in Swift. Reduced images are
/// decoded in Swift as well (``ShrinkingDecoder``), all others by libjpeg-turbo.
struct JPEGCodec: ImageCodec {
    let format = jpegFormat
    let decoder: any ImageDecoder = JPEGDecoder()
    let encoder: (any ImageEncoder)? = JPEGEncoder()
}
#endif

var jpegEntry: CodecEntry {
    #if JPEG
    CodecEntry(JPEGCodec())
    #else
    CodecEntry(missing: jpegFormat, trait: "JPEG")
    #endif
}
