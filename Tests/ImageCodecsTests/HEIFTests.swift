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
                    let peer = try? PeerTool.picture("upright.py", [file.name])
                else { continue }
                let comparison = PixelComparison(image.asRGBA, peer)
                #expect(comparison.meanDifference < 0.75, "\(name): \(comparison)")
            } catch {
                // A rejected file needs a reason; every file that pillow-heif reads must be read.
                let hasPeer =
                    PeerTool.python != nil
                    && (try? PeerTool.picture("upright.py", [file.name])) != nil
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
