// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageCodecs

/// Truncated and damaged files, small ones of every kind.
@Suite("Shrinking decoder: damaged files") struct ShrinkingDecoderDamageTests {
    typealias Answer = Result<[UInt8], CodecError>

    static var limits: DecodeLimits {
        var limits = DecodeLimits()
        limits.maximumPixelCount = 1 << 16
        limits.maximumMemoryByteCount = 1 << 22
        return limits
    }

    static func files() throws -> [(name: String, bytes: [UInt8])] {
        try SampleFiles.own("jpeg", "valid").map {
            ($0.lastPathComponent, Array(try Data(contentsOf: $0)))
        }
    }

    /// Returns the image or the error.
    private func image(_ file: [UInt8], _ options: DecodeOptions) -> Answer {
        do {
            let source = try ImageSource(
                EncodedBytes(file), codecs: builtInCodecs, limits: Self.limits)
            return .success(try source.image(options).packedBytes)
        } catch {
            return .failure(error)
        }
    }

    /// Returns the planes or the error; `nil` if libjpeg-turbo has to decode the file.
    private func planes(_ file: [UInt8], _ sides: [Int], isDraft: Bool) -> Answer? {
        do throws(CodecError) {
            return try ShrunkPlanes.decode(
                file, sides: sides, isDraft: isDraft, limits: Self.limits, minimumBlocksForTable: 0
            ).map { .success(Array($0.samples.joined())) }
        } catch {
            return .failure(error)
        }
    }

    @Test(
        "a truncated file is decoded completely or not at all",
        .enabled(if: TestBuild.isOptimized, GeneratedFiles.needsOptimization))
    func truncation() throws {
        var images = 0
        var errors = 0
        for (name, file) in try Self.files() {
            for (side, acceptsYCbCr) in [(4, false), (9, true), (12, false)] {
                var options = DecodeOptions(maximumSide: side).strict
                options.acceptsYCbCr = acceptsYCbCr
                let whole = image(file, options)
                #expect(throws: Never.self) { try whole.get() }
                for count in 0..<file.count {
                    switch image(Array(file[..<count]), options) {
                    case .success(let samples):
                        images += 1
                        let isSame = (try? whole.get()) == samples
                        #expect(isSame, "the first \(count) bytes of \(name) at \(side)")
                    case .failure: errors += 1
                    }
                }
            }
        }
        print("Cut short: \(images) pictures, \(errors) errors")
        #expect(images > 0)
        #expect(errors > images * 10)
    }

    @Test(
        "hostile files are decoded or rejected consistently",
        arguments: SampleFiles.own("jpeg", "hostile"))
    func hostile(file: URL) throws {
        let bytes = Array(try Data(contentsOf: file))
        for side in 1...20 {
            for quality in DecodeOptions.Quality.allCases {
                var options = DecodeOptions(maximumSide: side)
                options.quality = quality
                #expect(image(bytes, options) == image(bytes, options))
            }
        }
        for side in [1, 2, 4, 8] {
            #expect(planes(bytes, [side], isDraft: false) != nil)
        }
    }

    /// The number of damaged files, from the environment variable `CALOTYPE_DEEP_FILES`.
    static var count: Int {
        TestBuild.isOptimized ? max(20_000, JPEGVariants.fileCount * 10) : 500
    }

    @Test("decoding a damaged file yields an image or an error, reproducibly", arguments: 1...4)
    func damage(seed: UInt64) throws {
        let files = try Self.files()
        var random = SeededRandom(seed: seed)
        var tally = (images: 0, errors: 0, planes: 0, plain: 0)
        for number in 0..<Self.count / 4 {
            let name = "seed \(seed), number \(number)"
            let file = files.randomElement(using: &random)?.bytes ?? []
            let other = files.randomElement(using: &random)?.bytes ?? []
            var mutation = JPEGMutation(seed: random.next())
            let damaged =
                number.isMultiple(of: 2)
                ? mutation.bytes(of: file) : mutation.structure(of: file, with: other)

            if Bool.random(using: &random) {
                var options = DecodeOptions(maximumSide: Int.random(in: 1...20, using: &random))
                options.acceptsYCbCr = Bool.random(using: &random)
                options.quality = Bool.random(using: &random) ? .exact : .fast
                let first = image(damaged, options)
                #expect(first == image(damaged, options), "\(name)")
                if case .success = first { tally.images += 1 } else { tally.errors += 1 }
                continue
            }
            let sides = (0..<4).map { _ in 1 << Int.random(in: 0...3, using: &random) }
            let isDraft = Bool.random(using: &random)
            let samples = planes(damaged, sides, isDraft: isDraft)
            #expect(samples == planes(damaged, sides, isDraft: isDraft), "\(name)")
            guard case .success(let samples) = samples else { continue }
            tally.planes += 1
            guard let expected = expected(damaged, sides, isDraft) else { continue }
            tally.plain += 1
            let isClose =
                samples.count == expected.count
                && zip(samples, expected).allSatisfy {
                    abs(Double($0) - min(max($1, 0), 255)) <= ShrinkingDecoderTests.tolerance
                }
            #expect(isClose, "\(name)")
        }
        print("Damaged, seed \(seed): \(tally)")
        #expect(tally.images > Self.count / 100)
        #expect(tally.errors > Self.count / 100)
        #expect(tally.plain > Self.count / 100)
    }

    /// Returns the planes of the plain decoder, if it accepts the damaged file.
    private func expected(_ file: [UInt8], _ sides: [Int], _ isDraft: Bool) -> [Double]? {
        guard let plain = try? PlainJPEG(file, skipsRefinement: isDraft), plain.isReasonable,
            ShrunkPlanes.isOrderly(file)
        else { return nil }
        return plain.components.enumerated().flatMap { index, component in
            component.lowFrequencyPlane(size: sides[index]).samples
        }
    }
}
