// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

extension ImageFormat {
    static let jpeg = ImageFormat(
        name: "jpeg", extensions: ["jpg", "jpeg", "jpe", "jfif"], mediaType: "image/jpeg",
        signatures: [Signature([0xFF, 0xD8, 0xFF])])
}

#if JPEG
    /// JPEG (ITU-T T.81), with the JFIF, Exif and Adobe markers that real files carry.
    ///
    /// A file is a list of segments: a marker of two bytes, the second not 0 or 255, and mostly a
    /// length and a body. `SOF` states the size and how it is coded, `SOS` is followed by entropy
    /// coded data up to the next marker. The header is read in Swift, and so are the pixels
    /// of a smaller picture (``ShrinkingDecoder``); all others are read by libjpeg-turbo.
    struct JPEGCodec: ImageCodec {
        let format = ImageFormat.jpeg
        let decoder: any ImageDecoder = JPEGDecoder()
        let encoder: (any ImageEncoder)? = JPEGEncoder()
    }
#endif

extension CodecEntry {
    static var jpeg: CodecEntry {
        #if JPEG
            CodecEntry(JPEGCodec())
        #else
            CodecEntry(missing: .jpeg, trait: "JPEG")
        #endif
    }
}
