// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import Pixels
import Synchronization
import Testing

@testable import EncodedImages
@testable import ImageCodecs

/// The parts of a mapped file that a decoder releases while it reads.
@Suite("The memory of bytes that have been read") struct InputReleaseTests {
    private final class Releases: Sendable {
        private let ranges = Mutex<[Range<Int>]>([])

        func add(_ range: Range<Int>) { ranges.withLock { $0.append(range) } }

        /// The maximum number of bytes that were kept at a time, up to the last release.
        var mostKept: Int {
            var (end, most) = (0, 0)
            for range in ranges.withLock({ $0 }) {
                most = max(most, range.upperBound - min(end, range.upperBound))
                end = max(end, range.upperBound)
            }
            return most
        }

        var end: Int { ranges.withLock { $0.map(\.upperBound).max() ?? 0 } }
    }

    static let size = PixelSize(width: 1200, height: 1000)

    private func file(_ name: String) throws -> (decoder: any ImageDecoder, bytes: [UInt8]) {
        if name.hasPrefix("PNG") {
            var file = PNGFile(
                width: Self.size.width, height: Self.size.height, colorType: 2, bitDepth: 8)
            file.hasOneDataChunk = name.hasSuffix("one chunk")
            return (PNGDecoder(), file.bytes())
        }
        var options = EncodeOptions()
        options.quality = 100
        options.isProgressive = name.hasPrefix("progressive")
        let image = TestImage.noise(Self.size)
        let destination = try ImageDestination(
            format: "jpeg", codecs: builtInCodecs, options: options)
        return (JPEGDecoder(), try destination.encode(image))
    }

    @Test(
        "is released while the rest is read",
        arguments: ["PNG", "PNG of one chunk", "JPEG", "progressive JPEG"])
    func release(name: String) throws {
        let (decoder, bytes) = try file(name)
        let step = 256 << 10
        #expect(bytes.count > 5 * step)
        let limits = DecodeLimits()
        let header = try decoder.header(of: bytes.span, limits: limits)
        let plan = DecodePlan(header, DecodeOptions(maximumSide: 150))
        var rows = RowSink(plan, limits: limits, cancellation: nil)
        let releases = Releases()
        rows.releaseInput = { releases.add($0) }
        try decoder.decode(bytes.span, into: &rows)
        #expect(rows.finish() != nil)
        #expect(releases.mostKept < 2 * step + 10_000)
        // A progressive file is not read to its end.
        #expect(releases.end > bytes.count / (name.hasPrefix("progressive") ? 2 : 1) - 2 * step)
    }
}
