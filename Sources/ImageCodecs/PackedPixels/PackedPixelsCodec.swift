// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Pictures of 16 bits a pixel for small displays and what drives them; written only.
///
/// The raw forms, `rgb565` and `rgb555`, are the pixels and nothing else, as they go into the memory of a
/// display: two bytes each, the lower first, row by row from the top, without padding; red has the
/// highest bits. A file does not say its size, so that nothing can read it again. The others,
/// `bmp565` and `bmp555`, are BMP files of the same pixels, and read as BMP.
///
/// What is transparent is laid over white, and the few levels are dithered in the fixed pattern of
/// ``Pixels/Dithering/ordered``: each level is ⌊v × top ÷ 255 + (2m + 1) ÷ 128⌋ with top 31 or 63 and m
/// Bayer's matrix of 8 by 8 at the pixel's place.
struct PackedPixelsCodec: ImageCodec {
    enum Container {
        case raw
        case bmp
    }

    let format: ImageFormat
    let decoder: any ImageDecoder = RefusingDecoder(.unknownFormat)
    let encoder: (any ImageEncoder)?

    /// - Parameters:
    ///   - container: what stands around the pixels.
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

/// Writes pixels of 16 bits and nothing else.
private struct RawPixelsEncoder: ImageEncoder {
    let format: PixelFormat

    func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8] {
        let image = image.laidOverWhite().converted(to: format)
        var file: [UInt8] = []
        file.reserveCapacity(image.size.area * 2)
        for y in 0..<image.size.height { file.appendLittleEndian16(image.row(y)) }
        return file
    }
}

extension CodecEntry {
    static var packedPixels: CodecEntry {
        CodecEntry(
            PackedPixelsCodec(.raw, .rgb565), PackedPixelsCodec(.raw, .rgb555),
            PackedPixelsCodec(.bmp, .rgb565), PackedPixelsCodec(.bmp, .rgb555))
    }
}
