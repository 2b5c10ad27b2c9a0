// SPDX-License-Identifier: Apache-2.0

internal import CLibJPEG
internal import EncodedImages
@testable internal import ImageCodecs
internal import Pixels

/// Compares our shrinking JPEG decoder with libjpeg-turbo's, without storing rows of Y′CbCr.
enum JPEGContest {
    static let peerName = "libjpeg-turbo, in this process"

    private struct Work {
        let name: String
        /// The width and height of the output of a luma block, in samples.
        let side: Int
        let color: Color
        var isDraft = false
    }

    /// The reduction of chroma planes.
    private enum Color: String {
        /// The reduction of luma, which suffices for output in 4:2:0.
        case asLuma = "each plane's blocks to n x n"
        /// A reduction to 1/8, which suffices for thumbnails in 4:2:0.
        case eighth = "colour at 1/8"
        case asPeer = "colour as libjpeg-turbo has it"
    }

    private static func works(isProgressive: Bool) -> [Work] {
        guard isProgressive else {
            return [
                Work(name: "1/8", side: 1, color: .asLuma),
                Work(name: "1/8", side: 1, color: .asPeer),
                Work(name: "1/4", side: 2, color: .eighth),
                Work(name: "1/4", side: 2, color: .asPeer),
                Work(name: "1/2", side: 4, color: .asPeer),
            ]
        }
        return [
            Work(name: "1/8", side: 1, color: .asLuma),
            Work(name: "1/4 exact", side: 2, color: .eighth),
            Work(name: "1/4 exact", side: 2, color: .asPeer),
            Work(name: "1/4 draft", side: 2, color: .eighth, isDraft: true),
            Work(name: "1/4 draft", side: 2, color: .asPeer, isDraft: true),
        ]
    }

    static func contests(_ path: String) throws -> [Contest] {
        let bytes = try EncodedBytes(reading: path)
        let source = try ImageSource(bytes, codecs: builtInCodecs)
        guard source.format.name == "jpeg" else {
            throw Failure(description: "not a JPEG: \(path)")
        }
        let isProgressive = source.header.facts.contains(.init("coding", "progressive"))
        let sampling = source.header.facts.first { $0.name == "sampling" }?.value ?? "grey"
        return works(isProgressive: isProgressive).map { work in
            Contest(
                file: String(path.split(separator: "/").last ?? ""),
                work: "\(isProgressive ? "progressive" : "baseline") \(sampling) at \(work.name), "
                    + work.color.rawValue,
                pixelCount: source.header.storedSize.area, byteCount: bytes.count,
                ours: { try shrink(bytes, work) },
                peer: { try peer(bytes, 8 / work.side) })
        }
    }

    private static func shrink(_ bytes: EncodedBytes, _ work: Work) throws {
        let decoder = ShrinkingDecoder(
            limits: DecodeLimits(), cancellation: nil, isDraft: work.isDraft)
        var sink = Sum(work: work)
        try bytes.withBytes { file throws(ShrinkingError) in
            try decoder.decode(file, into: &sink)
        }
    }

    private static func colorSide(_ frame: JPEGFrame, _ index: Int, _ work: Work) -> Int {
        switch work.color {
        case .asLuma: return work.side
        case .eighth: return 1
        case .asPeer:
            // libjpeg-turbo upsamples with a larger IDCT if both sampling factors permit it.
            let component = frame.components[index]
            let across = frame.maximumHorizontalSampling / component.horizontalSampling
            let down = frame.maximumVerticalSampling / component.verticalSampling
            return min(work.side * min(across, down), 8)
        }
    }

    private static func peer(_ bytes: EncodedBytes, _ shrink: Int) throws {
        var sum: UInt64 = 0
        let isDecoded = bytes.withBytes { file in
            unsafe file.withUnsafeBufferPointer {
                unsafe libjpeg_peer_decode($0.baseAddress, $0.count, Int32(shrink), &sum)
            }
        }
        guard isDecoded else { throw Failure(description: "libjpeg-turbo rejects the file") }
    }

    /// Sums every 64th sample, so that the work cannot be optimized away.
    private struct Sum: ComponentSink, ~Copyable {
        let work: Work
        var total: UInt64 = 0

        func blockSides(_ frame: JPEGFrame, _ space: JPEGScanReader.ColorSpace) -> [Int]? {
            frame.components.indices.map { index in
                index == 0 ? work.side : JPEGContest.colorSide(frame, index, work)
            }
        }

        mutating func begin(_ image: ShrunkImage) {}

        mutating func append(_ row: Span<UInt8>, component: Int) {
            for x in Swift.stride(from: 0, to: row.count, by: 64) { total += UInt64(row[x]) }
        }
    }
}
