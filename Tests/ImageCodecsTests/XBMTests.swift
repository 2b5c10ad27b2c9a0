// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("XBM") struct XBMTests {
    private func open(_ text: String) throws -> ImageSource {
        try ImageSource(EncodedBytes(Array(text.utf8)), codecs: builtInCodecs)
    }

    @Test(
        "set bits are black, unlike Pillow's, and everything else is equal",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: SampleFiles.real(extensions: ["xbm"])
            .filter { $0.lastPathComponent != "xbm_dims.xbm" })
    func pillow(file: URL) throws {
        let inverted = try #require(try PeerTool.picture("decode.py", [file.path]))
        let expected = TestImage.make(inverted.size, .gray8) { x, y, _ in
            255 - inverted.row(y)[x * 4]
        }
        let image = try ImageSource(
            try EncodedBytes(mapping: file.path), codecs: builtInCodecs
        ).image()
        #expect(PixelComparison(image, expected).maximumDifference == 0)
    }

    @Test("comments, number bases and a hot spot are parsed as in C")
    func text() throws {
        let source = try open(
            """
            /* an arrow */
            #define arrow_width 10 // columns
            #define arrow_height 2
            #define arrow_x_hot 1
            #define arrow_y_hot 0
            static const unsigned char arrow_bits[4] = { 0x01, 02,
              255 /* all */ , 0X00 };
            """)
        #expect(source.header.facts.contains(.init("hot spot", "1,0")))
        let white = [UInt8](repeating: 255, count: 10)
        var first = white
        first[0] = 0
        first[9] = 0
        let second = [UInt8](repeating: 0, count: 8) + [255, 255]
        #expect(try source.image().packedBytes == first + second)
    }

    @Test("numbers in X10 files have 16 bits")
    func short() throws {
        let source = try open(
            """
            #define a_width 17
            #define a_height 1
            static short a_bits[] = { 0x8001, 0x0001 };
            """)
        let middle = [UInt8](repeating: 255, count: 14)
        #expect(try source.image().packedBytes == [0] + middle + [0, 0])
    }

    @Test("other text, and bitmaps with too few or too large numbers, are rejected")
    func refused() {
        let size = "#define a_width 9\n#define a_height 1\n"
        for text in [
            "#define width 9\nint main() {}\n", "#include <a_width>", size,
            size + "static char a_bits[] = { 0x00 };",
            size + "static char a_bits[] = { 0x100, 0 };",
            size + "static char a_bits[] = { 0x00, -1 };", size + "static char a_bits[] = { 0x00,",
            "#define a_width 9\nstatic char a_bits[] = { 0x00, 0 };",
            "#define a_width 99999999999999999999\n#define a_height 1\nchar a_bits[] = {0};",
        ] {
            #expect(throws: CodecError.self, "\(text)") { _ = try open(text).image(.strict) }
        }
    }

    @Test("dithering keeps the brightness and the whites")
    func dither() throws {
        let size = PixelSize(width: 64, height: 64)
        for gray in [0, 64, 128, 200, 255] as [UInt8] {
            let image = TestImage.flat(size, .gray8, [gray])
            let file = try ImageDestination(format: "xbm", codecs: builtInCodecs).encode(image)
            let bytes = try open(String(decoding: file, as: UTF8.self)).image().packedBytes
            #expect(bytes.allSatisfy { $0 == 0 || $0 == 255 })
            let mean = bytes.reduce(0) { $0 + Int($1) } / bytes.count
            #expect(abs(mean - Int(gray)) <= 4, "\(gray): \(mean)")
        }
        let clear = TestImage.flat(size, .rgba8, [0, 0, 0, 0])
        let file = try ImageDestination(format: "xbm", codecs: builtInCodecs).encode(clear)
        #expect(
            try open(String(decoding: file, as: UTF8.self)).image().packedBytes.allSatisfy {
                $0 == 255
            })
    }
}
