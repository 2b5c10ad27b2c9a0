// SPDX-License-Identifier: Apache-2.0

public import LoadScheduling
internal import Synchronization

/// Loads images into memory before they are visible, a few at a time.
///
/// A view that requests an image that is being prefetched joins that load and raises its priority.
/// All loads are cancelled when the prefetcher is released.
///
/// Loads start after the current turn of the caller's actor: a request that is started and stopped
/// in one turn loads nothing.
public final class ImagePrefetcher: Sendable {
    /// An event, sent in order for each request, on any thread.
    public enum Event: Sendable {
        /// A load has started; its end follows in any case.
        case started(RequestIdentity)
        case finished(RequestIdentity, Result<LoadedImage, LoadError>)
        /// All requests are complete, possibly because all images were in memory.
        case idle
    }

    private struct Entry {
        let request: ImageRequest
        var number: UInt64 = 0
        var task: Task<Void, Never>?
    }

    private struct State {
        /// The requests that have not started, the next first.
        var waiting: [RequestIdentity] = []
        var entries: [RequestIdentity: Entry] = [:]
        var begunCount = 0
        var lastNumber: UInt64 = 0
        var isPaused = false
        /// Whether the completion of all requests is to be reported.
        var isBusy = false
        /// Whether a turn is scheduled that starts waiting requests.
        var isScheduled = false
        var receive: (@Sendable (Event) -> Void)?

        mutating func stop(_ identity: RequestIdentity) {
            guard let entry = entries.removeValue(forKey: identity), let task = entry.task else {
                return
            }
            begunCount -= 1
            task.cancel()
        }
    }

    private let pipeline: ImagePipeline
    private let width: Int
    /// Shared by all loads, so that a change applies to those that have not started too.
    private let urgency: PriorityHandle
    /// No event is sent while the lock is held; loads are started and cancelled, and the pipeline's
    /// memory cache is read.
    private let state = Mutex(State())

    /// Creates a prefetcher.
    ///
    /// - Parameters:
    ///   - pipeline: the pipeline that loads the images.
    ///   - width: the maximum number of concurrent loads.
    ///   - priority: the priority of the loads.
    public init(pipeline: ImagePipeline, width: Int = 2, priority: LoadPriority = .prefetch) {
        precondition(width > 0, "width must be positive")
        self.pipeline = pipeline
        self.width = width
        urgency = PriorityHandle(priority)
    }

    deinit {
        state.withLock { state in
            for entry in state.entries.values { entry.task?.cancel() }
        }
    }

    /// Receives the events; it must not retain the prefetcher.
    public var receive: (@Sendable (Event) -> Void)? {
        get { state.withLock { $0.receive } }
        set { state.withLock { $0.receive = newValue } }
    }

    /// The priority of all loads, running ones included.
    public var priority: LoadPriority {
        get { urgency.priority }
        set { urgency.priority = newValue }
    }

    /// Whether no further loads are started; running loads continue.
    public var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set {
            state.withLock { $0.isPaused = newValue }
            if !newValue { schedule(nil) }
        }
    }

    /// Appends requests; images in memory and requests that were added before are skipped.
    ///
    /// - Parameters:
    ///   - requests: the requests, the next first.
    ///   - isolation: the actor after whose turn the loads start.
    public func start(
        _ requests: [ImageRequest], isolation: isolated (any Actor)? = #isolation
    ) {
        guard !requests.isEmpty else { return }
        state.withLock { state in
            state.isBusy = true
            for request in requests {
                let identity = request.identity
                guard state.entries[identity] == nil else { continue }
                state.entries[identity] = Entry(request: request)
                state.waiting.append(identity)
            }
        }
        schedule(isolation)
    }

    /// Cancels requests, running or waiting.
    public func stop(_ requests: [ImageRequest], isolation: isolated (any Actor)? = #isolation) {
        let identities = Set(requests.map(\.identity))
        state.withLock { state in
            for identity in identities { state.stop(identity) }
            state.waiting.removeAll(where: identities.contains)
        }
        schedule(isolation)
    }

    /// Replaces all requests: others are cancelled, and running loads of these continue.
    ///
    /// - Parameters:
    ///   - requests: the requests, the next first; an empty array cancels all.
    ///   - isolation: the actor after whose turn the loads start.
    public func replace(
        with requests: [ImageRequest], isolation: isolated (any Actor)? = #isolation
    ) {
        state.withLock { state in
            if !requests.isEmpty { state.isBusy = true }
            var wanted: Set<RequestIdentity> = []
            let ordered = requests.filter { wanted.insert($0.identity).inserted }
            for identity in state.entries.keys where !wanted.contains(identity) {
                state.stop(identity)
            }
            state.waiting = []
            for request in ordered where state.entries[request.identity]?.task == nil {
                state.entries[request.identity] = Entry(request: request)
                state.waiting.append(request.identity)
            }
        }
        schedule(isolation)
    }

    /// Schedules the start of waiting requests after the turn of the caller.
    private func schedule(_ isolation: isolated (any Actor)?) {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        Task { [weak self] in
            // Captured, so that the task runs on the actor of the caller.
            _ = isolation
            self?.begin()
        }
    }

    private func begin() {
        let isIdle = state.withLock { state in
            state.isScheduled = false
            while !state.isPaused, state.begunCount < width, !state.waiting.isEmpty {
                let identity = state.waiting.removeFirst()
                guard let entry = state.entries[identity] else { continue }
                if let image = pipeline.cachedImage(for: entry.request), !image.isPreview {
                    state.entries[identity] = nil
                } else {
                    state.lastNumber += 1
                    state.begunCount += 1
                    state.entries[identity]?.number = state.lastNumber
                    state.entries[identity]?.task = load(entry.request, state.lastNumber)
                }
            }
            return Self.becomesIdle(&state)
        }
        if isIdle { receive?(.idle) }
    }

    private static func becomesIdle(_ state: inout State) -> Bool {
        guard state.isBusy, state.entries.isEmpty else { return false }
        state.isBusy = false
        return true
    }

    private func load(_ request: ImageRequest, _ number: UInt64) -> Task<Void, Never> {
        Task { [weak self, pipeline, urgency] in
            guard !Task.isCancelled else { return }
            self?.receive?(.started(request.identity))
            let result: Result<LoadedImage, LoadError>
            do throws(LoadError) {
                result = .success(try await pipeline.image(for: request, urgency: urgency))
            } catch {
                result = .failure(error)
            }
            self?.end(request.identity, number, result)
        }
    }

    private func end(
        _ identity: RequestIdentity, _ number: UInt64, _ result: Result<LoadedImage, LoadError>
    ) {
        state.withLock { state in
            // It may have been cancelled, and even started again.
            guard state.entries[identity]?.number == number else { return }
            state.entries[identity] = nil
            state.begunCount -= 1
        }
        receive?(.finished(identity, result))
        begin()
    }
}
