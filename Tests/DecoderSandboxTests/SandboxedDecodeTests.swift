// SPDX-License-Identifier: Apache-2.0

import DecoderSandbox
import EncodedImages
import Foundation
import ImageCodecs
import ImageLoading
import ImageTesting
import Logging
import Pixels
import Testing

/// Sandboxed decodes of all samples equal decodes in process.
@Suite struct SandboxedDecodeTests {
    private static let samples = SampleFiles.own()

    @Test func `a sandboxed decode equals a decode in process`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        #expect(Self.samples.count > 100)
        for file in Self.samples {
            let bytes = try EncodedBytes(mapping: file.path)
            for options in [DecodeOptions(box: PixelSize(width: 20, height: 20)), DecodeOptions()] {
                let expected = decode(bytes, builtInCodecs, options)
                let sandboxed = decode(bytes, Sandboxes.codecs(sandbox), options)
                #expect(sandboxed == expected, "\(file.lastPathComponent)")
            }
        }
    }

    @Test(
        .enabled(if: builtInCodecs.codec(named: "jpeg") != nil),
        arguments: [PixelFormat?.none, .gray16, .rgba16, .rgbaHalf, .rgb565, .alpha8, .yCbCr420])
    func `a small image fits into shared memory in every format`(format: PixelFormat?) throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let original = TestImage.photograph(PixelSize(width: 90, height: 60))
        let file = try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(original)
        for side in [1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 90] {
            var options = DecodeOptions(maximumSide: side)
            options.acceptsYCbCr = format == nil
            options.keepsDepth = true
            options.pixelFormat = format
            let bytes = EncodedBytes(file)
            let here = try ImageSource(bytes, codecs: builtInCodecs).image(options)
            let there = try ImageSource(bytes, codecs: Sandboxes.codecs(sandbox)).image(options)
            #expect(there.size == here.size && there.format == here.format)
            #expect(there.packedBytes == here.packedBytes)
        }
    }

    @Test func `sandboxed decodes to several sizes equal those in process`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let image = TestImage.photograph(PixelSize(width: 400, height: 300))
        let file = EncodedBytes(
            try ImageDestination(format: "qoi", codecs: builtInCodecs).encode(image))
        // Some results fit into the shared memory of the worker, and some do not.
        for (sides, format) in [([60, 50, 62], PixelFormat.rgb16), (Array(392...400), .rgbaHalf)] {
            let options = sides.map {
                var options = DecodeOptions(maximumSide: $0)
                options.pixelFormat = format
                return options
            }
            let here = try ImageSource(file, codecs: builtInCodecs).decodedImages(options)
            let there = try ImageSource(file, codecs: Sandboxes.codecs(sandbox))
                .decodedImages(options)
            #expect(there.map { $0?.image.packedBytes } == here.map { $0?.image.packedBytes })
            #expect(there.map { $0?.report } == here.map { $0?.report })
            #expect(there.allSatisfy { $0 != nil })
        }
    }

    @Test func `sizes are made of planes that a worker has decoded`() throws {
        guard builtInCodecs.codec(named: "jpeg") != nil else { return }
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let image = TestImage.photograph(PixelSize(width: 2000, height: 1500))
        let file = EncodedBytes(
            try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(image))
        let here = try ImageSource(file, codecs: builtInCodecs)
        let there = try ImageSource(file, codecs: Sandboxes.codecs(sandbox))
        for acceptsYCbCr in [false, true] {
            let options = [120, 100, 90].map {
                var options = DecodeOptions(maximumSide: $0)
                options.acceptsYCbCr = acceptsYCbCr
                return options
            }
            let sizes = try there.decodedSizes(
                Array(options.prefix(2)), planesByteCount: 1 << 20)
            let reduced = try #require(sizes.reduced)
            let images = sizes.images + [try there.resampled(reduced, options[2])]
            for (options, decoded) in zip(options, images) {
                let expected = try here.decodedImage(options)
                #expect(decoded?.image.packedBytes == expected.image.packedBytes)
                #expect(decoded?.report == expected.report)
            }
        }
        // The memory of results has no room for planes; they are larger than allowed.
        let large = DecodeOptions(maximumSide: 1300)
        #expect(try there.decodedSizes([large], planesByteCount: 1 << 20).reduced == nil)
        let small = DecodeOptions(maximumSide: 120)
        #expect(try there.decodedSizes([small], planesByteCount: 100).reduced == nil)
    }

    @Test func `sandboxed metadata, pages and previews equal those in process`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let sandboxed = Sandboxes.codecs(sandbox)
        var pageCount = 0
        var previewCount = 0
        for file in Self.samples {
            let bytes = try EncodedBytes(reading: file.path)
            guard let here = try? ImageSource(bytes, codecs: builtInCodecs) else { continue }
            let there = try ImageSource(bytes, codecs: sandboxed)
            #expect(try there.metadata() == here.metadata(), "\(file.lastPathComponent)")
            for page in 1..<max(2, here.header.pageCount) where page < here.header.pageCount {
                guard let expected = try? here.page(page).image() else { continue }
                pageCount += 1
                #expect(
                    try there.page(page).image().packedBytes == expected.packedBytes,
                    "page \(page) of \(file.lastPathComponent)")
            }
            var coming = IncrementalImage(codecs: sandboxed)
            try bytes.withBytes { bytes in
                try coming.append((0..<bytes.count * 3 / 4).map { bytes[$0] })
                if let preview = try? coming.preview() {
                    previewCount += 1
                    #expect(preview.image.size.largestSide <= here.pixelSize.largestSide)
                }
                try coming.append((bytes.count * 3 / 4..<bytes.count).map { bytes[$0] })
            }
            guard let expected = try? here.image() else { continue }
            #expect(try coming.finish().image.packedBytes == expected.packedBytes)
        }
        #expect(pageCount > 2 && previewCount > 10)
    }

    @Test(.enabled(if: builtInCodecs.codec(named: "tiff")?.encoder != nil))
    func `JPEG tiles from a sandbox equal those in process`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let size = PixelSize(width: 512, height: 300)
        var options = EncodeOptions()
        options.isPyramid = true
        let file = EncodedBytes(
            try ImageDestination(format: "tiff", codecs: builtInCodecs, options: options)
                .encode(TestImage.photograph(size)))
        let here = try ImageSource(file, codecs: builtInCodecs)
        let there = try ImageSource(file, codecs: Sandboxes.codecs(sandbox))
        #expect(there.header.jpegTileSize == here.header.jpegTileSize)
        let rect = PixelRect(x: 256, y: 0, width: 256, height: 256)
        let tile = StoredTile(rect, ofLevel: size)
        #expect(try here.jpegTile(tile) != nil)
        #expect(try there.jpegTile(tile) == here.jpegTile(tile))
        let other = StoredTile(rect, ofLevel: PixelSize(width: 500, height: 300))
        #expect(try there.jpegTile(other) == nil)
        let several = [tile, other, tile]
        #expect(try there.jpegTiles(several) == here.jpegTiles(several))
    }

    @Test func `an index made in a sandbox decodes the same regions`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let encoder = try ImageDestination(format: "jpeg", codecs: builtInCodecs)
        let files = try [1, 2].map { seed in
            try encoder.encode(
                TestImage.photograph(PixelSize(width: 1301, height: 900 + seed)))
        }
        let here = try ImageSource(EncodedBytes(files[0]), codecs: builtInCodecs)
        var there = try ImageSource(
            EncodedBytes(files[0]), codecs: Sandboxes.codecs(sandbox))
        let index = try #require(try there.makeIndex())
        #expect(try index == here.makeIndex())
        let other = try ImageSource(EncodedBytes(files[1]), codecs: builtInCodecs).makeIndex()
        var options = DecodeOptions()
        // Small enough for the buffer of a worker, and too large for it.
        for rect in [
            PixelRect(x: 700, y: 600, width: 256, height: 256),
            PixelRect(x: 0, y: 8, width: 1301, height: 890),
        ] {
            options.region = rect
            let expected = try here.image(options).packedBytes
            for index in [index, other, nil] {
                there.index = index
                #expect(try there.image(options).packedBytes == expected)
            }
        }
        let png = try ImageSource(
            EncodedBytes(
                ImageDestination(format: "png", codecs: builtInCodecs)
                    .encode(TestImage.photograph(PixelSize(width: 20, height: 20)))),
            codecs: Sandboxes.codecs(sandbox))
        #expect(try png.makeIndex() == nil)
    }

    @Test func `sandboxed animations equal those in process`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        var frameCount = 0
        for file in Self.samples {
            let bytes = try EncodedBytes(mapping: file.path)
            guard let here = try? ImageSource(bytes, codecs: builtInCodecs),
                here.header.frameCount > 1
            else { continue }
            let there = try ImageSource(bytes, codecs: Sandboxes.codecs(sandbox))
            let options = DecodeOptions(maximumSide: 40)
            var expected = try here.frames(options)
            var sandboxed = try there.frames(options)
            #expect(sandboxed.loopCount == expected.loopCount)
            while let frame = try? expected.next() {
                let other = try #require(try sandboxed.next())
                frameCount += 1
                #expect(other.image.packedBytes == frame.image.packedBytes)
                #expect(other.duration == frame.duration && other.region == frame.region)
                #expect(other.disposal == frame.disposal && other.blending == frame.blending)
            }
        }
        #expect(frameCount >= 10)
    }

    @Test(.timeLimit(.minutes(5)))
    func `more animations than workers are all encoded completely`() async throws {
        let sandbox = try Sandboxes.make { $0.animationCount = 1 }
        defer { sandbox.close() }
        var configuration = ImagePipeline.Configuration()
        configuration.decodeThreadCount = 2
        let pipeline = ImagePipeline(
            codecs: Sandboxes.codecs(sandbox), configuration: configuration,
            logger: Logger(label: "sandbox") { _ in SwiftLogNoOpLogHandler() })
        let file = try #require(Self.samples.first { $0.lastPathComponent == "animation.gif" })
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for side in 1...8 {
                group.addTask {
                    let request = RenditionRequest(
                        image: ImageRequest(
                            path: file.path, options: DecodeOptions(maximumSide: side)),
                        animationFormat: "gif")
                    let rendition = try await pipeline.rendition(for: request)
                    return try ImageSource(EncodedBytes(rendition.bytes), codecs: builtInCodecs)
                        .header.frameCount
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 5, count: 8))
        await pipeline.close()
    }

    @Test(.enabled(if: builtInCodecs.colorConverter != nil))
    func `colour conversion is sandboxed as well`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let here = try #require(builtInCodecs.colorConverter)
        let there = try #require(Sandboxes.codecs(sandbox).colorConverter)
        #expect(there is DecoderSandbox)
        for format in [PixelFormat.rgb8, .rgba8, .gray8, .rgb16] {
            var original = MutablePixelBuffer(
                TestImage.photograph(PixelSize(width: 70, height: 50)).converted(to: format))
            original.colorProfile = .calibrated(gamma: 1, .sRGB)
            let image = original.finish()
            let expected = try here.convertedToSRGB(image)
            let converted = try there.convertedToSRGB(image)
            #expect(converted.format == expected.format && converted.colorProfile == .sRGB)
            #expect(converted.packedBytes == expected.packedBytes)
            #expect(
                try there.convertedToExtendedSRGB(image).packedBytes
                    == here.convertedToExtendedSRGB(image).packedBytes)
        }
    }

    @Test func `sandboxed rows equal those in process`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        // More than one band: 1,000 rows of 3,000 bytes.
        let image = TestImage.photograph(PixelSize(width: 1000, height: 1000))
        let file = try ImageDestination(format: "bmp", codecs: builtInCodecs).encode(image)
        let rows = Rows()
        try ImageSource(EncodedBytes(file), codecs: Sandboxes.codecs(sandbox))
            .decodeRows(into: rows)
        #expect(rows.size == image.size)
        #expect(rows.bytes == image.packedBytes)
        // A consumer that throws ends the decode, and the worker is replaced.
        rows.mostByteCount = 10
        #expect(throws: CodecError.cancelled) {
            try ImageSource(EncodedBytes(file), codecs: Sandboxes.codecs(sandbox))
                .decodeRows(into: rows)
        }
        #expect(try Sandboxes.image("behave", sandbox).get().size.width == 8)
    }

    @Test(.enabled(if: builtInCodecs.codec(named: "heic") != nil))
    func `AV1 in HEIF decodes although its decoder names its threads`() throws {
        let sandbox = try Sandboxes.make()
        defer { sandbox.close() }
        let sample = try #require(Self.samples.first { $0.lastPathComponent == "rgb.avif" })
        var file = Array(try Data(contentsOf: sample))
        // Changes the brand from AVIF to HEIF.
        for start in file.indices.prefix(40) where file[start...].starts(with: Array("avif".utf8)) {
            file.replaceSubrange(start..<start + 4, with: Array("mif1".utf8))
        }
        let here = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        #expect(here.format.name == "heic")
        let there = try ImageSource(EncodedBytes(file), codecs: Sandboxes.codecs(sandbox))
        #expect(try there.image().packedBytes == here.image().packedBytes)
    }

    private final class Rows: RowConsumer {
        var size: PixelSize?
        var bytes: [UInt8] = []
        var mostByteCount = Int.max

        func begin(
            _ size: PixelSize, _ format: PixelFormat, _ colorProfile: ColorProfile
        ) throws(CodecError) {
            self.size = size
            bytes = []
        }

        func append(_ row: Span<UInt8>) throws(CodecError) {
            for index in row.indices { bytes.append(row[index]) }
            if bytes.count > mostByteCount { throw .cancelled }
        }
    }

    private struct Outcome: Hashable {
        var error: CodecError?
        var header: ImageHeader?
        var format: PixelFormat?
        var profile: ColorProfile?
        var bytes: [UInt8] = []
        var report: DecodeReport?
    }

    private func decode(
        _ bytes: EncodedBytes, _ codecs: CodecSet, _ options: DecodeOptions
    ) -> Outcome {
        var outcome = Outcome()
        do throws(CodecError) {
            let source = try ImageSource(bytes, codecs: codecs)
            outcome.header = source.header
            let decoded = try source.decodedImage(options)
            outcome.format = decoded.image.format
            outcome.profile = decoded.image.colorProfile
            outcome.bytes = decoded.image.packedBytes
            outcome.report = decoded.report
        } catch {
            outcome.error = error
        }
        return outcome
    }
}
