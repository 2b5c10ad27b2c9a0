// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// QOI, the “quite OK image format”: lossless, nearly as small as PNG, and far simpler.
///
/// A file is a header of 14 bytes (`qoif`, width, height, the larger byte first, the number of
/// channels, the colour space), chunks of one to five bytes, and an end of seven zeros and a one.
/// A chunk says what comes next by the pixel before it and by a table of 64 pixels that were seen:
/// the same pixel for up to 62 times, one of the table, small differences, or the channels in full.
/// Alpha is straight. A file of linear light is read as such; what is written is taken for sRGB, as
/// there is no place for a profile.
/// - SeeAlso: Dominic Szablewski, *The Quite OK Image Format Specification*, version 1.0.
struct QOICodec: ImageCodec {
    let format = ImageFormat(
        name: "qoi", extensions: ["qoi"], mediaType: "image/qoi",
        signatures: [.init(Array("qoif".utf8))])
    let decoder: any ImageDecoder = QOIDecoder()
    let encoder: (any ImageEncoder)? = QOIEncoder()

    static let headerByteCount = 14
    /// What stands behind the last chunk.
    static let end: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]

    /// A pixel's place in the table; red is in the lowest byte.
    @inline(__always)
    static func place(of pixel: UInt32) -> Int {
        let red = pixel & 0xFF
        let green = pixel &>> 8 & 0xFF
        let blue = pixel &>> 16 & 0xFF
        return Int((red &* 3 &+ green &* 5 &+ blue &* 7 &+ (pixel &>> 24) &* 11) & 63)
    }
}

extension CodecEntry {
    static var qoi: CodecEntry { CodecEntry(QOICodec()) }
}
