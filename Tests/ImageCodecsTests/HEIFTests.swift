// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("HEIF") struct HEIFTests {
    private static let extensions: Set<String> = ["heic", "heif", "hif"]

    private func source(_ bytes: [UInt8]) throws(CodecError) -> ImageSource {
        try ImageSource(EncodedBytes(bytes), codecs: builtInCodecs)
    }

    /// The project's own samples and those of the corpus, except for AVIF files under this name.
    private func files() throws -> [(name: String, bytes: [UInt8])] {
        let urls =
            SampleFiles.own("heif", "valid")
            + SampleFiles.real(extensions: Self.extensions).filter {
                // For a damaged file, the peer shows uninitialized memory.
                !$0.path.contains("/bombs/") && $0.lastPathComponent != "uninitialised.heic"
            }
        return try urls.map { ($0.path, Array(try Data(contentsOf: $0))) }.filter {
            builtInCodecs.codec(for: $0.1.span)?.format.name == "heic"
        }
    }

    @Test("pixels match pillow-heif, or files are rejected with a reason")
    func peers() throws {
        for file in try files() {
            let name = URL(filePath: file.name).lastPathComponent
            do throws(CodecError) {
                let opened = try source(file.bytes)
                var options = DecodeOptions()
                options.convertsToSRGB = false
                if !TestBuild.isOptimized, opened.header.storedSize.area > 1_000_000 { continue }
                let image = try opened.image(options)
                guard PeerTool.python != nil,
                    let peer = try? PeerTool.image("upright.py", [file.name])
                else { continue }
                let comparison = PixelComparison(image.asRGBA, peer)
                #expect(comparison.meanDifference < 0.75, "\(name): \(comparison)")
            } catch {
                // A rejected file needs a reason; every file that pillow-heif reads must be read.
                let hasPeer =
                    PeerTool.python != nil
                    && (try? PeerTool.image("upright.py", [file.name])) != nil
                #expect(!hasPeer, "\(name): \(error)")
            }
        }
    }

    @Test("samples have the expected size, alpha and pages")
    func facts() throws {
        for url in SampleFiles.own("heif", "valid") {
            let opened = try source(Array(try Data(contentsOf: url)))
            let name = url.lastPathComponent
            #expect(opened.header.storedSize == PixelSize(width: 64, height: 48), "\(name)")
            #expect(opened.header.hasAlpha == (name == "rgba.heic"))
            #expect(opened.header.pageCount == (name == "two-pages.heic" ? 2 : 1))
            #expect(opened.header.orientation == .upright)
            guard opened.header.pageCount == 2 else { continue }
            let pages = (try opened.image(), try opened.page(1).image())
            #expect(PixelComparison(pages.0, pages.1).meanDifference > 10)
        }
    }

    @Test("the first 256 KiB contain the header")
    func headerFromStart() throws {
        for file in try files() where file.bytes.count > 256 << 10 {
            guard let whole = try? source(file.bytes).header else { continue }
            // Some encoders write the boxes after the images.
            do throws(CodecError) {
                let start = try source(Array(file.bytes.prefix(256 << 10))).header
                #expect(start == whole, "\(file.name)")
            } catch {
                #expect(error == .truncated(byteCount: 256 << 10), "\(file.name)")
            }
        }
    }

    @Test("a thumbnail that is large enough is decoded instead")
    func thumbnails() throws {
        for file in try files() {
            guard let opened = try? source(file.bytes),
                opened.header.facts.contains(where: { $0.name == "thumbnail item" }),
                let full = try? opened.decodedImage(DecodeOptions(maximumSide: 100_000))
            else { continue }
            #expect(full.report.decoder == "libheif")
            let small = try opened.decodedImage(DecodeOptions(maximumSide: 32))
            let comparison = PixelComparison(
                small.image.asRGBA, full.image.resampled(to: small.image.size).asRGBA)
            #expect(comparison.meanDifference < 6, "\(file.name): \(comparison)")
        }
    }

    private func sample(_ name: String) throws -> [UInt8] {
        let files = SampleFiles.own("heif", "valid")
        return Array(
            try Data(contentsOf: try #require(files.first { $0.lastPathComponent == name })))
    }

    @Test(
        "an image, a tile or alpha in another coding is rejected with the name of the coding",
        arguments: ["jpeg", "unci", "vvc1", "evc1", "j2k1", "avc1"])
    func otherCodings(coding: String) throws {
        let error = CodecError.unsupported(feature: "HEIF with items coded as '\(coding)'")
        let type = Array("hvc1".utf8)
        for name in ["rgb.heic", "rgba.heic"] {
            var file = try sample(name)
            // The second image of the file with alpha is alpha.
            let first = try #require(file.firstRange(of: type))
            let place = file[first.upperBound...].firstRange(of: type) ?? first
            file.replaceSubrange(place, with: Array(coding.utf8))
            #expect(throws: error, "\(name)") { _ = try source(file) }
        }
        // A grid with that image as its only tile.
        var grid = try sample("two-pages.heic")
        let first = try #require(grid.firstRange(of: type))
        grid.replaceSubrange(first, with: Array("grid".utf8))
        let second = try #require(grid.firstRange(of: type))
        grid.replaceSubrange(second, with: Array(coding.utf8))
        let end = try #require(grid.firstRange(of: Array("pitm".utf8))).lowerBound - 4
        let references = reference("dimg", from: 1, to: 2)
        grid.insert(contentsOf: references, at: end)
        let meta = try #require(grid.firstRange(of: Array("meta".utf8))).lowerBound
        let length = grid.span.bigEndian(at: meta - 4, byteCount: 4) + references.count
        grid[meta - 2] = UInt8(length >> 8)
        grid[meta - 1] = UInt8(length & 255)
        #expect(throws: error) { _ = try source(grid) }
    }

    /// A box `iref` with a reference between two items.
    private func reference(_ type: String, from: UInt8, to: UInt8) -> [UInt8] {
        [0, 0, 0, 26] + Array("iref".utf8) + [0, 0, 0, 0, 0, 0, 0, 14] + Array(type.utf8)
            + [0, from, 0, 1, 0, to]
    }

    @Test("protected items and unknown essential properties are rejected")
    func unknownConditions() throws {
        var file = try sample("rgb.heic")
        let type = try #require(file.firstRange(of: Array("hvc1".utf8)))
        file[type.lowerBound - 1] = 1
        #expect(throws: CodecError.unsupported(feature: "HEIF with protected items")) {
            _ = try source(file)
        }
        file = try sample("rgb.heic")
        let property = try #require(file.firstRange(of: Array("hvcC".utf8)))
        file.replaceSubrange(property, with: Array("cmpC".utf8))
        let feature = "HEIF with the essential property 'cmpC'"
        #expect(throws: CodecError.unsupported(feature: feature)) { _ = try source(file) }
    }

    @Test("a primary item that is also a thumbnail is the first page")
    func primaryThumbnail() throws {
        var file = try sample("thumbnail.heic")
        let expected = try source(file).image()
        var options = DecodeOptions(maximumSide: 32)
        options.quality = .fast
        let small = try source(file).decodedImage(options)
        #expect(small.report.decoder == "libheif, thumbnail")
        let primary = try #require(file.firstRange(of: Array("pitm".utf8) + [0, 0, 0, 0, 0, 1]))
        file[primary.upperBound - 1] = 2
        let opened = try source(file)
        #expect(opened.pixelSize == PixelSize(width: 32, height: 24))
        #expect(opened.header.pageCount == 2)
        #expect(PixelComparison(try opened.image(), small.image).maximumDifference == 0)
        let other = try opened.page(1).image()
        #expect(PixelComparison(other, expected).maximumDifference == 0)
    }

    @Test("truncated and damaged files result in an error or an image", .timeLimit(.minutes(10)))
    func damage() throws {
        var limits = DecodeLimits()
        limits.maximumPixelCount = 1_000_000
        var random = SeededRandom(seed: 5)
        for file in try files() where file.bytes.count < 60_000 {
            for _ in 0..<12 {
                var bytes = file.bytes
                if Bool.random(using: &random) {
                    bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
                }
                for _ in 0..<Int.random(in: 0...6, using: &random) {
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
