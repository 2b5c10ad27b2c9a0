// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("An image that is still arriving") struct IncrementalImageTests {
    /// A file that has a preview before it is complete.
    struct Kind: CustomTestStringConvertible, Sendable {
        let name: String
        let format: String
        var pixels = PixelFormat.rgb8
        var change: @Sendable (inout EncodeOptions) -> Void = { _ in }
        /// Whether it is refined as a whole instead of row by row.
        var hasPasses = false
        /// The largest difference from the image decoded from the whole file: libjpeg and the
        /// shrinking decoder round differently.
        var tolerance = 0

        var testDescription: String { name }
    }

    static let kinds = [
        Kind(name: "PNG", format: "png"),
        Kind(name: "PNG with alpha", format: "png", pixels: .rgba8),
        Kind(name: "JPEG", format: "jpeg", tolerance: 8),
        Kind(
            name: "progressive JPEG", format: "jpeg", change: { $0.isProgressive = true },
            hasPasses: true, tolerance: 8),
        Kind(name: "WebP", format: "webp", tolerance: 4),
        Kind(
            name: "lossless WebP with alpha", format: "webp", pixels: .rgba8,
            change: { $0.isLossless = true }),
        Kind(name: "JPEG XL", format: "jpegxl", hasPasses: true),
    ].filter { builtInCodecs.codec(named: $0.format) != nil }

    private func file(_ kind: Kind, _ image: PixelBuffer) throws -> [UInt8] {
        var options = EncodeOptions()
        kind.change(&options)
        return try ImageDestination(
            format: kind.format, codecs: builtInCodecs, options: options
        ).encode(image)
    }

    /// Appends a file in pieces of random lengths and checks each preview.
    private func decoded(
        _ file: [UInt8], _ options: DecodeOptions, pieces: ClosedRange<Int>, seed: UInt64 = 1,
        _ look: (ImagePreview) throws -> Void = { _ in }
    ) throws -> DecodedImage {
        var random = SeededRandom(seed: seed)
        var image = IncrementalImage(codecs: builtInCodecs, options: options)
        var place = 0
        while place < file.count {
            let end = min(file.count, place + Int.random(in: pieces, using: &random))
            try image.append(Array(file[place..<end]))
            place = end
            if let preview = try image.preview() { try look(preview) }
        }
        return try image.finish()
    }

    @Test("ends like one that arrived at once, and improves on the way", arguments: kinds)
    func previews(kind: Kind) throws {
        let image = TestImage.photograph(PixelSize(width: 500, height: 333), kind.pixels)
        let file = try file(kind, image)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        for side in [500, 90] {
            let options = DecodeOptions(maximumSide: side)
            let expected = try source.image(options)
            var rowCounts: [Int] = []
            var distances: [Double] = []
            let result = try decoded(file, options, pieces: 1...3000) { preview in
                #expect(preview.image.size == expected.size)
                switch preview.completeness {
                case .rows(let count):
                    rowCounts.append(count)
                    // Decoded rows do not change.
                    let last = preview.image.row(count - 1)
                    let final = expected.row(count - 1)
                    var worst = 0
                    for index in last.indices {
                        worst = max(worst, abs(Int(last[index]) - Int(final[index])))
                    }
                    #expect(worst <= kind.tolerance, "row \(count - 1)")
                case .pass:
                    distances.append(PixelComparison(preview.image, expected).meanDifference)
                case .thumbnail: Issue.record("it has no thumbnail")
                }
            }
            let comparison = PixelComparison(result.image, expected)
            #expect(comparison.maximumDifference <= kind.tolerance, "\(comparison)")
            #expect(kind.hasPasses == rowCounts.isEmpty)
            #expect(rowCounts == rowCounts.sorted() && Set(rowCounts).count == rowCounts.count)
            if kind.hasPasses {
                #expect(distances.count > 2)
                #expect(distances.last ?? 256 < distances[0])
                #expect(distances[0] < 30, "the first version is \(distances[0]) off")
            } else {
                #expect(rowCounts.count > 3)
            }
        }
    }

    @Test("has every eighth, fourth and second pixel of an interlaced PNG first")
    func interlaced() throws {
        var png = PNGFile(width: 83, height: 45, colorType: 6, bitDepth: 8)
        png.isInterlaced = true
        let file = png.bytes()
        let expected = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image()
        var passes: [Int] = []
        let result = try decoded(file, DecodeOptions(), pieces: 1...40) { preview in
            guard case .pass(let pass) = preview.completeness else {
                // Only the end of the file is missing.
                #expect(preview.completeness == .rows(45))
                return
            }
            passes.append(pass)
            let step = 16 >> pass
            for y in stride(from: 0, to: 45, by: step) {
                let (row, final) = (preview.image.row(y), expected.row(y))
                for x in stride(from: 0, to: 83 * 4, by: step * 4) {
                    #expect(row[x] == final[x], "pass \(pass), \(x / 4), \(y)")
                }
            }
        }
        #expect(passes == [1, 2, 3])
        #expect(PixelComparison(result.image, expected).maximumDifference == 0)
    }

    @Test(
        "ends like one that arrived at once, in every format",
        arguments: CodecContractTests.formats)
    func everyFormat(format: String) throws {
        let image = TestImage.photograph(PixelSize(width: 61, height: 47))
        let file = try ImageDestination(format: format, codecs: builtInCodecs).encode(image)
        let expected = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image()
        for (pieces, seed) in [(1...1, 1), (1...400, 2), (file.count...file.count, 3)] {
            let result = try decoded(
                file, DecodeOptions(), pieces: pieces, seed: UInt64(seed))
            let comparison = PixelComparison(result.image, expected)
            #expect(comparison.maximumDifference <= 4, "\(comparison)")
        }
    }

    @Test("has a size long before its end", arguments: kinds)
    func header(kind: Kind) throws {
        let picture = TestImage.photograph(PixelSize(width: 500, height: 333), kind.pixels)
        let file = try file(kind, picture)
        var image = IncrementalImage(codecs: builtInCodecs)
        try image.append([])
        #expect(image.header == nil)
        try image.append(Array(file.prefix(1024)))
        #expect(image.header?.pixelSize == picture.size)
        #expect(image.format?.isNamed(kind.format) == true)
    }

    @Test("is rejected as soon as it cannot be an image or is too long")
    func refused() throws {
        var page = IncrementalImage(codecs: builtInCodecs)
        try page.append(Array("<!DOCTYPE html><title>404</title>".utf8))
        #expect(throws: CodecError.unknownFormat) {
            try page.append(Array(repeating: 32, count: 5000))
        }
        var limits = DecodeLimits()
        limits.maximumByteCount = 1000
        var long = IncrementalImage(codecs: builtInCodecs, limits: limits)
        try long.append(Array(repeating: 0, count: 600))
        #expect(throws: CodecError.limitExceeded(.byteCount, needed: 1200, allowed: 1000)) {
            try long.append(Array(repeating: 0, count: 600))
        }
        limits.maximumPixelCount = 100
        limits.maximumByteCount = .max
        var large = IncrementalImage(codecs: builtInCodecs, limits: limits)
        let file = try file(
            Self.kinds[0], TestImage.photograph(PixelSize(width: 20, height: 20)))
        #expect(throws: CodecError.limitExceeded(.pixelCount, needed: 400, allowed: 100)) {
            try large.append(file)
        }
    }

    @Test("that is truncated ends like a truncated file", arguments: kinds)
    func cut(kind: Kind) throws {
        let image = TestImage.photograph(PixelSize(width: 160, height: 120), kind.pixels)
        let file = try file(kind, image)
        let cut = Array(file.prefix(file.count * 2 / 3))
        #expect(throws: CodecError.truncated(byteCount: cut.count)) {
            _ = try decoded(cut, .strict, pieces: 1...500)
        }
        let result = try decoded(cut, DecodeOptions(), pieces: 1...500)
        #expect(result.report.problem == .truncated(byteCount: cut.count))
        #expect(result.image.size == image.size)
    }

    @Test("that is damaged ends in an image or an error", arguments: kinds)
    func damaged(kind: Kind) throws {
        let file = try file(
            kind, TestImage.photograph(PixelSize(width: 64, height: 48), kind.pixels))
        var random = SeededRandom(seed: 7)
        var shownCount = 0
        for seed in 0..<60 {
            var bytes = file
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            do {
                _ = try decoded(bytes, DecodeOptions(), pieces: 1...900, seed: UInt64(seed))
                shownCount += 1
            } catch {
                #expect(error is CodecError)
            }
        }
        #expect(shownCount < 60, "no damage was found")
    }
}

@Suite("A real image that is still arriving") struct RealIncrementalImageTests {
    @Test(
        "ends like one that arrived at once",
        arguments: SampleFiles.real(extensions: ["jpg", "jpeg", "png", "webp", "jxl"]).filter {
            (try? Data(contentsOf: $0).count) ?? .max < 60_000
        })
    func real(file: URL) throws {
        let bytes = Array(try Data(contentsOf: file))
        let options = DecodeOptions(maximumSide: 300)
        let expected = Result {
            try ImageSource(EncodedBytes(bytes), codecs: builtInCodecs).image(options)
        }
        let result = Result { () throws -> PixelBuffer in
            var image = IncrementalImage(codecs: builtInCodecs, options: options)
            let step = bytes.count / 3 + 1
            for start in stride(from: 0, to: bytes.count, by: step) {
                try image.append(Array(bytes[start..<min(start + step, bytes.count)]))
                _ = try? image.preview()
            }
            return try image.finish().image
        }
        switch (expected, result) {
        case (.success(let expected), .success(let result)):
            let comparison = PixelComparison(result, expected)
            #expect(comparison.meanDifference < 2, "\(comparison)")
        case (.failure, .failure): break
        default: Issue.record("\(expected) but \(result)")
        }
    }
}
