// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("BMP") struct BMPTests {
    static let files = SampleFiles.own("bmp", "valid") + SampleFiles.real(extensions: ["bmp"])

    /// The suite's reference images of its files, by the names of both; some are not included.
    static let references: [String: String] = [
        "pal1": "pal1", "pal1wb": "pal1", "pal1bg": "pal1bg", "pal2": "pal2",
        "pal2color": "pal2color", "pal4": "pal4", "pal8rletrns": "pal8rletrns",
        "pal4rlecut": "pal4rlecut", "pal8nonsquare": "pal8nonsquare-e", "pal8w124": "pal8w124",
        "pal8w125": "pal8w125", "pal8w126": "pal8w126", "rgb16": "rgb16", "rgb16bfdef": "rgb16",
        "rgb16faketrns": "rgb16", "rgb16-565pal": "rgb16-565", "rgb16-880": "rgb16-880",
        "rgb24": "rgb24", "rgb24largepal": "rgb24", "rgb24lprof": "rgb24", "rgb24prof": "rgb24",
        "rgb32": "rgb24", "rgb32bf": "rgb24", "rgb32bfdef": "rgb24", "rgb32h52": "rgb24",
        "rgb32-111110": "rgb24", "rgba16-5551": "rgba16-5551",
        "badplanes": "pal1", "badbitssize": "pal1", "badfilesize": "pal1", "baddens1": "pal1",
        "baddens2": "pal1",
    ]

    static let referenceFolders = ["bmpsuite/html", "pillow/images/bmp/html"]

    static func reference(_ file: URL) -> URL? {
        let name = file.deletingPathExtension().lastPathComponent
        return references[name].flatMap { reference in
            referenceFolders.flatMap { SampleFiles.real($0, extensions: ["png"]) }
                .first { $0.lastPathComponent == reference + ".png" }
        }
    }

    private func open(_ file: URL) throws -> ImageSource {
        try ImageSource(try EncodedBytes(mapping: file.path), codecs: builtInCodecs)
    }

    private func decode(_ file: URL, converted: Bool = false) throws -> PixelBuffer {
        var options = DecodeOptions()
        options.convertsToSRGB = converted
        return try open(file).image(options)
    }

    @Test(
        "files of BMP Suite are equal to its reference images",
        arguments: files.filter { reference($0) != nil })
    func suite(file: URL) throws {
        let expected = try decode(try #require(Self.reference(file)))
        let comparison = PixelComparison(try decode(file).asRGBA, expected.asRGBA)
        // The reference was rounded to 11 bits and to 8 from an image that is finer than both.
        let allowed = file.lastPathComponent == "rgb32-111110.bmp" ? 1 : 0
        #expect(comparison.maximumDifference <= allowed, "\(comparison)")
    }

    @Test(
        "a profile that swaps red and green is applied",
        arguments: files.filter { $0.lastPathComponent == "rgb24prof2.bmp" })
    func swappedProfile(file: URL) throws {
        let plain = try #require(Self.files.first { $0.lastPathComponent == "rgb24.bmp" })
        let expected = try decode(plain)
        #expect(PixelComparison(try decode(file), expected).maximumDifference > 200)
        // The curve of the profile is a power.
        let comparison = PixelComparison(try decode(file, converted: true), expected)
        #expect(comparison.maximumDifference <= 10, "\(comparison)")
    }

    /// Returns the integer at an offset in the 40-byte header.
    private static func field(_ file: URL, _ offset: Int) -> UInt8 {
        guard let bytes = try? EncodedBytes(mapping: file.path), bytes.count > 70 else { return 0 }
        return bytes.withBytes { $0[offset] }
    }

    private static let runFiles = files.filter { file in
        let compression = field(file, 30)
        let isRunLength = [1: 8, 2: 4, 4: 24][compression] == field(file, 28)
        return isRunLength && file.lastPathComponent != "bug776694.bmp"
    }

    @Test(
        "run-length encoding is decoded correctly",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"), arguments: runFiles
    )
    func runs(file: URL) throws {
        let expected = try #require(try PeerTool.image("bmp_runs.py", [file.path]))
        let comparison = PixelComparison(try decode(file).asRGBA, expected)
        #expect(comparison.maximumDifference == 0, "\(comparison)")
    }

    /// Files that Pillow decodes differently, and how; it also misreads runs that skip pixels.
    static let notForPillow: [String: String] = [
        "rgba16-5551.bmp": "takes the bit of alpha for nothing"
    ]

    @Test(
        "pixels are equal to Pillow's, where it can read the file",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: files.filter { file in
            notForPillow[file.lastPathComponent] == nil && !runFiles.contains(file)
        })
    func pillow(file: URL) throws {
        guard let expected = try PeerTool.image("decode.py", [file.path]),
            let image = try? decode(file).asRGBA
        else { return }
        // Pillow truncates when it scales 5 bits to 8.
        let allowed = Self.field(file, 28) == 16 ? 1 : 0
        let comparison = PixelComparison(image, expected)
        #expect(comparison.maximumDifference <= allowed, "\(comparison)")
    }

    @Test(
        "masks of any width scale to the nearest of 256 levels",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: files.filter { file in
            [3, 6].contains(field(file, 30)) && [16, 32].contains(field(file, 28))
                && file.lastPathComponent != "bug777315.bmp"
        })
    func masks(file: URL) throws {
        let expected = try #require(try PeerTool.image("bmp_fields.py", [file.path]))
        let comparison = PixelComparison(try decode(file).asRGBA, expected)
        // Wide samples are multiplied by alpha before they are rounded.
        let header = try open(file).header
        let allowed = header.bitsPerComponent > 8 && header.hasAlpha ? 1 : 0
        #expect(comparison.maximumDifference <= allowed, "\(comparison)")
    }

    /// The files that must be rejected; all others must be decoded.
    static let refused: Set<String> = [
        "badheadersize", "shortfile", "bmp_dims_max", "bmp_palette_lie", "cve-2015-4491",
        "bug776694", "bug777315", "decodecolormap", "Bad_badbitcount", "Bad_height", "badwidth",
        "l2rgb_read", "pal1hufflsb",
    ]

    @Test("valid files are decoded, and the others are rejected", arguments: files)
    func shown(file: URL) throws {
        let isRefused = Self.refused.contains(file.deletingPathExtension().lastPathComponent)
        if isRefused {
            #expect(throws: CodecError.self) { try open(file).image(.strict) }
        } else {
            #expect(!(try decode(file).size.isEmpty))
        }
    }

    @Test("damaged and truncated files end in an image or an error", arguments: files)
    func damaged(file: URL) throws {
        let whole = Array(try Data(contentsOf: file))
        guard whole.count < 10_000 else { return }
        var limits = DecodeLimits()
        limits.maximumPixelCount = 100_000
        var random = SeededRandom(seed: 11)
        for round in 0..<60 {
            var bytes = whole
            if round < 20 {
                bytes.removeLast(Int.random(in: 0..<whole.count, using: &random))
            } else {
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    let most = round < 40 ? min(150, bytes.count) : bytes.count
                    bytes[Int.random(in: 0..<most, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                }
            }
            var options = DecodeOptions(maximumSide: 8)
            options.acceptsTruncated = round & 1 == 1
            do throws(CodecError) {
                let source = try ImageSource(
                    EncodedBytes(bytes), codecs: builtInCodecs, limits: limits)
                #expect(try source.image(options).size.largestSide <= 8)
            } catch {}
        }
    }

    @Test("a colour profile survives a round trip", arguments: [PixelFormat.rgb8, .rgba8, .gray8])
    func profile(format: PixelFormat) throws {
        let file = try #require(
            SampleFiles.own("bmp", "valid").first { $0.lastPathComponent == "profile.bmp" })
        let header = try open(file).header
        guard case .icc = header.colorProfile else {
            Issue.record("the sample has no profile")
            return
        }
        var buffer = MutablePixelBuffer(
            TestImage.photograph(PixelSize(width: 20, height: 10), format))
        buffer.colorProfile = header.colorProfile
        let written = try ImageDestination(format: "bmp", codecs: builtInCodecs)
            .encode(buffer.finish())
        let again = try ImageSource(EncodedBytes(written), codecs: builtInCodecs)
        #expect(again.header.colorProfile == header.colorProfile)
        // The profile is at the end.
        #expect(throws: CodecError.truncated(byteCount: 300)) {
            _ = try ImageSource(EncodedBytes(Array(written[..<300])), codecs: builtInCodecs)
        }
    }

    @Test("a calibrated colour space is read")
    func calibrated() throws {
        var file = try ImageDestination(format: "bmp", codecs: builtInCodecs)
            .encode(TestImage.flat(PixelSize(width: 2, height: 2), .rgba8, [9, 9, 9, 255]))
        // The version 5 header begins at 14; its colour space at 70.
        let adobe = [0.64, 0.33, 0.03, 0.21, 0.71, 0.08, 0.15, 0.06, 0.79]
        var space = [UInt8](repeating: 0, count: 4)
        for value in adobe.map({ UInt32($0 * Double(1 << 30)) }) + [144_179, 144_179, 144_179] {
            space += (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        file.replaceSubrange(70..<70 + space.count, with: space)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        guard case .calibrated(let gamma, let primaries) = source.header.colorProfile else {
            Issue.record("\(source.header.colorProfile)")
            return
        }
        #expect(abs(gamma - 2.2) < 0.001)
        #expect(abs(primaries.green.x - 0.21) < 0.001 && abs(primaries.green.y - 0.71) < 0.001)
        #expect(primaries.white == ColorProfile.Chromaticities.sRGB.white)
    }

    @Test("rows before a truncation are kept, and the others are black")
    func truncated() throws {
        let image = TestImage.flat(PixelSize(width: 4, height: 4), .rgb8, [255, 255, 255])
        let file = try ImageDestination(format: "bmp", codecs: builtInCodecs).encode(image)
        let decoded = try ImageSource(
            EncodedBytes(Array(file.dropLast(24))), codecs: builtInCodecs
        ).decodedImage()
        #expect(decoded.report.problem == .truncated(byteCount: file.count - 24))
        #expect(decoded.image.row(1)[0] == 0)
        #expect(decoded.image.row(2)[0] == 255)
    }

    @Test("a file is complete without the padding of its last row", arguments: [0, 3, 4])
    func lastPadding(omittedByteCount: Int) throws {
        // Rows of 9 bytes and 3 of padding.
        let image = TestImage.flat(PixelSize(width: 3, height: 2), .rgb8, [255, 255, 255])
        let file = try ImageDestination(format: "bmp", codecs: builtInCodecs).encode(image)
        let decoded = try ImageSource(
            EncodedBytes(Array(file.dropLast(omittedByteCount))), codecs: builtInCodecs
        ).decodedImage()
        #expect((decoded.report.problem == nil) == (omittedByteCount <= 3))
    }

    @Test("the signature alone does not make a BMP file")
    func recognition() {
        for text in ["BM", "BMW is a maker of cars and motorcycles", "BA array of somethings"] {
            #expect(throws: CodecError.unknownFormat) {
                _ = try ImageSource(EncodedBytes(Array(text.utf8)), codecs: builtInCodecs)
            }
        }
    }
}
