// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling
internal import Pixels
internal import Synchronization

/// Decodes what is there of a picture that still comes in; at most one such decode waits or runs.
final class PreviewDecoder: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var isRestarting = false
        /// Whether a decode waits or runs, and what names it.
        var isBusy = false
        var ticket: WorkQueue.Ticket?
        var isOver = false
    }

    private let key: ImageKey
    private let codecs: CodecSet
    private let limits: DecodeLimits
    private let queue: WorkQueue
    private let urgency: LoadUrgency
    private let report: @Sendable (LoadedImage) -> Void
    private let cancellation = CancellationFlag()
    private let state = Mutex(State())
    /// A lock: held by the one decode that runs.
    private let image: Mutex<IncrementalImage>

    /// - Parameters:
    ///   - key: which picture.
    ///   - pipeline: whose decoders and queue are used.
    ///   - urgency: how urgent the picture is.
    ///   - report: gets each preview, on a thread of the queue.
    init(
        _ key: ImageKey, _ pipeline: ImagePipeline, _ urgency: LoadUrgency,
        report: @escaping @Sendable (LoadedImage) -> Void
    ) {
        self.key = key
        codecs = pipeline.codecs
        limits = pipeline.limits
        queue = pipeline.decodes
        self.urgency = urgency
        self.report = report
        image = Mutex(
            IncrementalImage(
                codecs: pipeline.codecs, options: key.options, limits: pipeline.limits,
                cancellation: cancellation))
    }

    /// Takes what has come in, and lets it be decoded unless that is to be done already.
    func receive(_ update: DataUpdate) {
        state.withLock { state in
            if update.isRestart {
                state.waiting = []
                state.isRestarting = true
            }
            state.waiting += update.bytes
            begin(&state)
        }
    }

    /// Ends the matter: a decode that waits is taken out, and nothing is reported any more.
    func end() {
        cancellation.cancel()
        let ticket = state.withLock { state in
            state.isOver = true
            return state.ticket.take()
        }
        if let ticket { queue.remove(ticket) }
    }

    private func begin(_ state: inout State) {
        guard !state.isOver, !state.isBusy, !state.waiting.isEmpty else { return }
        // A queue that is full has better things to do than previews.
        state.ticket = try? queue.submit(urgency.priority) { self.decode() }
        state.isBusy = state.ticket != nil
    }

    private func decode() {
        let (bytes, isRestarting) = state.withLock { state in
            defer {
                state.waiting = []
                state.isRestarting = false
                state.ticket = nil
            }
            return (state.waiting, state.isRestarting)
        }
        let preview = image.withLock { image -> LoadedImage? in
            if isRestarting {
                image = IncrementalImage(
                    codecs: codecs, options: key.options, limits: limits,
                    cancellation: cancellation)
            }
            // What is wrong with the file is said when all of it is decoded.
            guard (try? image.append(bytes)) != nil, let preview = try? image.preview(),
                let size = image.header?.pixelSize
            else { return nil }
            return LoadedImage(preview.image, key: key, originalSize: size, isPreview: true)
        }
        state.withLock { state in
            if let preview, !state.isOver { report(preview) }
            state.isBusy = false
            begin(&state)
        }
    }
}
