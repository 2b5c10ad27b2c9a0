// SPDX-License-Identifier: Apache-2.0

import Dispatch
import EncodedImages
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Synchronization

@testable import ImageLoading

/// Reads animations whose frames are all of one grey, their number.
///
/// What it writes begins with the number of loops, or 255 for a still image; then come of each
/// frame its width, its grey and its duration in hundredths of a second.
final class FakeAnimation: ImageCodec, ImageDecoder, AnimationEncoder {
    static let size = PixelSize(width: 16, height: 8)

    let format = ImageFormat(
        name: "moving", extensions: [], mediaType: "image/x-moving",
        signatures: [.init(Array("MOVE".utf8))])
    var decoder: any ImageDecoder { self }
    var encoder: (any ImageEncoder)? { self }

    private let frameCount: Int
    private let loopCount: Int
    /// The frame that turns out to be damaged.
    private let damagedFrame: Int?
    /// Where each frame waits until it is let through, if it does.
    private let gate: DispatchSemaphore?
    private let decoded = Mutex<[Int]>([])

    init(_ frameCount: Int, loopCount: Int = 1, damagedFrame: Int? = nil, isGated: Bool = false) {
        self.frameCount = frameCount
        self.loopCount = loopCount
        self.damagedFrame = damagedFrame
        gate = isGated ? DispatchSemaphore(value: 0) : nil
    }

    /// The number of each frame whose decode has begun, the first first.
    var decodes: [Int] { decoded.withLock { $0 } }

    func openGate(_ count: Int = 1) {
        for _ in 0..<count { gate?.signal() }
    }

    func header(of bytes: Span<UInt8>, limits: DecodeLimits) throws(CodecError) -> ImageHeader {
        var header = ImageHeader(storedSize: Self.size, colorModel: .rgb, bitsPerComponent: 8)
        header.frameCount = frameCount
        header.loopCount = loopCount
        return header
    }

    func decode(_ bytes: Span<UInt8>, into rows: inout RowSink) throws(CodecError) {
        try rows.begin(Self.size, .gray8, .sRGB)
        let row = [UInt8](repeating: 0, count: Self.size.width)
        for _ in 0..<Self.size.height { try rows.append(row.span) }
    }

    func frameReader(
        for bytes: EncodedBytes, limits: DecodeLimits
    ) throws(CodecError) -> (any FrameReader)? { Reader(animation: self) }

    func encode(
        _ image: PixelBuffer, _ options: EncodeOptions
    ) throws(CodecError) -> [UInt8] { [255, UInt8(image.size.width), image.row(0)[0], 0] }

    func animationWriter(
        _ size: PixelSize, loopCount: Int, _ options: EncodeOptions
    ) throws(CodecError) -> any AnimationWriter { Writer(bytes: [UInt8(loopCount)]) }

    private struct Writer: AnimationWriter {
        var bytes: [UInt8]

        mutating func append(_ image: PixelBuffer, duration: Duration) throws(CodecError) {
            bytes += [
                UInt8(image.size.width), image.row(0)[0], UInt8(duration / .milliseconds(10)),
            ]
        }

        mutating func finish() throws(CodecError) -> [UInt8] { bytes }
    }

    private struct Reader: FrameReader {
        let animation: FakeAnimation
        var number = 0

        mutating func next() throws(CodecError) -> StoredFrame? {
            guard number < animation.frameCount else { return nil }
            animation.decoded.withLock { $0.append(number) }
            animation.gate?.wait()
            if number == animation.damagedFrame { throw .malformed(reason: "damage", offset: 7) }
            defer { number += 1 }
            return StoredFrame(
                region: PixelRect(FakeAnimation.size), duration: .milliseconds(10 * number),
                image: TestImage.flat(FakeAnimation.size, .gray8, [UInt8(number)]))
        }
    }
}

/// A pipeline that knows one animation, and what playing it takes.
struct AnimationHarness {
    let codec: FakeAnimation
    let pipeline: ImagePipeline
    let budget: MemoryBudget

    /// The bytes of a frame as large as the canvas.
    static let frameByteCount = PixelBuffer.byteCount(of: FakeAnimation.size, .rgba8)
    /// What is charged before anything is ahead: what composing takes, and a frame.
    static let baseByteCount = 4 * frameByteCount

    init(
        _ codec: FakeAnimation, byteLimit: Int = 1 << 20,
        _ change: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) {
        self.codec = codec
        let budget = MemoryBudget(byteLimit: byteLimit)
        self.budget = budget
        var configuration = ImagePipeline.Configuration()
        configuration.decodeThreadCount = 1
        configuration.memoryBudget = budget
        change(&configuration)
        pipeline = ImagePipeline(
            codecs: CodecSet([codec, FakeCodec()]), configuration: configuration, logger: .silent)
    }

    func animation(
        countAhead: Int = 2, _ change: (inout ImageRequest) -> Void = { _ in }
    ) async throws -> ImageAnimation {
        var request = ImageRequest(.bytes(EncodedBytes(Array("MOVE".utf8)), name: "a"))
        change(&request)
        return try await pipeline.animation(for: request, countAhead: countAhead)
    }

    /// Asks for a rendition; in the format of fake stills if it is not to move.
    func rendition(
        animationFormat: String? = "moving",
        _ change: (inout ImageRequest) -> Void = { _ in }
    ) async throws(LoadError) -> Rendition {
        var request = ImageRequest(.bytes(EncodedBytes(Array("MOVE".utf8)), name: "a"))
        change(&request)
        return try await pipeline.rendition(
            for: RenditionRequest(
                image: request, format: "moving", animationFormat: animationFormat))
    }

    /// Waits until so many frames are ahead and nothing is decoded.
    func ahead(_ count: Int) async {
        await eventually {
            budget.byteCount == Self.baseByteCount + count * Self.frameByteCount
                && pipeline.queues.decodes.waitingCount == 0
                && pipeline.queues.decodes.busyCount == 0
        }
    }

    /// Waits until the account is empty and nothing is played.
    func over() async {
        await eventually { budget.byteCount == 0 && pipeline.resources.playing.count == 0 }
    }
}

extension AnimationFrame {
    /// What the file's frame was filled with.
    var grey: Int { Int(image.row(0)[0]) }
}
