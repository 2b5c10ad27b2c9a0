// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("AVIF") struct AVIFTests {
    private static let extensions: Set<String> = ["avif", "avifs"]

    private func source(_ bytes: [UInt8]) throws -> ImageSource {
        try ImageSource(EncodedBytes(bytes), codecs: builtInCodecs)
    }

    private func encoded(
        _ image: PixelBuffer, _ change: (inout EncodeOptions) -> Void = { _ in }
    ) throws -> [UInt8] {
        var options = EncodeOptions()
        options.compressionLevel = 0
        change(&options)
        return try ImageDestination(format: "avif", codecs: builtInCodecs, options: options)
            .encode(image)
    }

    private func real() throws -> [(name: String, bytes: [UInt8])] {
        try SampleFiles.real(extensions: Self.extensions)
            .filter { !$0.path.contains("/bombs/") }
            .map { ($0.path, Array(try Data(contentsOf: $0))) }
    }

    /// AV1 images with a HEIF brand instead of AVIF's.
    static let otherBrand: Set<String> = [
        "simple_osm_tile_alpha.avif", "av1-in-heif.avif",
    ]

    /// Files that no version of Pillow reads.
    ///
    /// Some have two `ipma` boxes, which the standard forbids, and are compared with the image from
    /// which they were made; the sequences lack a brand.
    static func lacksPeer(_ name: String) -> Bool {
        name.hasPrefix("plum-blossom-small") || name.hasSuffix("-with-alpha.avifs")
    }

    @Test(
        "pixels match Pillow",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func peers() throws {
        for file in try real() {
            let name = URL(filePath: file.name).lastPathComponent
            if Self.otherBrand.contains(name) || Self.lacksPeer(name) { continue }
            do {
                let opened = try source(file.bytes)
                #expect(opened.format.name == "avif", "\(name)")
                var options = DecodeOptions()
                options.convertsToSRGB = false
                let isLarge = opened.header.storedSize.area > 1_000_000
                if isLarge, !TestBuild.isOptimized { continue }
                let image = try opened.image(options)
                let peer = try #require(
                    try PeerTool.picture("upright.py", [file.name]), "\(name)")
                let comparison = PixelComparison(image.asRGBA, peer)
                // Chroma at half the resolution is upsampled by two slightly different filters, so
                // single pixels at edges differ by more.
                #expect(comparison.meanDifference < 0.75, "\(name): \(comparison)")
            } catch {
                Issue.record("\(name): \(error)")
            }
        }
    }

    @Test("files with two ipma boxes decode correctly")
    func repaired() throws {
        let folder = "avif-link-u"
        guard
            let original = SampleFiles.real(folder, extensions: ["png"])
                .first(where: { $0.lastPathComponent == "plum-blossom-small.png" })
        else { return }
        let expected = try source(Array(try Data(contentsOf: original))).image().asRGBA
        for file in try real() where file.name.contains("plum-blossom-small") {
            let opened = try source(file.bytes)
            #expect(opened.header.hasAlpha)
            let image = try opened.image()
            let isGray = file.name.contains("monochrome")
            #expect(opened.header.colorModel == (isGray ? .gray : .rgb))
            var other = expected
            if isGray {
                // Grey is stored directly; alpha is compared all the same.
                other = gray(expected)
            }
            let comparison = PixelComparison(image.asRGBA, other)
            #expect(comparison.meanDifference < 4, "\(file.name): \(comparison)")
        }
    }

    private func gray(_ image: PixelBuffer) -> PixelBuffer {
        var result = MutablePixelBuffer(image)
        for y in 0..<image.size.height {
            result.withMutableRow(y) { row in
                for x in stride(from: 0, to: row.count, by: 4) {
                    let (r, g, b) = (Int(row[x]), Int(row[x + 1]), Int(row[x + 2]))
                    let luma = UInt8((299 * r + 587 * g + 114 * b + 500) / 1000)
                    for index in x..<x + 3 { row[index] = luma }
                }
            }
        }
        return result.finish()
    }

    @Test("sequences have the expected frames and durations")
    func sequence() throws {
        let size = PixelSize(width: 48, height: 32)
        let destination = try ImageDestination(
            format: "avif", codecs: builtInCodecs,
            options: {
                var options = EncodeOptions()
                options.compressionLevel = 0
                options.isLossless = true
                return options
            }())
        var writer = try destination.animationWriter(size, loopCount: 0)
        let images = (0..<4).map { TestImage.photograph(size, .rgba8, seed: UInt64($0)) }
        for (index, image) in images.enumerated() {
            try writer.append(image, duration: .milliseconds(40 + index))
        }
        let opened = try source(try writer.finish())
        #expect(opened.header.frameCount == 4)
        #expect(opened.header.loopCount == 0)
        var frames = try opened.frames()
        for (index, image) in images.enumerated() {
            let frame = try #require(try frames.next())
            #expect(frame.duration == .milliseconds(40 + index))
            #expect(PixelComparison(frame.image, image).maximumDifference <= 1)
        }
        #expect(try frames.next() == nil)
    }

    @Test(
        "is lossless with that option, with and without alpha",
        arguments: [PixelFormat.rgb8, .rgba8])
    func lossless(format: PixelFormat) throws {
        let picture = TestImage.photograph(PixelSize(width: 61, height: 37), format)
        let file = try encoded(picture) { $0.isLossless = true }
        let image = try source(file).image()
        #expect(image.format == format)
        // Dividing by alpha and multiplying again may round.
        let allowed = format == .rgb8 ? 0 : 1
        #expect(PixelComparison(image, picture).maximumDifference <= allowed)
    }

    @Test("keeps 12 bits of 16-bit images")
    func deep() throws {
        let size = PixelSize(width: 64, height: 16)
        var buffer = MutablePixelBuffer(size: size, format: .rgb16)
        for y in 0..<size.height {
            buffer.withMutableRow(y) { row in
                for index in 0..<size.width * 3 {
                    let value = UInt16(index * 341 % 65_536)
                    row[index * 2] = UInt8(value & 255)
                    row[index * 2 + 1] = UInt8(value >> 8)
                }
            }
        }
        let image = buffer.finish()
        let opened = try source(try encoded(image) { $0.isLossless = true })
        #expect(opened.header.bitsPerComponent == 12)
        let comparison = PixelComparison(try opened.image(), image.converted(to: .rgb8))
        #expect(comparison.maximumDifference <= 1, "\(comparison)")
    }

    @Test("keeps metadata, ICC profiles and CICP code points")
    func metadata() throws {
        let exif = Array("II*\0\u{8}\0\0\0\0\0\0\0\0\0".utf8)
        let xmp = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>".utf8)
        let image = TestImage.photograph(PixelSize(width: 16, height: 16))
        let file = try encoded(image) {
            $0.metadata.exif = exif
            $0.metadata.xmp = xmp
        }
        let blocks = try source(file).metadata()
        #expect(blocks.exif == exif)
        #expect(blocks.xmp == xmp)
        for profile in [
            ColorProfile.coded(CICP(primaries: 12, transfer: 13)),
            .coded(CICP(primaries: 9, transfer: 16)),
            .icc(Array(repeating: 7, count: 200)), .sRGB,
        ] {
            var colored = MutablePixelBuffer(image)
            colored.colorProfile = profile
            #expect(try source(try encoded(colored.finish())).header.colorProfile == profile)
        }
    }

    @Test("needs at most 256 KiB for the header, or reports truncation at once")
    func headerFromStart() throws {
        let image = TestImage.noise(PixelSize(width: 64, height: 64))
        let file = try encoded(image) { $0.quality = 100 }
        let header = try source(file).header
        #expect(try source(Array(file.prefix(file.count - 2000))).header == header)
        for name in try real() {
            guard let opened = try? source(name.bytes), opened.format.name == "avif" else {
                continue
            }
            let whole = opened.header
            let start = try source(Array(name.bytes.prefix(256 << 10)))
            #expect(start.header == whole, "\(name.name)")
        }
    }

    @Test("truncated and damaged files do not trap", .timeLimit(.minutes(10)))
    func damage() throws {
        var limits = DecodeLimits()
        limits.maximumPixelCount = 1_000_000
        var random = SeededRandom(seed: 11)
        for file in try real() where file.bytes.count < 60_000 {
            for _ in 0..<12 {
                var bytes = file.bytes
                if Bool.random(using: &random) {
                    bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
                }
                for _ in 0..<Int.random(in: 0...6, using: &random) {
                    // Most of the damage is in the boxes at the start.
                    let end = Bool.random(using: &random) ? min(600, bytes.count) : bytes.count
                    bytes[Int.random(in: 0..<end, using: &random)] = UInt8.random(
                        in: 0...255, using: &random)
                }
                do throws(CodecError) {
                    let opened = try ImageSource(
                        EncodedBytes(bytes), codecs: builtInCodecs, limits: limits)
                    _ = try opened.image(DecodeOptions(maximumSide: 16))
                } catch {}
            }
        }
    }
}
