// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Pixels
import Testing

@testable import ImageCodecs

/// The shrinking decoder against the plain one, sample by sample.
@Suite("Shrinking decoder") struct ShrinkingDecoderTests {
    /// The numbers of what was compared.
    struct Tally: CustomStringConvertible {
        var files = 0
        var progressive = 0
        var partial = 0
        var twoComponents = 0
        var tooManyScans = 0
        var planes = 0
        var samples = 0
        var worst = 0.0

        var description: String {
            "\(files) files, \(progressive) progressive, \(partial) partial, \(twoComponents) of two "
                + "components, \(tooManyScans) of too many scans; \(planes) planes, \(samples) "
                + "samples, at most \(worst) off"
        }
    }

    /// Half a rounding step, 1/32 by which halves are raised, and the error of single precision.
    static let tolerance = 0.5 + 1 / 32.0 + 1 / 1024.0
    /// Window sizes: the minimum, several windows a file, and most files completely.
    static let windows = [1 << 10, 10_000, EntropyCodedData.windowByteCount]
    static let sides = [[1], [2], [4], [8], [2, 1], [1, 2], [4, 8], [8, 1, 4, 2]]

    @Test(
        "every sample follows the formula",
        .enabled(if: JPEGVariants.toolsAreInstalled, "\(JPEGVariants.requirement)"))
    func formula() throws {
        var tally = Tally()
        try GeneratedFiles.forEach(seed: 11) { file in
            let plain = try PlainJPEG(file.bytes)
            tally.partial += file.isComplete ? 0 : 1
            try compare(file.bytes, plain, file.recipe, &tally)
        }
        print("Shrinking and plain decoder: \(tally)")
        check(tally)
        #expect(tally.partial > tally.files / 100)
    }

    @Test(
        "a draft lacks only the refinement scans",
        .enabled(if: JPEGVariants.toolsAreInstalled, "\(JPEGVariants.requirement)"))
    func draft() throws {
        var tally = Tally()
        try GeneratedFiles.forEach(seed: 12, count: GeneratedFiles.count / 2) { file in
            let plain = try PlainJPEG(file.bytes, skipsRefinement: true)
            guard plain.isProgressive else { return }
            try compare(file.bytes, plain, file.recipe, isDraft: true, &tally)
        }
        print("Shrinking decoder's drafts and plain decoder: \(tally)")
        check(tally)
    }

    @Test(
        "samples of the project's files and of real ones follow the formula",
        .enabled(if: TestBuild.isOptimized, GeneratedFiles.needsOptimization))
    func files() throws {
        var tally = Tally()
        var notHandled: [String] = []
        for (file, bytes) in try RealJPEG.files(pixelLimit: 300_000) {
            // The plain decoder requires valid files; some of these are damaged on purpose.
            guard let plain = try? PlainJPEG(bytes), plain.isReasonable,
                ShrunkPlanes.isOrderly(bytes)
            else { continue }
            if try ShrunkPlanes.decode(bytes, sides: [1]) == nil {
                notHandled.append(file.lastPathComponent)
            } else {
                try compare(bytes, plain, file.path, &tally)
            }
        }
        print(
            "Shrinking and plain decoder, the project's and real files: \(tally); not \(notHandled)"
        )
        #expect(tally.files >= 10)
        // One file lacks all DC coefficients.
        #expect(notHandled.count <= tally.files / 20)
    }

    /// Scans long enough for several lanes.
    @Test(
        "synchronized lanes find the same blocks as one lane",
        .enabled(if: TestBuild.isOptimized, GeneratedFiles.needsOptimization),
        arguments: EncodeOptions.ChromaSubsampling.allCases)
    func lanes(subsampling: EncodeOptions.ChromaSubsampling) throws {
        var tally = Tally()
        let qualities = GeneratedFiles.isDeep ? [5, 25, 50, 75, 90, 97, 100] : [5, 75, 100]
        var planeCount = 0
        for (number, quality) in qualities.enumerated() {
            for (kind, image) in [
                TestImage.photograph(PixelSize(width: 1021, height: 611), seed: UInt64(number)),
                TestImage.photograph(PixelSize(width: 733, height: 900), .gray8),
                TestImage.noise(PixelSize(width: 400, height: 333), seed: UInt64(number)),
                TestImage.flat(PixelSize(width: 2500, height: 1300), .rgb8, [30, 90, 200]),
            ].enumerated() {
                // The codes of a flat image hardly depend on the quality, and it has most blocks.
                if kind == 3, number > 0, !GeneratedFiles.isDeep { continue }
                planeCount += image.format == .gray8 ? 1 : 3
                var options = EncodeOptions()
                options.quality = quality
                options.chromaSubsampling = subsampling
                let bytes = try ImageDestination(
                    format: "jpeg", codecs: builtInCodecs, options: options
                ).encode(image)
                try compare(
                    bytes, try PlainJPEG(bytes), "picture \(kind) at quality \(quality)", &tally)
            }
        }
        #expect(tally.planes == planeCount * Self.sides.count)
    }

    private func check(_ tally: Tally) {
        #expect(tally.planes > tally.files * 8)
        #expect(tally.progressive > tally.files / 4)
        // Two of eleven among the three in ten that are composed.
        #expect(tally.twoComponents <= tally.files / 8)
        #expect(tally.tooManyScans <= tally.files / 20)
    }

    private func compare(
        _ bytes: [UInt8], _ plain: PlainJPEG, _ name: String, isDraft: Bool = false,
        _ tally: inout Tally
    ) throws {
        tally.files += 1
        tally.progressive += plain.isProgressive ? 1 : 0
        if plain.components.count == 2 { tally.twoComponents += 1 }
        var expected: [String: (width: Int, height: Int, samples: [Double])] = [:]
        guard plain.scanCount <= DecodeLimits().maximumScanCount else {
            // Some end below the limit, because later scans are not needed.
            tally.tooManyScans += 1
            return
        }
        for (number, sides) in Self.sides.enumerated() {
            let planes = try ShrunkPlanes.decode(
                bytes, sides: sides, isDraft: isDraft,
                windowByteCount: Self.windows[(tally.files + number) % Self.windows.count],
                minimumBlocksForTable: (tally.files + number) % 3 == 0
                    ? BandTable.minimumBlockCount : 0)
            guard let planes, let image = planes.image else {
                #expect(plain.components.count == 2, "not handled: \(name)")
                continue
            }
            #expect(planes.isWhole, "rows are missing: \(name)")
            for (index, component) in plain.components.enumerated() {
                let side = sides[min(index, sides.count - 1)]
                let key = "\(index) \(side)"
                let plane = expected[key] ?? component.lowFrequencyPlane(size: side)
                expected[key] = plane
                let size = image.size(of: index)
                guard size == PixelSize(width: plane.width, height: plane.height) else {
                    Issue.record("\(size) for \(plane.width)x\(plane.height): \(name)")
                    continue
                }
                let difference = largestDifference(
                    planes.samples[index], plane.samples, isExact: side == 1)
                #expect(
                    difference <= Self.tolerance, "component \(index) of \(name), sides \(sides)")
                tally.planes += 1
                tally.samples += plane.samples.count
                tally.worst = max(tally.worst, difference)
            }
        }
    }

    /// Returns the largest difference; 256 for any difference where samples are computed in
    /// integers, (DC · q + 4) / 8 rounded down.
    private func largestDifference(
        _ samples: [UInt8], _ expected: [Double], isExact: Bool
    ) -> Double {
        guard samples.count == expected.count else { return 256 }
        var largest = 0.0
        for index in samples.indices {
            let value = isExact ? (expected[index] + 0.5).rounded(.down) : expected[index]
            let difference = abs(Double(samples[index]) - min(max(value, 0), 255))
            largest = max(largest, isExact && difference > 0 ? 256 : difference)
        }
        return largest
    }
}

extension PlainJPEG {
    /// Whether all coefficients are in the range of 8-bit images, with a margin; others can
    /// overflow.
    var isReasonable: Bool {
        components.allSatisfy { component in
            (0..<component.blocksDown).allSatisfy { y in
                (0..<component.blocksAcross).allSatisfy { x in
                    let block = component.coefficients(blockX: x, blockY: y)
                    return abs(block[0]) < 1 << 15 && block[1...].allSatisfy { abs($0) < 1 << 10 }
                        && zip(block, component.quantization).allSatisfy { abs($0 * $1) < 1 << 16 }
                }
            }
        }
    }
}

/// The available JPEG files, the project's own first.
enum RealJPEG {
    /// Returns all files that can be opened and have at most `pixelLimit` pixels.
    static func files(pixelLimit: Int) throws -> [(file: URL, bytes: [UInt8])] {
        let files =
            SampleFiles.own("jpeg", "valid") + SampleFiles.real(extensions: ["jpg", "jpeg", "jpe"])
        return try files.compactMap { file in
            let bytes = Array(try Data(contentsOf: file))
            guard let source = try? ImageSource(EncodedBytes(bytes), codecs: builtInCodecs),
                source.format.name == "jpeg", source.header.storedSize.area <= pixelLimit
            else { return nil }
            return (file, bytes)
        }
    }
}
