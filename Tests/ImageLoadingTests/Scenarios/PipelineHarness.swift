// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPCaching
import ImageTesting
import LoadScheduling
import Pixels
import Synchronization

@testable import ImageLoading

/// Gives out the bytes of an original as a test says, piece by piece.
final class FakeLoader: OriginalLoader {
    private enum Command: Sendable {
        case bytes([UInt8], expected: Int?)
        case finish
        case fail(LoadError)
    }

    private struct State {
        var sinks: [AsyncStream<Command>.Continuation] = []
        var cancelCount = 0
        var sent: [[UInt8]] = []
    }

    private let state = Mutex(State())

    var startCount: Int { state.withLock { $0.sinks.count } }
    var cancelCount: Int { state.withLock { $0.cancelCount } }

    /// Sends a piece to the load that began last.
    func send(_ bytes: [UInt8], expected: Int? = nil) {
        _ = state.withLock { $0.sinks.last }?.yield(.bytes(bytes, expected: expected))
    }

    /// Ends the load that began last.
    func finish() { _ = state.withLock { $0.sinks.last }?.yield(.finish) }

    func fail(_ error: LoadError) { _ = state.withLock { $0.sinks.last }?.yield(.fail(error)) }

    /// Waits until so many loads have begun.
    func started(_ count: Int) async { await eventually { startCount >= count } }

    func load(
        receive: @escaping @Sendable (OriginalLoadEvent) -> Void
    ) async throws(LoadError) -> [UInt8] {
        let (commands, sink) = AsyncStream<Command>.makeStream()
        state.withLock { $0.sinks.append(sink) }
        var received: [UInt8] = []
        for await command in commands {
            switch command {
            case .bytes(let piece, let expected):
                received += piece
                receive(
                    .progress(receivedByteCount: received.count, expectedByteCount: expected))
                receive(.bytes(piece))
            case .finish: return received
            case .fail(let error): throw error
            }
        }
        state.withLock { $0.cancelCount += 1 }
        throw .cancelled
    }
}

/// Writes its digit behind those of the processors before it, in a system of base 4.
final class CountingProcessor: ImageProcessor {
    private let digit: UInt8
    private let count = Atomic<Int>(0)

    init(_ digit: UInt8) { self.digit = digit }

    var identity: String { "digit(\(digit))" }
    /// How often it was applied.
    var applicationCount: Int { count.load(ordering: .relaxed) }

    func process(
        _ image: PixelBuffer, _ cancellation: CancellationFlag
    ) throws(CodecError) -> PixelBuffer {
        count.add(1, ordering: .relaxed)
        return TestImage.flat(image.size, .gray8, [image.trail &* 4 &+ digit])
    }
}

extension PixelBuffer {
    /// What the processors wrote, or the grey of the file.
    var trail: UInt8 { row(0)[0] }
}

/// A pipeline whose originals come from fake loaders, and what it is asked.
struct PipelineHarness: Sendable {
    let codec: FakeCodec
    let pipeline: ImagePipeline
    let loader = FakeLoader()

    init(
        isGated: Bool = false, isProgressive: Bool = false,
        _ change: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) {
        codec = FakeCodec(isGated: isGated, isProgressive: isProgressive)
        pipeline = ImagePipeline(codec, change)
    }

    /// A file of 4x4 pixels; grey 0 begins every trail.
    static func file(grey: UInt8 = 0, side: Int = 4) -> [UInt8] {
        FakeCodec.file(PixelSize(width: side, height: side), grey: grey)
    }

    func request(
        _ processors: [any ImageProcessor] = [], name: String = "a",
        priority: LoadPriority = .visible, _ options: DecodeOptions = DecodeOptions()
    ) -> ImageRequest {
        ImageRequest(
            .loader(loader, name: name), options: options, processors: processors,
            priority: priority)
    }

    /// Requests an image in a task of its own.
    func ask(_ request: ImageRequest, urgency: PriorityHandle? = nil) -> Task<UInt8, any Error> {
        Task { [pipeline] in
            let loaded = try await pipeline.image(for: request, urgency: urgency)
            return loaded.image.trail
        }
    }

    /// Waits until so many loads of images are under way, or wait for the same.
    func waiting(_ request: ImageRequest, _ count: Int) async {
        let key = ImageLoadKey(image: key(request))
        await eventually { pipeline.images.consumerCount(key) == count }
    }

    /// Waits until so many decodes wait for the bytes of a request; one that joins later would load them again.
    func waitingForBytes(_ request: ImageRequest, _ count: Int) async {
        let key = OriginalLoadKey(request, of: .named(request.source.name), salt: 0)
        await eventually { pipeline.originals.consumerCount(key) == count }
    }

    func key(_ request: ImageRequest) -> ImageKey {
        ImageKey(request, of: .named(request.source.name))
    }

    /// Sends a whole file, once a load has begun.
    func deliver(_ file: [UInt8] = PipelineHarness.file(), start: Int = 1) async {
        await loader.started(start)
        loader.send(file, expected: file.count)
        loader.finish()
    }
}
