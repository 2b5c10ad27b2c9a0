// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Encodes an icon with one entry: 32 bits with an AND mask, or PNG if a side has 256 pixels.
struct ICOEncoder: ImageEncoder {
    static let largestSide = 256

    func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8] {
        let size = image.size
        guard size.largestSide <= Self.largestSide else {
            throw .unsupported(
                feature: "icon of \(size) pixels; the largest side is \(Self.largestSide)")
        }
        let entry = try entry(image, options)
        var file: [UInt8] = []
        file.appendLittleEndian16(0, 1, 1)
        // 0 means 256.
        file += [UInt8(truncatingIfNeeded: size.width), UInt8(truncatingIfNeeded: size.height)]
        file.appendLittleEndian16(0, 1, 32)
        file.appendLittleEndian32(entry.count, 22)
        return file + entry
    }

    private func entry(
        _ image: PixelBuffer, _ options: EncodeOptions
    ) throws(CodecError) -> [UInt8] {
        #if PNG
        // Few decoders support bitmaps of that size.
        if image.size.largestSide == Self.largestSide {
            return try PNGEncoder().encode(
                image.convertedFromYCbCr().converted(to: .rgba8), options)
        }
        #endif
        let image = image.convertedFromYCbCr().converted(to: .rgba8)
        let (width, height) = (image.size.width, image.size.height)
        var bytes: [UInt8] = []
        bytes.appendLittleEndian32(40, width, height * 2)
        bytes.appendLittleEndian16(1, 32)
        bytes.appendLittleEndian32(0, 0, 0, 0, 0, 0)
        BMPEncoder.appendRows(of: image, rowByteCount: width * 4, to: &bytes)
        for y in (0..<height).reversed() {
            let row = image.row(y)
            var mask = [UInt8](repeating: 0, count: (width + 31) / 32 * 4)
            for x in 0..<width where row[x * 4 + 3] == 0 {
                mask[x / 8] |= 0x80 >> UInt8(x & 7)
            }
            bytes += mask
        }
        return bytes
    }
}
