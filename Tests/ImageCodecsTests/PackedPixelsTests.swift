// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("Pixels of 16 bits") struct PackedPixelsTests {
    private static let sizes = [(1, 1), (7, 5), (64, 48), (203, 147)]
        .map { PixelSize(width: $0, height: $1) }

    private func file(_ image: PixelBuffer, _ format: String) throws -> [UInt8] {
        try ImageDestination(format: format, codecs: builtInCodecs).encode(image)
    }

    @Test(
        "are equal to those of an independent encoder",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: sizes, ["565", "555"])
    func raw(size: PixelSize, bits: String) throws {
        let image = TestImage.photograph(size)
        let python = try #require(PeerTool.python)
        let script = SampleFiles.packageDirectory.appending(path: "Tests/Peers/packed.py").path
        let expected = try withTemporaryFolder { folder in
            let path = folder.appending(path: "a.bmp")
            try Data(file(image, "bmp")).write(to: path)
            return try PeerTool.run(python, [script, path.path, bits])
        }
        let ours = try file(image, "rgb\(bits)")
        #expect(ours.count == size.area * 2)
        #expect(ours == expected)
    }

    @Test("have red in the highest bits and the lower byte first, over white") func layout()
        throws
    {
        let size = PixelSize(width: 1, height: 1)
        let colors: [([UInt8], UInt16, UInt16)] = [
            ([255, 0, 0, 255], 0xF800, 0x7C00), ([0, 255, 0, 255], 0x07E0, 0x03E0),
            ([0, 0, 255, 255], 0x001F, 0x001F), ([0, 0, 0, 255], 0, 0),
            ([9, 9, 9, 0], 0xFFFF, 0x7FFF), ([0, 0, 0, 128], 0x7BEF, 0x3DEF),
        ]
        for (color, in565, in555) in colors {
            let image = TestImage.flat(size, .rgba8, color)
            for (format, value) in [("rgb565", in565), ("rgb555", in555)] {
                #expect(
                    try file(image, format) == [UInt8(value & 255), UInt8(value >> 8)],
                    "\(color) as \(format)")
            }
        }
    }

    @Test(
        "are read from BMP by an independent decoder, each sample within a level",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"), arguments: sizes,
        ["565", "555"])
    func bitmap(size: PixelSize, bits: String) throws {
        let picture = TestImage.photograph(size)
        let bitmap = try file(picture, "bmp\(bits)")
        let theirs = try withTemporaryFolder { folder in
            let path = folder.appending(path: "a.bmp")
            try Data(bitmap).write(to: path)
            return try PeerTool.picture("decode.py", [path.path])
        }
        let comparison = PixelComparison(try #require(theirs), picture.asRGBA)
        #expect(comparison.maximumDifference <= 9, "\(comparison)")
        // The two decoders may round 5 bits to 8 differently.
        let ours = try ImageSource(EncodedBytes(bitmap), codecs: builtInCodecs)
        #expect(ours.format.name == "bmp")
        let image = try ours.image()
        #expect(PixelComparison(image.asRGBA, try #require(theirs)).maximumDifference <= 1)
        // The same pixels as without the file around them.
        #expect(try file(image, "rgb\(bits)").count == size.area * 2)
        let packed = try #require(PixelFormat(rawValue: "rgb\(bits)"))
        let raw = picture.converted(to: packed).converted(to: .rgb8)
        #expect(PixelComparison(image, raw).maximumDifference == 0)
    }

    @Test("are dithered between two levels") func dithered() throws {
        // A grey between two levels becomes a mixture of both in proportion.
        let size = PixelSize(width: 64, height: 64)
        let image = TestImage.flat(size, .gray8, [70])
        let file = try file(image, "rgb555")
        let blues = stride(from: 0, to: file.count, by: 2).map { Int(file[$0] & 31) }
        let mean = Double(blues.reduce(0, +)) / Double(blues.count)
        #expect(Set(blues) == [8, 9])
        #expect(abs(mean / 31 - 70.0 / 255) < 1.0 / 31 / 64)
    }

    @Test("of the raw forms cannot be decoded") func unreadable() throws {
        let file = try file(TestImage.photograph(PixelSize(width: 40, height: 30)), "rgb565")
        #expect(throws: CodecError.unknownFormat) {
            _ = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        }
        #expect(builtInCodecs.codec(named: "rgb565")?.canRead == false)
        #expect(builtInCodecs.codec(named: "bmp")?.canRead == true)
    }
}
