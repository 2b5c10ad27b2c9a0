// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("ICO and CUR") struct ICOTests {
    static let own = SampleFiles.own("ico", "valid") + SampleFiles.own("cur", "valid")
    static let files = own + SampleFiles.real(extensions: ["ico", "cur"])

    private func open(_ file: URL) throws -> ImageSource {
        try ImageSource(try EncodedBytes(mapping: file.path), codecs: builtInCodecs)
    }

    private func sample(_ name: String) throws -> ImageSource {
        try open(try #require(Self.own.first { $0.lastPathComponent == name }))
    }

    /// The files that must be rejected; all others must be decoded.
    static let refused: Set<String> = [
        "cur_png_bomb.cur", "ico_png_bomb.ico", "bug778204.ico", "bug779012.ico",
        "bad-header.ico", "invalid.2.ico", "decompression_bomb.ico",
        "crash-981fee302fe0fc543ee48292cc3d6ace7e97e633.ico",
        // Icons of OS/2, another format.
        "1_Dollar.ICO", "Backup.ICO", "CDPlyr-2.ICO", "Drive_C.ICO",
    ]

    /// Files that Pillow decodes differently, and how.
    static let notForPillow: [String: String] = [
        "mask-32.ico": "takes no notice of the mask where no pixel has alpha",
        "two.cur": "chooses the first of two entries of one size, not the deepest",
        "mask_L.cur": "looks at no mask of a cursor",
    ]

    @Test("valid files are decoded, and the others are rejected", arguments: files)
    func shown(file: URL) throws {
        if Self.refused.contains(file.lastPathComponent) {
            #expect(throws: CodecError.self) { _ = try open(file).image() }
        } else {
            let source = try open(file)
            for page in 0..<source.header.pageCount {
                let entry = try source.page(page)
                #expect(try entry.image().size == entry.pixelSize)
            }
        }
    }

    @Test(
        "the largest image is equal to Pillow's",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: files.filter {
            !refused.contains($0.lastPathComponent) && notForPillow[$0.lastPathComponent] == nil
        })
    func pillow(file: URL) throws {
        let expected = try #require(try PeerTool.image("decode.py", [file.path]))
        let comparison = PixelComparison(try open(file).image().asRGBA, expected)
        #expect(comparison.maximumDifference == 0, "\(comparison)")
    }

    @Test("the AND mask hides pixels at every depth", arguments: [1, 4, 8, 24, 32])
    func mask(depth: Int) throws {
        let image = try sample("mask-\(depth).ico").image()
        let bytes = image.packedBytes
        let alpha = stride(from: 3, to: bytes.count, by: 4).map { bytes[$0] == 255 ? 1 : 0 }
        // Rows are stored bottom-up; set bits are transparent.
        #expect(alpha == [1, 1, 1, 1, 0, 0, 0, 0] + [0, 1, 1, 1, 1, 1, 1, 0])
        if depth == 32 { #expect(Array(bytes[..<3]) == [136, 132, 128]) }
    }

    @Test("a cursor has a hot spot, and its deepest entry comes first")
    func cursor() throws {
        let source = try sample("two.cur")
        #expect(source.format.name == "cur")
        #expect(source.header.facts.contains(.init("hot spot", "3,1")))
        #expect(source.header.bitsPerComponent == 8)
        #expect(try source.page(1).header.bitsPerComponent == 1)
        #expect(throws: CodecError.self) { _ = try source.page(2) }
    }

    @Test("the smallest sufficient entry is decoded", arguments: ["bmp", "png"])
    func choice(kind: String) throws {
        let source = try sample("three-\(kind).ico")
        #expect(source.header.pageCount == 3)
        for (side, page) in [(32, 0), (25, 0), (24, 1), (17, 1), (16, 2), (5, 2)] {
            let options = DecodeOptions(maximumSide: side)
            let entry = try source.page(page)
            let comparison = PixelComparison(
                try source.image(options),
                try entry.image().resampled(to: source.resultSize(options)))
            #expect(comparison.maximumDifference <= 1, "\(side): \(comparison)")
        }
    }

    @Test("an icon of 256 pixels contains a PNG file, a larger one is rejected")
    func writing() throws {
        let destination = try ImageDestination(format: "ico", codecs: builtInCodecs)
        for (width, kind) in [(255, "BMP"), (256, "PNG")] {
            let image = TestImage.photograph(PixelSize(width: width, height: 30), .rgba8)
            let file = try destination.encode(image)
            let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
            #expect(source.header.facts.contains(.init("entry", kind)))
            #expect(PixelComparison(try source.image(), image).maximumDifference == 0)
        }
        let large = TestImage.flat(PixelSize(width: 2, height: 257), .gray8, [0])
        #expect(
            throws: CodecError.unsupported(feature: "icon of 2x257 pixels; the largest side is 256")
        ) {
            _ = try destination.encode(large)
        }
    }

    @Test("damaged and truncated files end in an image or an error", arguments: own)
    func damaged(file: URL) throws {
        let whole = Array(try Data(contentsOf: file))
        var random = SeededRandom(seed: 5)
        for round in 0..<200 {
            var bytes = whole
            if round < 60 {
                bytes.removeLast(Int.random(in: 0..<whole.count, using: &random))
            } else {
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    let most = round < 140 ? min(80, bytes.count) : bytes.count
                    bytes[Int.random(in: 0..<most, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                }
            }
            do throws(CodecError) {
                let source = try ImageSource(EncodedBytes(bytes), codecs: builtInCodecs)
                #expect(try source.image(DecodeOptions(maximumSide: 8)).size.largestSide <= 8)
            } catch {}
        }
    }
}
