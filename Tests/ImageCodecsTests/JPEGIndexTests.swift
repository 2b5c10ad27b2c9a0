// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageCodecs

@Suite("An index of a JPEG file") struct JPEGIndexTests {
    /// What was compared.
    private struct Tally: CustomStringConvertible {
        var files = 0
        var indexed = 0
        var regions = 0
        var fromIndex = 0
        var description: String {
            "\(files) files, \(indexed) with an index, \(fromIndex) of \(regions) regions decoded "
                + "with it"
        }
    }

    /// Compares regions of a file decoded with its index and without.
    private func compare(
        _ bytes: [UInt8], _ name: String, _ random: inout SeededRandom, _ tally: inout Tally
    ) throws {
        tally.files += 1
        guard var source = try? ImageSource(EncodedBytes(bytes), codecs: builtInCodecs) else {
            return
        }
        var options = DecodeOptions().strict
        guard let whole = try? source.image(options), let index = try source.makeIndex() else {
            return
        }
        tally.indexed += 1
        source.index = try ImageIndex(bytes: index.bytes)
        let size = source.pixelSize
        for number in 0..<18 {
            var region = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
            let limit = number < 6 ? 40 : 300
            region.height = .random(in: 1...min(limit, size.height), using: &random)
            region.y = .random(in: 0...size.height - region.height, using: &random)
            // The last regions have the width of the image, and one reaches its end.
            if number < 12 {
                region.width = .random(in: 1...min(limit, size.width), using: &random)
                region.x = .random(in: 0...size.width - region.width, using: &random)
            }
            if number % 6 == 0 { region.x = size.width - region.width }
            if number % 6 == 1 { region.y = size.height - region.height }
            options.region = region
            let decoded = try source.decodedImage(options)
            tally.regions += 1
            if decoded.report.decoder.contains("indexed") { tally.fromIndex += 1 }
            let comparison = PixelComparison(decoded.image, whole.cut(region))
            #expect(comparison.maximumDifference == 0, "\(region) of \(name)")
        }
    }

    @Test("regions of own and real files are equal to the cropped whole")
    func realFiles() throws {
        var (tally, random) = (Tally(), SeededRandom(seed: 7))
        for (file, bytes) in try RealJPEG.files(pixelLimit: 3_000_000) {
            try compare(bytes, file.lastPathComponent, &random, &tally)
        }
        print("Index, own and real files: \(tally)")
        #expect(tally.indexed > 0)
        #expect(tally.fromIndex > 0)
    }

    @Test(
        "regions of generated files are equal to the cropped whole",
        .enabled(if: JPEGVariants.toolsAreInstalled, "\(JPEGVariants.requirement)"))
    func generatedFiles() throws {
        var (tally, random) = (Tally(), SeededRandom(seed: 8))
        try GeneratedFiles.forEach(seed: 19) { file in
            try compare(file.bytes, file.recipe, &random, &tally)
        }
        print("Index, generated files: \(tally)")
        #expect(tally.indexed > tally.files / 10)
        #expect(tally.fromIndex > tally.regions / 10)
    }

    /// A file that is large enough for several index entries in each row of MCUs.
    private func photograph(seed: UInt64) throws -> [UInt8] {
        let image = TestImage.photograph(PixelSize(width: 2200, height: 300), seed: seed)
        return try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(image)
    }

    private func decoded(
        _ bytes: [UInt8], _ index: ImageIndex?, _ region: PixelRect
    ) throws -> DecodedImage {
        var source = try ImageSource(EncodedBytes(bytes), codecs: builtInCodecs)
        source.index = index
        var options = DecodeOptions().strict
        options.region = region
        return try source.decodedImage(options)
    }

    private let region = PixelRect(x: 1700, y: 170, width: 100, height: 90)
    /// A region whose data is copied without decoding it.
    private let band = PixelRect(x: 0, y: 170, width: 2200, height: 90)

    @Test("an index of another file is ignored")
    func otherFile() throws {
        let files = try [photograph(seed: 1), photograph(seed: 2)]
        let index = try ImageSource(EncodedBytes(files[0]), codecs: builtInCodecs).makeIndex()
        let own = try decoded(files[0], index, region)
        #expect(own.report.decoder == "libjpeg-turbo, indexed")
        let other = try decoded(files[1], index, region)
        #expect(other.report.decoder == "libjpeg-turbo")
        let comparison = PixelComparison(
            other.image, try decoded(files[1], nil, region).image)
        #expect(comparison.maximumDifference == 0)
    }

    @Test("a truncated file has no index, and ignores that of the complete one")
    func truncated() throws {
        let file = try photograph(seed: 1)
        let index = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).makeIndex()
        let part = Array(file.prefix(file.count * 4 / 5))
        let source = try ImageSource(EncodedBytes(part), codecs: builtInCodecs)
        #expect(try source.makeIndex() == nil)
        #expect(throws: CodecError.truncated(byteCount: part.count)) {
            try decoded(part, index, region)
        }
    }

    @Test("a damaged index is an error, and one made to deceive cannot cause a crash")
    func damaged() throws {
        let file = try photograph(seed: 1)
        let index = try #require(
            try ImageSource(EncodedBytes(file), codecs: builtInCodecs).makeIndex())
        var random = SeededRandom(seed: 3)
        for number in 0..<200 {
            var bytes = index.bytes
            // Half of the changes concern the header.
            let place = Int.random(in: 8..<(number < 100 ? 24 : bytes.count), using: &random)
            bytes[place] ^= UInt8.random(in: 1...255, using: &random)
            #expect(throws: CodecError.self) { try ImageIndex(bytes: bytes) }
            for region in [region, band] {
                let forged = ImageIndex(content: Array(bytes.dropFirst(8)))
                #expect(try decoded(file, forged, region).image.size == region.size)
            }
        }
        #expect(throws: CodecError.self) { try ImageIndex(bytes: [1, 2, 3]) }
        let short = ImageIndex(content: Array(index.bytes.dropFirst(8).dropLast()))
        #expect(try decoded(file, short, region).report.decoder == "libjpeg-turbo")
    }

    @Test("damaged data after the index was made is an error or an image of the right size")
    func damagedData() throws {
        let file = try photograph(seed: 1)
        let index = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).makeIndex()
        var random = SeededRandom(seed: 4)
        for _ in 0..<200 {
            var damaged = file
            damaged[.random(in: file.count / 2..<file.count, using: &random)] =
                .random(in: 0...255, using: &random)
            for region in [region, band] {
                let image = try? decoded(damaged, index, region)
                #expect(image == nil || image?.image.size == region.size)
            }
        }
    }

    @Test("an index takes less than 1 kB per megapixel of 4:2:0, and does not depend on windows")
    func size() throws {
        let file = try photograph(seed: 1)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        let index = try #require(try source.makeIndex())
        #expect(index.bytes.count < 1000)
        var indexer = JPEGIndexer(limits: DecodeLimits(), cancellation: nil, releaseInput: nil)
        indexer.windowByteCount = 3000
        #expect(try indexer.index(of: file.span) == index)
        #expect(throws: CodecError.cancelled) {
            let flag = CancellationFlag()
            flag.cancel()
            _ = try source.makeIndex(cancellation: flag)
        }
    }

    @Test("formats and files without sequential data have no index", arguments: ["png", "webp"])
    func otherFormats(format: String) throws {
        let image = TestImage.photograph(PixelSize(width: 64, height: 64), seed: 1)
        let file = try ImageDestination(format: format, codecs: builtInCodecs).encode(image)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        #expect(try source.makeIndex() == nil)
    }
}
