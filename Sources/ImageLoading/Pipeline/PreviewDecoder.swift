// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling
internal import Pixels
internal import Synchronization

/// Decodes the received part of an image that is still being loaded; at most one decode waits or runs.
final class PreviewDecoder: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var isRestarting = false
        /// Whether a decode waits or runs, and its ticket.
        var isBusy = false
        var ticket: WorkQueue.Ticket?
        var isOver = false
    }

    private let key: ImageKey
    private let codecs: CodecSet
    private let limits: DecodeLimits
    private let queue: WorkQueue
    private let urgency: PriorityHandle
    private let report: @Sendable (LoadedImage) -> Void
    private let cancellation = CancellationFlag()
    private let state = Mutex(State())
    /// A lock: held by the one decode that runs.
    private let image: Mutex<IncrementalImage>

    /// - Parameters:
    ///   - key: the image.
    ///   - resources: the codecs, limits and queue.
    ///   - urgency: the priority of the image.
    ///   - report: receives each preview, on a thread of the queue.
    init(
        _ key: ImageKey, _ resources: PipelineResources, _ urgency: PriorityHandle,
        report: @escaping @Sendable (LoadedImage) -> Void
    ) {
        self.key = key
        codecs = resources.codecs
        limits = resources.limits
        queue = resources.queues.decodes
        self.urgency = urgency
        self.report = report
        image = Mutex(
            IncrementalImage(
                codecs: resources.codecs, options: key.options, limits: resources.limits,
                cancellation: cancellation))
    }

    /// Adds received bytes, and queues a decode unless one waits or runs.
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

    /// Removes a decode that waits; no preview is reported afterwards.
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
        // A full queue decodes no previews.
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
            // Errors are reported when the whole file is decoded.
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
