// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Encodes uncompressed 8-bit grey, 24-bit colour, 32 bits with alpha, or 16-bit colour.
struct BMPEncoder: ImageEncoder {
    /// ``Pixels/PixelFormat/rgb565`` or ``Pixels/PixelFormat/rgb555`` for 16-bit pixels.
    var packedFormat: PixelFormat?

    /// Displays use packed pixels as they are, without colour management.
    var writesColorProfiles: Bool { packedFormat == nil }

    func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8] {
        let image =
            packedFormat.map { image.compositedOverWhite().converted(to: $0) }
            ?? image.converted(to: image.format.withIntegerSamples)
        let size = image.size
        let format = writtenFormat(of: image)
        let bitsPerPixel = format.bytesPerPixel * 8
        let masks = BMPMasks.stated(for: format)
        let profile = image.colorProfile.iccBytes(isGray: format == .gray8) ?? []
        let isVersion5 = !profile.isEmpty || format == .rgba8
        let headerByteCount = isVersion5 ? 124 : 40
        // Masks follow a header that has no fields for them.
        let tableByteCount = format == .gray8 ? 1024 : masks != nil && !isVersion5 ? 12 : 0
        let dataOffset = 14 + headerByteCount + tableByteCount
        let rowByteCount = (size.width * bitsPerPixel + 31) / 32 * 4
        let dataByteCount = rowByteCount * size.height
        let byteCount = dataOffset + dataByteCount + profile.count
        guard byteCount <= Int(UInt32.max), size.largestSide <= Int(Int32.max) else {
            throw .unsupported(feature: "BMP of 4 GiB or more")
        }

        var file: [UInt8] = []
        file.reserveCapacity(byteCount)
        file += Array("BM".utf8)
        file.appendLittleEndian32(byteCount, 0, dataOffset)
        file.appendLittleEndian32(headerByteCount, size.width, size.height)
        file.appendLittleEndian16(1, bitsPerPixel)
        // 72 pixels per inch, as most encoders write.
        file.appendLittleEndian32(masks == nil ? 0 : 3, dataByteCount, 2835, 2835, 0, 0)
        if isVersion5 {
            for mask in (masks ?? BMPMasks(red: 0, green: 0, blue: 0)).all {
                file.appendLittleEndian32(Int(mask))
            }
            let space = profile.isEmpty ? BMPColorSpace.sRGB : BMPColorSpace.embedded
            file.appendLittleEndian32(Int(space))
            file += Array(repeating: 0, count: 48)
            // `LCS_GM_IMAGES`: the perceptual intent.
            file.appendLittleEndian32(
                4, profile.isEmpty ? 0 : headerByteCount + tableByteCount + dataByteCount,
                profile.count, 0)
        } else if let masks {
            file.appendLittleEndian32(Int(masks.red), Int(masks.green), Int(masks.blue))
        }
        if format == .gray8 {
            for gray in 0..<256 { file.appendLittleEndian32(gray * 0x01_01_01) }
        }
        if packedFormat == nil {
            Self.appendRows(of: image.converted(to: format), rowByteCount: rowByteCount, to: &file)
        } else {
            for y in (0..<size.height).reversed() {
                file.appendLittleEndian16(image.row(y))
                file += Array(repeating: 0, count: rowByteCount - size.width * 2)
            }
        }
        return file + profile
    }

    /// Returns the pixel format of the file.
    private func writtenFormat(of image: PixelBuffer) -> PixelFormat {
        switch packedFormat ?? image.format.with8BitChannels {
        case .gray8: .gray8
        case .rgba8, .alpha8: .rgba8
        case .rgb565: .rgb565
        case .rgb555: .rgb555
        default: .rgb8
        }
    }

    /// Appends the rows bottom-up with straight alpha.
    ///
    /// - Parameters:
    ///   - image: 8-bit grey, RGB or RGBA.
    ///   - rowByteCount: the bytes of a row with its padding.
    ///   - file: the bytes to which the rows are appended.
    static func appendRows(of image: PixelBuffer, rowByteCount: Int, to file: inout [UInt8]) {
        let channelCount = image.format.channelCount
        var row = [UInt8](repeating: 0, count: rowByteCount)
        for y in (0..<image.size.height).reversed() {
            let source = image.row(y)
            for index in source.indices { row[index] = source[index] }
            var span = row.mutableSpan
            if channelCount == 4 { PremultipliedAlpha.divide(&span) }
            if channelCount >= 3 {
                for pixel in stride(from: 0, to: source.count, by: channelCount) {
                    let red = span[pixel]
                    span[pixel] = span[pixel + 2]
                    span[pixel + 2] = red
                }
            }
            file += row
        }
    }
}
