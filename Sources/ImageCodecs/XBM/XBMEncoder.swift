// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Encodes black and white with Floyd–Steinberg dithering.
struct XBMEncoder: ImageEncoder {
    func encode(_ image: PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> [UInt8] {
        let hasAlpha = image.format.hasAlpha
        let image = image.convertedFromYCbCr().converted(to: hasAlpha ? .rgba8 : .gray8)
        let size = image.size
        var file: [UInt8] = []
        file.reserveCapacity((size.width + 7) / 8 * size.height * 6 + 100)
        file += Array("#define image_width \(size.width)\n".utf8)
        file += Array("#define image_height \(size.height)\n".utf8)
        file += Array("static unsigned char image_bits[] = {".utf8)

        var gray = [UInt8](repeating: 0, count: size.width)
        // The errors of this row and the next in sixteenths, with a margin of one column on each
        // side.
        var errors = [Int](repeating: 0, count: size.width + 2)
        var written = 0
        for y in 0..<size.height {
            Self.compositeOverWhite(image.row(y), hasAlpha: hasAlpha, into: &gray)
            var next = [Int](repeating: 0, count: size.width + 2)
            var ahead = 0
            var byte: UInt8 = 0
            for x in 0..<size.width {
                let wanted = Int(gray[x]) * 16 + ahead + errors[x + 1]
                let isBlack = wanted < 2_040
                let error = (wanted - (isBlack ? 0 : 4_080)) / 16
                ahead = error * 7
                next[x] += error * 3
                next[x + 1] += error * 5
                next[x + 2] += error
                if isBlack { byte |= 1 << UInt8(x & 7) }
                if x & 7 == 7 || x == size.width - 1 {
                    Self.append(
                        byte, isFirst: written == 0, startsLine: written % 12 == 0, to: &file)
                    byte = 0
                    written += 1
                }
            }
            errors = next
        }
        return file + Array("\n};\n".utf8)
    }

    private static func append(
        _ byte: UInt8, isFirst: Bool, startsLine: Bool, to file: inout [UInt8]
    ) {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
        if !isFirst { file.append(0x2C) }
        file.append(startsLine ? 0x0A : 0x20)
        if startsLine { file += [0x20, 0x20, 0x20] }
        file += [0x30, 0x78, digit(byte >> 4), digit(byte & 15)]
    }

    private static func compositeOverWhite(
        _ row: Span<UInt8>, hasAlpha: Bool, into gray: inout [UInt8]
    ) {
        guard hasAlpha else {
            for x in gray.indices { gray[x] = row[x] }
            return
        }
        var opaque = [UInt8](repeating: 0, count: row.count / 4 * 3)
        var pixels = opaque.mutableSpan
        PremultipliedAlpha.compositeOverWhite(row, into: &pixels)
        var result = gray.mutableSpan
        opaque.span.convert(from: .rgb8, to: .gray8, into: &result)
    }
}
