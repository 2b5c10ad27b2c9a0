// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

@Suite("The colours of an image") struct ProfileRouteTests {
    /// A profile with Display P3 primaries and a gamma of 2.2, by ICC.1:2001.
    static let wide: [UInt8] = {
        func number(_ value: Int) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        }
        func place(_ x: Double, _ y: Double, _ z: Double) -> [UInt8] {
            Array("XYZ \0\0\0\0".utf8)
                + [x, y, z].flatMap { number(Int(($0 * 65_536).rounded()) & 0xFFFF_FFFF) }
        }
        let power = Array("curv\0\0\0\0".utf8) + number(1) + [2, 51, 0, 0]
        let name = Array("wide\0".utf8)
        var description = Array("desc\0\0\0\0".utf8)
        description += number(name.count)
        description += name
        description += [UInt8](repeating: 0, count: 79)
        let tags: [(String, [UInt8])] = [
            ("desc", description),
            ("cprt", Array("text\0\0\0\0none\0\0\0\0".utf8)),
            ("wtpt", place(0.9642, 1, 0.82491)), ("rXYZ", place(0.51512, 0.2412, -0.00105)),
            ("gXYZ", place(0.29198, 0.69225, 0.04189)), ("bXYZ", place(0.1571, 0.06657, 0.78407)),
            ("rTRC", power), ("gTRC", power), ("bTRC", power),
        ]
        var table = number(tags.count)
        var data: [UInt8] = []
        for (name, bytes) in tags {
            table += Array(name.utf8) + number(132 + tags.count * 12 + data.count)
            table += number(bytes.count)
            data += bytes + [UInt8](repeating: 0, count: -bytes.count & 3)
        }
        var header = [UInt8](repeating: 0, count: 128)
        func put(_ bytes: [UInt8], at offset: Int) {
            header.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
        put(number(128 + table.count + data.count), at: 0)
        put([2, 0x10, 0, 0] + Array("mntrRGB XYZ ".utf8), at: 8)
        put(Array("acsp".utf8), at: 36)
        put([0xF6D6, 0x10000, 0xD32D].flatMap(number), at: 68)
        return header + table + data
    }()

    private static let base = SampleFiles.packageDirectory
        .appending(path: "Corpus/jpeg/valid/baseline-444.jpg")

    /// The same image without a profile in `plain.jpg`, and with one in `wide.jpg`.
    private static func gallery() throws -> TestGallery {
        let gallery = try TestGallery { $0.imgproxy = ImgproxyKeys() }
        let file = Array(try Data(contentsOf: base))
        let block = Array("ICC_PROFILE\0".utf8) + [1, 1] + wide
        let length = block.count + 2
        let segment = [0xFF, 0xE2, UInt8(length >> 8), UInt8(length & 255)] + block
        try gallery.file("plain.jpg", file)
        try gallery.file("wide.jpg", Array(file[..<2]) + segment + Array(file[2...]))
        return gallery
    }

    private static func image(_ answer: Answer) throws -> PixelBuffer {
        #expect(answer.status == 200, "\(answer.text.prefix(200))")
        var options = DecodeOptions()
        options.convertsToSRGB = false
        return try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).image(options)
    }

    @Test(
        "are converted to sRGB as by Pillow",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func converted() async throws {
        let gallery = try Self.gallery()
        let image = try Self.image(try await gallery.get("/4096x4096,png/wide.jpg"))
        #expect(image.colorProfile == .sRGB)
        let path = gallery.folder.appending(path: "wide.jpg").path
        let expected = try #require(try PeerTool.image("srgb.py", [path]))
        let comparison = PixelComparison(image, expected)
        #expect(comparison.maximumDifference <= 3, "\(comparison)")
        let plain = try Self.image(try await gallery.get("/4096x4096,png/plain.jpg"))
        #expect(PixelComparison(image, plain).maximumDifference > 10)
    }

    @Test("keep the profile with the profile option") func kept() async throws {
        let gallery = try Self.gallery()
        let image = try Self.image(try await gallery.get("/4096x4096,png,profile/wide.jpg"))
        let plain = try Self.image(try await gallery.get("/4096x4096,png/plain.jpg"))
        #expect(image.colorProfile == .icc(Self.wide))
        #expect(PixelComparison(image, plain).maximumDifference == 0)
        let same = try await gallery.get("/_/scp:0/f:png/plain/wide.jpg")
        #expect(try Self.image(same).colorProfile == .icc(Self.wide))
    }

    @Test(
        "are described by the profile in all formats that support one",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: ["jpeg", "png", "webp", "tiff", "avif"])
    func formats(format: String) async throws {
        let gallery = try Self.gallery()
        let answer = try await gallery.get("/64x64,\(format),profile/wide.jpg")
        #expect(answer.status == 200)
        let path = gallery.outside.appending(path: "answer").path
        try Data(answer.body).write(to: URL(filePath: path))
        let script = """
            import sys; from PIL import Image
            sys.stdout.buffer.write(Image.open(sys.argv[1]).info["icc_profile"])
            """
        let python = try #require(PeerTool.python)
        #expect(try PeerTool.run(python, ["-c", script, path]).map { Array($0) } == Self.wide)
    }

    @Test(
        "are converted to sRGB in formats without profiles",
        arguments: ["gif", "qoi", "png,gray", "rgb565"])
    func noRoom(options: String) async throws {
        let gallery = try Self.gallery()
        let answer = try await gallery.get("/64x64,\(options),profile/wide.jpg")
        #expect(answer.status == 200)
        let usual = try await gallery.get("/64x64,\(options)/wide.jpg")
        #expect(answer.body == usual.body)
        let other = try await gallery.get("/64x64,\(options)/plain.jpg")
        #expect(answer.body != other.body)
    }

    @Test("are unchanged by the profile option without a profile") func plain() async throws {
        let gallery = try Self.gallery()
        let answer = try await gallery.get("/64x64,profile/plain.jpg")
        #expect(answer.status == 200)
        let usual = try await gallery.get("/64x64/plain.jpg")
        #expect(answer.body == usual.body)
    }
}
