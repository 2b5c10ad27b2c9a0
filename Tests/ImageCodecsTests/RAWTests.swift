// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("RAW", .enabled(if: sandboxCodecs().codec(named: "raw") != nil)) struct RAWTests {
    static let size = PixelSize(width: 320, height: 240)
    static let previewColor: [UInt8] = [200, 120, 40]

    private static func preview(_ size: PixelSize) throws -> [UInt8] {
        try ImageDestination(format: "jpeg", codecs: sandboxCodecs())
            .encode(TestImage.flat(size, .rgb8, previewColor))
    }

    private func open(
        _ file: [UInt8], limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> ImageSource {
        try ImageSource(EncodedBytes(file), codecs: sandboxCodecs(), limits: limits)
    }

    /// Whether the middle of a patch has its colour.
    private func check(_ image: PixelBuffer, maximumDifference: Double) {
        for patch in DNGFile.patches.indices {
            let x = (patch % 4 * 2 + 1) * image.size.width / 8
            let y = (patch / 4 * 2 + 1) * image.size.height / 4
            let expected = DNGFile.color(ofPatch: patch)
            let row = image.row(y)
            for channel in 0..<3 {
                let difference = abs(Double(row[x * 3 + channel]) - expected[channel])
                #expect(
                    difference <= maximumDifference,
                    "patch \(patch), channel \(channel): \(row[x * 3 + channel]), \(expected)")
            }
        }
    }

    @Test("sensor data is developed to the right colours", arguments: [true, false])
    func colors(isLittleEndian: Bool) throws {
        let file = DNGFile.make(Self.size, isLittleEndian: isLittleEndian)
        let source = try open(file)
        #expect(source.format.name == "raw")
        #expect(source.pixelSize == Self.size)
        let decoded = try source.decodedImage()
        #expect(decoded.report.decoder == "LibRaw")
        check(decoded.image, maximumDifference: 3)
        // Halved without demosaicing, then a quarter by the resampler.
        let small = try source.decodedImage(DecodeOptions(maximumSide: 80))
        #expect(small.report.shrinkFactors == [2])
        #expect(small.image.size == PixelSize(width: 80, height: 60))
        check(small.image, maximumDifference: 3)
    }

    @Test("a preview is decoded if it is large enough, and only then")
    func previews() throws {
        let preview = try Self.preview(PixelSize(width: 160, height: 120))
        let source = try open(DNGFile.make(Self.size, preview: preview))
        #expect(source.embeddedThumbnail?.pixelSize == PixelSize(width: 160, height: 120))
        for side in [20, 100, 160] {
            let decoded = try source.decodedImage(DecodeOptions(maximumSide: side))
            #expect(decoded.report.decoder.hasPrefix("preview of 160x120"))
            #expect(decoded.image.size.largestSide == side)
            let flat = TestImage.flat(decoded.image.size, .rgb8, Self.previewColor)
            #expect(PixelComparison(decoded.image, flat).maximumDifference <= 3)
        }
        for side in [161, 320] {
            let decoded = try source.decodedImage(DecodeOptions(maximumSide: side))
            #expect(decoded.report.decoder == "LibRaw")
            check(decoded.image, maximumDifference: 3)
        }
        var cut = DecodeOptions(box: PixelSize(width: 150, height: 150))
        cut.mode = .fill
        #expect(try source.decodedImage(cut).report.decoder == "LibRaw")
    }

    @Test("a preview of other proportions is ignored")
    func padded() throws {
        let preview = try Self.preview(PixelSize(width: 160, height: 100))
        let source = try open(DNGFile.make(Self.size, preview: preview))
        #expect(source.header.thumbnail == nil)
        let decoded = try source.decodedImage(DecodeOptions(maximumSide: 20))
        #expect(decoded.report.decoder == "LibRaw")
    }

    @Test("an image and its preview have the same orientation", arguments: 1...8)
    func orientation(value: Int) throws {
        let orientation = try #require(Orientation(rawValue: UInt8(value)))
        let preview = try Self.preview(PixelSize(width: 160, height: 120))
        let source = try open(
            DNGFile.make(Self.size, preview: preview, orientation: value))
        #expect(source.header.orientation == orientation)
        #expect(source.header.storedSize == Self.size)
        #expect(source.pixelSize == orientation.oriented(Self.size))
        let small = try source.image(DecodeOptions(maximumSide: 80))
        #expect(small.size == orientation.oriented(PixelSize(width: 80, height: 60)))
        var options = DecodeOptions()
        options.appliesOrientation = false
        check(try source.image(options), maximumDifference: 3)
        #expect(try source.image().size == source.pixelSize)
    }

    @Test("EXIF is extracted from the directories, without maker notes")
    func metadata() throws {
        for isLittleEndian in [true, false] {
            let file = DNGFile.make(Self.size, isLittleEndian: isLittleEndian)
            let block = try #require(try open(file).metadata().exif)
            let fields = EXIFFields(block.span)
            #expect(fields.cameraMake == "Maker")
            #expect(fields.exposureTime == Rational(1, 250))
            #expect(fields.iso == 400)
            #expect(fields.taken?.description == "2024-02-29T23:59:59")
            #expect(block.count < 400)
        }
    }

    @Test("a TIFF file without sensor data is not RAW")
    func recognition() throws {
        let codec = try #require(sandboxCodecs().codec(named: "raw"))
        #expect(codec.recognizedByteCount(DNGFile.make(Self.size).span) > 4)
        for block in [EXIFBlock.photograph(isLittleEndian: true), []] {
            #expect(codec.recognizedByteCount(block.span) == 0)
        }
        let loop = EXIFBlock.make([(0x014A, .longs([8, 8])), (0x0106, .shorts([2]))])
        #expect(codec.recognizedByteCount(loop.span) == 0)
    }

    @Test("no file of another format is recognized as RAW")
    func foreignFiles() throws {
        let codec = try #require(sandboxCodecs().codec(named: "raw"))
        let files = SampleFiles.real(extensions: [
            "tif", "tiff", "jpg", "png", "heic", "avif", "webp", "jp2", "jxl",
        ])
        for file in files {
            guard let bytes = try? EncodedBytes(reading: file.path, first: 1 << 18) else {
                continue
            }
            let count = bytes.withBytes { codec.recognizedByteCount($0) }
            #expect(count == 0, "\(file.path)")
        }
    }

    @Test("the header is read from the start of the file")
    func start() throws {
        let preview = try Self.preview(PixelSize(width: 160, height: 120))
        let file = DNGFile.make(Self.size, preview: preview)
        let whole = try open(file).header
        let start = try open(Array(file[..<4_000])).header
        #expect(start.storedSize == whole.storedSize)
        #expect(start.orientation == whole.orientation)
    }

    @Test("memory is checked against the limits before allocation")
    func limits() throws {
        let file = DNGFile.make(Self.size)
        var limits = DecodeLimits()
        limits.maximumMemoryByteCount = Self.size.area * 8
        let source = try open(file, limits: limits)
        #expect(throws: CodecError.self) { _ = try source.image() }
        limits = DecodeLimits()
        limits.maximumPixelCount = Self.size.area - 1
        #expect(throws: CodecError.self) { _ = try open(file, limits: limits) }
    }

    @Test("stops on cancellation")
    func cancelled() throws {
        let flag = CancellationFlag()
        flag.cancel()
        let source = try open(DNGFile.make(Self.size))
        #expect(throws: CodecError.cancelled) { _ = try source.image(cancellation: flag) }
    }

    @Test("a truncated file is rejected")
    func truncated() throws {
        let file = DNGFile.make(PixelSize(width: 64, height: 48))
        for length in stride(from: 0, to: file.count - 1, by: 97) {
            #expect(throws: CodecError.self, "cut at \(length) of \(file.count)") {
                _ = try open(Array(file[..<length])).image()
            }
        }
    }

    @Test("damaged sensor data is rejected, also where truncated data is accepted")
    func damagedSamples() throws {
        let size = PixelSize(width: 64, height: 48)
        var options = DecodeOptions()
        options.acceptsTruncated = true
        let whole = try open(DNGFile.compressedGray(size, isDamaged: false)).decodedImage(options)
        #expect(whole.report.decoder == "LibRaw" && whole.report.problem == nil)
        let damaged = try open(DNGFile.compressedGray(size, isDamaged: true))
        #expect(throws: CodecError.malformed(reason: "damaged sensor data", offset: 0)) {
            try damaged.image(options)
        }
    }

    @Test("damaged files end in an image or an error")
    func damaged() throws {
        let preview = try Self.preview(PixelSize(width: 32, height: 24))
        let file = DNGFile.make(PixelSize(width: 64, height: 48), preview: preview)
        var limits = DecodeLimits()
        limits.maximumPixelCount = 1_000_000
        limits.maximumMemoryByteCount = 64 << 20
        var random = SeededRandom(seed: 11)
        let directories = file.count - 64 * 48 * 2
        var refused = 0
        for _ in 0..<400 {
            var damaged = file
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                damaged[Int.random(in: 0..<directories, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            do throws(CodecError) {
                let side = Bool.random(using: &random) ? 16 : 60
                _ = try open(damaged, limits: limits).image(DecodeOptions(maximumSide: side))
            } catch {
                refused += 1
            }
        }
        #expect(refused > 0)
    }
}
