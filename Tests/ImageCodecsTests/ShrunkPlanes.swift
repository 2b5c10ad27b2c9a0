// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@testable import ImageCodecs

/// Collects the rows of a ``ShrinkingDecoder``.
struct ShrunkPlanes: ComponentSink {
    private(set) var image: ShrunkImage?
    /// By component: its rows, concatenated.
    private(set) var samples: [[UInt8]] = []
    /// Whether every row had the width of its component.
    private(set) var isRegular = true
    private let chooseSides: (JPEGFrame, JPEGScanReader.ColorSpace) -> [Int]?

    init(_ chooseSides: @escaping (JPEGFrame, JPEGScanReader.ColorSpace) -> [Int]?) {
        self.chooseSides = chooseSides
    }

    func blockSides(_ frame: JPEGFrame, _ space: JPEGScanReader.ColorSpace) -> [Int]? {
        chooseSides(frame, space)
    }

    mutating func begin(_ image: ShrunkImage) throws(CodecError) {
        isRegular = isRegular && self.image == nil
        self.image = image
        samples = Array(repeating: [], count: image.frame.components.count)
    }

    mutating func append(_ row: Span<UInt8>, component: Int) throws(CodecError) {
        isRegular = isRegular && row.count == image?.size(of: component).width
        for index in row.indices { samples[component].append(row[index]) }
    }

    /// Whether all rows of each component have been delivered.
    var isWhole: Bool {
        guard let image else { return false }
        return isRegular
            && samples.indices.allSatisfy { samples[$0].count == image.size(of: $0).area }
    }

    /// Decodes a file.
    ///
    /// - Parameters:
    ///   - file: A JPEG file.
    ///   - sides: The sides of decoded blocks, by component; the last one applies to all further
    ///     components.
    ///   - isDraft: Whether refinement scans are skipped.
    ///   - limits: The decode limits.
    ///   - windowByteCount: The number of bytes of a sequential scan processed at a time.
    ///   - minimumBlocksForTable: The minimum number of blocks for which optional tables are built.
    /// - Returns: The planes, or `nil` if libjpeg-turbo has to decode the file.
    /// - Throws: ``CodecError``.
    static func decode(
        _ file: [UInt8], sides: [Int], isDraft: Bool = false, limits: DecodeLimits = DecodeLimits(),
        windowByteCount: Int = EntropyCodedData.windowByteCount,
        minimumBlocksForTable: Int = BandTable.minimumBlockCount
    ) throws(CodecError) -> ShrunkPlanes? {
        var decoder = ShrinkingDecoder(limits: limits, cancellation: nil, isDraft: isDraft)
        decoder.windowByteCount = windowByteCount
        decoder.minimumBlocksForTable = minimumBlocksForTable
        var planes = ShrunkPlanes { frame, _ in
            frame.components.indices.map { sides[min($0, sides.count - 1)] }
        }
        do {
            try decoder.decode(file.span, into: &planes)
        } catch {
            switch error {
            case .notHandled: return nil
            case .failed(let error): throw error
            }
        }
        return planes
    }

    /// Returns whether no scan repeats an earlier one, including scans that are not decoded.
    static func isOrderly(_ file: [UInt8]) -> Bool {
        var scanReader = JPEGScanReader()
        var image: ProgressiveImage?
        do {
            while let scan = try scanReader.next(file.span), let frame = scanReader.frame {
                if image == nil {
                    let sides = frame.components.map { _ in 8 }
                    image = ProgressiveImage(frame, blockSides: sides)
                }
                guard image?.record(scan) == true else { return false }
                scanReader.skip(to: EntropyCodedData.end(file.span, from: scan.dataStart))
            }
        } catch {
            return false
        }
        return true
    }
}

/// The number of generated files, fewer in builds without optimization.
enum GeneratedFiles {
    static let needsOptimization: Comment = "too slow without optimization"

    static var count: Int {
        TestBuild.isOptimized ? JPEGVariants.fileCount : min(JPEGVariants.fileCount, 30)
    }

    /// Whether `make test-deep` asked for more files than `make test` does.
    static var isDeep: Bool { count > 500 }

    /// Calls `body` with each file of a seed, in batches of 500.
    static func forEach(
        seed: UInt64, count: Int = count, _ body: (JPEGVariant) throws -> Void
    ) throws {
        for start in stride(from: 0, to: count, by: 500) {
            let files = try withTemporaryFolder {
                try JPEGVariants.make(start..<min(start + 500, count), seed: seed, in: $0)
            }
            for file in files { try body(file) }
        }
    }
}
