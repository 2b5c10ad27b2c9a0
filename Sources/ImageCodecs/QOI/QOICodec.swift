// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// QOI, the “Quite OK Image Format”: lossless, nearly as small as PNG, and far simpler.
///
/// A file is a header of 14 bytes (`qoif`, big-endian width and height, number of channels, colour
/// space), chunks of one to five bytes, and an end marker of seven zeros and a one.
/// A chunk encodes pixels relative to the previous one or to an array of 64 pixels seen before:
/// `QOI_OP_RUN` (up to 62 repetitions), `QOI_OP_INDEX`, `QOI_OP_DIFF`, `QOI_OP_LUMA`, `QOI_OP_RGB`
/// or `QOI_OP_RGBA`.
/// Alpha is straight. Files of linear light are read as such; written files are assumed to be sRGB,
/// because the format cannot contain a profile.
/// - SeeAlso: Dominic Szablewski, *The Quite OK Image Format Specification*, version 1.0.
struct QOICodec: ImageCodec {
    let format = ImageFormat(
        name: "qoi", extensions: ["qoi"], mediaType: "image/qoi",
        signatures: [.init(Array("qoif".utf8))])
    let decoder: any ImageDecoder = QOIDecoder()
    let encoder: (any ImageEncoder)? = QOIEncoder()

    static let headerByteCount = 14
    /// The end marker after the last chunk.
    static let endMarker: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]

    /// Returns the index position of a pixel; red is in the lowest byte.
    @inline(__always)
    static func indexPosition(of pixel: UInt32) -> Int {
        let red = pixel & 0xFF
        let green = pixel &>> 8 & 0xFF
        let blue = pixel &>> 16 & 0xFF
        return Int((red &* 3 &+ green &* 5 &+ blue &* 7 &+ (pixel &>> 24) &* 11) & 63)
    }
}

let qoiEntry = CodecEntry(QOICodec())
