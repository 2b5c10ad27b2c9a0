// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Testing

@testable import Pixels

@Suite("Resampling") struct ResamplingTests {
    static let sizes = [
        (PixelSize(width: 61, height: 47), PixelSize(width: 20, height: 15)),
        (PixelSize(width: 20, height: 15), PixelSize(width: 61, height: 47)),
        (PixelSize(width: 64, height: 3), PixelSize(width: 7, height: 9)),
        (PixelSize(width: 1, height: 1), PixelSize(width: 3, height: 2)),
        (PixelSize(width: 97, height: 89), PixelSize(width: 1, height: 1)),
        // The weights of these repeat every eighth or fifth sample.
        (PixelSize(width: 100, height: 75), PixelSize(width: 32, height: 24)),
        (PixelSize(width: 36, height: 30), PixelSize(width: 60, height: 50)),
    ]

    @Test(
        "matches a double-precision reference within one level",
        arguments: ResamplingKernel.allCases, [PixelFormat.gray8, .rgb8, .rgba8])
    func reference(kernel: ResamplingKernel, format: PixelFormat) {
        for (size, result) in Self.sizes {
            let source = TestImage.noise(size, format)
            let comparison = PixelComparison(
                source.resampled(to: result, kernel: kernel),
                source.referenceResampled(to: result, kernel: kernel))
            #expect(comparison.maximumDifference <= 1, "\(size) to \(result): \(comparison)")
            // Single precision may round a half the other way.
            let samples = Double(result.area * format.channelCount)
            let differing = comparison.meanDifference * samples
            #expect(differing <= 2 + samples / 100, "\(size) to \(result): \(comparison)")
        }
    }

    @Test("supports regions with fractional edges")
    func region() {
        let source = TestImage.noise(PixelSize(width: 50, height: 40))
        let region = SampleRegion(x: 3.25, y: 7.5, width: 31.5, height: 20.75)
        let size = PixelSize(width: 12, height: 8)
        let comparison = PixelComparison(
            source.resampled(to: size, region: region),
            source.referenceResampled(to: size, region: region, kernel: .lanczos3))
        #expect(comparison.maximumDifference <= 1, "\(comparison)")
    }

    @Test("boxFirst changes a photograph only slightly")
    func boxFirst() {
        let source = TestImage.photograph(PixelSize(width: 1_203, height: 907))
        let size = PixelSize(width: 100, height: 75)
        let comparison = PixelComparison(
            source.resampled(to: size, approximation: .boxFirst),
            source.resampled(to: size, approximation: .none))
        #expect(comparison.maximumDifference > 0, "the approximation was not taken")
        #expect(comparison.maximumDifference <= 6, "\(comparison)")
        #expect(comparison.meanDifference < 0.7, "\(comparison)")
    }

    @Test(
        "the sharpened kernel compensates for the softening by boxFirst",
        arguments: [PixelFormat.gray8, .rgb8])
    func sharpening(format: PixelFormat) {
        // Waves without noise: means of 2 and 4 pixels change only their amplitude.
        let source = TestImage.make(PixelSize(width: 1_280, height: 960), format) {
            x, y, channel in
            let wave = abs((x * (channel + 2) + y * (5 - channel)) % 128 - 64)
            return UInt8(64 + wave * 2)
        }
        for size in [PixelSize(width: 250, height: 188), PixelSize(width: 125, height: 94)] {
            let comparison = PixelComparison(
                source.resampled(to: size, approximation: .boxFirst),
                source.resampled(to: size, approximation: .none))
            #expect(comparison.meanDifference < 0.15, "\(size): \(comparison)")
        }
    }

    @Test("block means are exact for any block size", arguments: 1...5)
    func means(factor: Int) {
        for (format, width) in [(PixelFormat.gray8, 13), (.rgb8, 16), (.rgba8, 7)] {
            // The last block is narrower.
            let size = PixelSize(width: width * factor - factor / 2, height: 8)
            let source = TestImage.noise(size, format)
            let channels = format.channelCount
            var reducer = BoxReducer(
                width: size.width, channelCount: channels, horizontalFactor: factor,
                verticalFactor: 4)
            for top in [0, 4] {
                var means = [Float](repeating: -1, count: width * channels + 4)
                for y in top..<top + 4 {
                    let hasMeans = reducer.append(source.row(y), isLast: false, into: &means, at: 1)
                    #expect(hasMeans == (y == top + 3))
                }
                for index in 0..<width * channels {
                    let first = index / channels * factor
                    let columns = first..<min(first + factor, size.width)
                    var total = 0
                    for y in top..<top + 4 {
                        for x in columns {
                            total += Int(source.row(y)[x * channels + index % channels])
                        }
                    }
                    let expected = Float(total) / Float(columns.count * 4)
                    #expect(abs(means[index + 1] - expected) < 0.001)
                }
                #expect(means[0] == -1)
                if channels == 1 { #expect(means[(width + 1)...].allSatisfy { $0 == -1 }) }
            }
        }
    }

    @Test("holds a few rows, however tall the source is")
    func memory() {
        let result = PixelSize(width: 400, height: 300)
        let held = [3_024, 100_000].map { height in
            RowResampler(
                from: PixelSize(width: 4_032, height: height), .rgb8, to: result
            ).workingByteCount
        }
        #expect(held[0] > 0)
        // The sums of a source row, and rows of means, a quarter as wide: one for each tap and one
        // more.
        let (sums, means) = (4_032 * 3 * 2, 1_008 * 3 * 4)
        #expect(held[0] < sums + means * (18 + 1) + 10_000)
        #expect(held[1] < held[0] * 2)
    }

    @Test(
        "makes the same result from pixels in any order",
        arguments: [PixelFormat.gray8, .rgb8, .rgba8])
    func unordered(format: PixelFormat) throws {
        let source = TestImage.noise(PixelSize(width: 203, height: 151), format)
        // Blocks of up to 257 pixels, and of 810.
        let sizes = [(20, 15), (3, 30), (3, 2)].map { PixelSize(width: $0, height: $1) }
        for size in sizes {
            var resampler = RowResampler(from: source.size, format, to: size)
            let emptySums = resampler.blockSums
            var sums = try #require(emptySums)
            for y in (0..<source.size.height).reversed() {
                for (column, step) in [(1, 2), (0, 4), (2, 8), (6, 8)] {
                    let row = source.row(y)
                    var pixels: [UInt8] = []
                    for x in stride(from: column, to: source.size.width, by: step) {
                        for channel in 0..<format.channelCount {
                            pixels.append(row[x * format.channelCount + channel])
                        }
                    }
                    sums.add(pixels.span, y: y, from: column, step: step)
                }
            }
            resampler.append(sums)
            let result = resampler.finish()
            let expected = source.resampled(to: size, approximation: .boxFirst)
            #expect(result.packedBytes == expected.packedBytes, "\(size)")
        }
        let small = RowResampler(from: source.size, format, to: PixelSize(width: 60, height: 50))
        let smallSums = small.blockSums
        #expect(smallSums == nil)
    }

    @Test("keeps a flat colour exactly", arguments: ResamplingKernel.allCases)
    func flat(kernel: ResamplingKernel) {
        let source = TestImage.flat(PixelSize(width: 333, height: 222), .rgb8, [3, 128, 254])
        for size in [PixelSize(width: 10, height: 7), PixelSize(width: 400, height: 300)] {
            for approximation in [RowResampler.Approximation.none, .boxFirst] {
                let result = source.resampled(
                    to: size, kernel: kernel, approximation: approximation)
                let expected = TestImage.flat(size, .rgb8, [3, 128, 254])
                #expect(PixelComparison(result, expected).maximumDifference == 0)
            }
        }
    }

    @Test("never produces a colour above its alpha")
    func premultiplied() {
        let source = TestImage.noise(PixelSize(width: 90, height: 70), .rgba8)
        let result = source.resampled(to: PixelSize(width: 41, height: 33))
        let bytes = result.packedBytes
        for pixel in stride(from: 0, to: bytes.count, by: 4) {
            #expect(bytes[pixel..<pixel + 3].allSatisfy { $0 <= bytes[pixel + 3] })
        }
    }

    @Test(
        "agrees with Pillow to one level",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: ResamplingKernel.allCases, [PixelFormat.gray8, .rgb8])
    func pillow(kernel: ResamplingKernel, format: PixelFormat) throws {
        // Away from black and white, where Pillow clamps overshoot between its two passes.
        var random = SeededRandom(seed: 5)
        let source = TestImage.make(PixelSize(width: 640, height: 427), format) { x, y, channel in
            let wave = abs((x * (channel + 2) + y * (5 - channel)) % 256 - 128)
            return UInt8(56 + wave + Int(random.next() % 17))
        }
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "source.ppm")
            let header = Array("\(format == .gray8 ? "P5" : "P6") 640 427 255\n".utf8)
            try Data(header + source.packedBytes).write(to: file)
            for size in [PixelSize(width: 100, height: 67), PixelSize(width: 900, height: 600)] {
                let pillow = try #require(
                    try PeerTool.image(
                        "resample.py",
                        [file.path, "\(size.width)", "\(size.height)", kernel.rawValue]))
                let comparison = PixelComparison(source.resampled(to: size, kernel: kernel), pillow)
                // Pillow rounds between its passes: a quarter of a level on average.
                #expect(comparison.maximumDifference <= 1, "\(size): \(comparison)")
                #expect(comparison.meanDifference < 0.25, "\(size): \(comparison)")
            }
        }
    }
}
