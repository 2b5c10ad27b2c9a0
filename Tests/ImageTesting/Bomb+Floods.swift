// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

extension Bomb {
    /// Headers that declare more pixels than memory can hold.
    static let floods: [Bomb] = anySide(65_535) + anySide(0x7FFF_FFFF) + boundedSide

    private static func anySide(_ side: Int) -> [Bomb] {
        [
            flood("png", side) { png(side, side) },
            flood("bmp", side) { bmp(side) },
            // The maximum width of strips in libtiff.
            flood("tiff", min(side, 1 << 24)) { tiff(min(side, 1 << 24)) },
            flood("jp2", side) { jpeg2000(side) },
            flood("qoi", side) { qoi(side) },
            flood("avif", side) { itemFile("avif", [Item("av01")], size: side) },
            flood("heif", side) { itemFile("heic", [Item("hvc1")], size: side) },
        ]
    }

    /// The same for formats with few bits per side.
    private static let boundedSide: [Bomb] = [
        flood("gif", 65_535) { gif(65_535, frameCount: 1) },
        flood("jpeg", 65_535) { jpeg(65_535) },
        flood("webp", 65_535) { webp(65_535) },
        flood("webp", 1 << 24) { webp(1 << 24) },
        flood("jxl", 65_535) { jpegXL(65_535) },
        flood("jxl", 1 << 30) { jpegXL(1 << 30) },
        Bomb("ico of 65535 x 65535", .unsupported) { ico(png(65_535, 65_535)) },
        flood("xbm", 65_535) {
            Array("#define a_width 65535\n#define a_height 65535\n".utf8)
                + Array("static char a_bits[] = {0x00};\n".utf8)
        },
    ]

    private static func flood(
        _ format: String, _ side: Int, _ make: @escaping @Sendable () -> [UInt8]
    ) -> Bomb {
        Bomb(
            "\(format) of \(side) x \(side)",
            .limit(side > 65_535 ? .side : .pixelCount, at: .open), make)
    }

    static func png(_ width: Int, _ height: Int) -> [UInt8] {
        pngStart(width, height) + PNGFile.chunk("IDAT", zlib(zeroCount: 1000))
            + PNGFile.chunk("IEND", [])
    }

    static func pngStart(_ width: Int, _ height: Int) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + PNGFile.chunk("IHDR", .big(width) + .big(height) + [8, 0, 0, 0, 0])
    }

    private static func qoi(_ side: Int) -> [UInt8] {
        Array("qoif".utf8) + .big(side) + .big(side) + [4, 0, 0, 0, 0, 0]
    }

    private static func tiff(_ side: Int) -> [UInt8] {
        tiff([
            (256, 4, side), (257, 4, side), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8),
            (278, 4, side), (279, 4, 1),
        ])
    }

    private static func bmp(_ side: Int) -> [UInt8] {
        var file = Array("BM".utf8) + .little(58) + .little(0) + .little(54)
        file += .little(40) + .little(side) + .little(side) + .little(1, 2) + .little(24, 2)
        file += [UInt8](repeating: 0, count: 24)
        return file + [0, 0, 0, 0]
    }

    private static func ico(_ file: [UInt8]) -> [UInt8] {
        [0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 32, 0] + .little(file.count) + .little(22) + file
    }

    private static func jpeg(_ side: Int) -> [UInt8] {
        [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8] + .big(side, 2) + .big(side, 2)
            + [1, 1, 0x11, 0, 0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0, 0xFF, 0xD9]
    }

    private static func jpeg2000(_ side: Int) -> [UInt8] {
        var file: [UInt8] = [0xFF, 0x4F, 0xFF, 0x51, 0, 41, 0, 0]
        file += .big(side) + .big(side) + .big(0) + .big(0)
        file += .big(side) + .big(side) + .big(0) + .big(0) + [0, 1, 7, 1, 1]
        file += [0xFF, 0x52, 0, 12, 0, 0, 0, 1, 0, 5, 4, 4, 0, 1, 0xFF, 0x5C, 0, 19, 0x40]
        file += [UInt8](repeating: 0x40, count: 16)
        return file + [0xFF, 0x90, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0x93, 0xFF, 0xD9]
    }

    private static func webp(_ side: Int) -> [UInt8] {
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
            Array(name.utf8) + .little(body.count) + body
        }
        let frame = chunk("VP8L", [0x2F, 0, 0, 0, 0, 0x88, 0x88, 0x08])
        let place = [UInt8](repeating: 0, count: 12) + [100, 0, 0, 0]
        let body =
            Array("WEBP".utf8)
            + chunk("VP8X", [2, 0, 0, 0] + .little(side - 1, 3) + .little(side - 1, 3))
            + chunk("ANIM", [0, 0, 0, 0, 0, 0]) + chunk("ANMF", place + frame)
        return chunk("RIFF", body)
    }

    /// A JPEG XL codestream: the signature and bit fields, least significant bit first.
    private static func jpegXL(_ side: Int) -> [UInt8] {
        var bits: [UInt8] = []
        func append(_ value: Int, _ count: Int) {
            for bit in 0..<count { bits.append(UInt8(value >> bit & 1)) }
        }
        append(0, 1)
        append(3, 2)
        append(side - 1, 30)
        append(0, 3)
        append(3, 2)
        append(side - 1, 30)
        // All image metadata has default values.
        append(3, 2)
        let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
            (0..<8).reduce(UInt8(0)) {
                start + $1 < bits.count ? $0 | bits[start + $1] << $1 : $0
            }
        }
        return [0xFF, 0x0A] + bytes + [UInt8](repeating: 0, count: 100)
    }
}
