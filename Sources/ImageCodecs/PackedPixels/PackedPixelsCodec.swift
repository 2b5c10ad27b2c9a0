// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Images with 16 bits per pixel for small displays and their controllers; write-only.
///
/// The raw forms, `rgb565` and `rgb555`, contain only pixels, laid out as in display memory: two
/// little-endian bytes each, row by row from the top, without padding; red is in the highest bits.
/// They contain no size, so they cannot be decoded. The forms `bmp565` and `bmp555` are BMP files
/// of the same pixels, and are read as BMP.
///
/// Transparent pixels are composited over white. Colours are reduced with the ordered dither
/// ``Pixels/Dithering/ordered``: each level is ⌊v × top ÷ 255 + (2m + 1) ÷ 128⌋, where top is 31 or
/// 63 and m is the 8 × 8 Bayer matrix at the pixel's position.
struct PackedPixelsCodec: ImageCodec {
    enum Container {
        case raw
        case bmp
    }

    let format: ImageFormat
    let decoder: any ImageDecoder = RejectingDecoder(.unknownFormat)
    let encoder: (any ImageEncoder)?

    /// Creates a codec for one container and pixel format.
    ///
    /// - Parameters:
    ///   - container: the file format around the pixels.
    ///   - pixels: ``Pixels/PixelFormat/rgb565`` or ``Pixels/PixelFormat/rgb555``.
    init(_ container: Container, _ pixels: PixelFormat) {
        let isRaw = container == .raw
        let bits = pixels == .rgb565 ? "565" : "555"
        format = ImageFormat(
            name: (isRaw ? "rgb" : "bmp") + bits, extensions: [],
            mediaType: isRaw ? "application/octet-stream" : "image/bmp", signatures: [],
            isForDisplays: true)
        encoder = isRaw ? RawPixelsEncoder(format: pixels) : BMPEncoder(packedFormat: pixels)
    }
}

/// Encodes 16-bit pixels without a header.
private struct RawPixelsEncoder: ImageEncoder {
    let format: PixelFormat

    func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8] {
        let image = image.compositedOverWhite().converted(to: format)
        var file: [UInt8] = []
        file.reserveCapacity(image.size.area * 2)
        for y in 0..<image.size.height { file.appendLittleEndian16(image.row(y)) }
        return file
    }
}

var packedPixelsEntry: CodecEntry {
    CodecEntry(
        PackedPixelsCodec(.raw, .rgb565), PackedPixelsCodec(.raw, .rgb555),
        PackedPixelsCodec(.bmp, .rgb565), PackedPixelsCodec(.bmp, .rgb555))
}
