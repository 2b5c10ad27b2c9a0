// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling
internal import Synchronization

/// Reads the tiles that an image stores; tiles that are requested during a read are read together after
/// it.
///
/// One read of an image at a time leaves the other threads of the queue to other images. A read takes
/// milliseconds, so that it is not cancelled.
///
/// Lock: held while the waiting requests are changed.
final class StoredTileReads: Sendable {
    private struct Request {
        let tile: StoredTile
        let priority: LoadPriority
        let continuation: CheckedContinuation<Result<[UInt8]?, LoadError>, Never>
    }

    private struct State {
        var waiting: [Request] = []
        /// Whether the queue contains or executes a read.
        var isReading = false
    }

    /// The maximum number of tiles of one image that wait.
    private static let maximumWaitingCount = 512

    private let source: ImageSource
    private let name: String
    private let queue: WorkQueue
    private let state = Mutex(State())

    /// - Parameters:
    ///   - source: the image.
    ///   - name: the name of the image in errors.
    ///   - queue: the threads that read.
    init(_ source: ImageSource, name: String, on queue: WorkQueue) {
        self.source = source
        self.name = name
        self.queue = queue
    }

    /// Returns a tile as a JPEG file; `nil` if it must be decoded.
    ///
    /// - Throws: ``LoadError``.
    func file(
        of tile: StoredTile, _ priority: LoadPriority
    ) async throws(LoadError) -> [UInt8]? {
        try await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state -> Bool? in
                guard state.waiting.count < Self.maximumWaitingCount else { return nil }
                state.waiting.append(
                    Request(tile: tile, priority: priority, continuation: continuation))
                defer { state.isReading = true }
                return !state.isReading
            }
            guard let isFirst else { return continuation.resume(returning: .failure(.queueFull)) }
            if isFirst { submit(priority) }
        }.get()
    }

    private func submit(_ priority: LoadPriority) {
        do throws(LoadError) {
            try queue.submit(priority) { self.readNext() }
        } catch {
            let requests = state.withLock { state in
                defer { state = State() }
                return state.waiting
            }
            for request in requests { request.continuation.resume(returning: .failure(error)) }
        }
    }

    private func readNext() {
        let requests = state.withLock { state in
            let requests = state.waiting.prefix(StoredTile.maximumCount)
            state.waiting.removeFirst(requests.count)
            return requests
        }
        let files = Result { () throws(LoadError) in try read(requests.map(\.tile)) }
        for (index, request) in requests.enumerated() {
            request.continuation.resume(returning: files.map { $0[index] })
        }
        let next = state.withLock { state in
            state.isReading = !state.waiting.isEmpty
            return state.waiting.map(\.priority).max()
        }
        if let next { submit(next) }
    }

    private func read(_ tiles: [StoredTile]) throws(LoadError) -> [[UInt8]?] {
        do throws(CodecError) {
            return try source.jpegTiles(tiles)
        } catch .fileChanged {
            throw .fileChanged(path: name)
        } catch {
            // Decoding fails for the same reason, or yields what remains of a damaged file.
            return tiles.map { _ in nil }
        }
    }
}
