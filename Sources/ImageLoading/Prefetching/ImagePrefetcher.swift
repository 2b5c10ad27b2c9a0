// SPDX-License-Identifier: Apache-2.0

public import LoadScheduling
internal import Synchronization

/// Loads pictures before anybody looks at them, a few at a time, so that they are in memory then.
///
/// A view that asks for a picture that is being prefetched joins that load and makes it as urgent
/// as itself. Everything ends when nobody holds the prefetcher any more.
///
/// What is begun is decided after the caller's turn: who starts and stops a request in one turn on
/// an actor has loaded nothing.
public final class ImagePrefetcher: Sendable {
    /// What happens; told one after the other for each request, on any thread.
    public enum Event: Sendable {
        /// A load has begun; that it has ended follows, whatever becomes of it.
        case started(RequestIdentity)
        case finished(RequestIdentity, Result<LoadedImage, LoadError>)
        /// Nothing is left to do, maybe because everything was in memory.
        case idle
    }

    private struct Entry {
        let request: ImageRequest
        var number: UInt64 = 0
        var task: Task<Void, Never>?
    }

    private struct State {
        /// Those that have not begun, the next first.
        var waiting: [RequestIdentity] = []
        var entries: [RequestIdentity: Entry] = [:]
        var begunCount = 0
        var lastNumber: UInt64 = 0
        var isPaused = false
        /// Whether there is somebody to be told when nothing is left.
        var isBusy = false
        /// Whether a turn is to come that looks at what waits.
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
    /// One for all, so that a change reaches also what has not begun.
    private let urgency: LoadUrgency
    /// A lock: nobody is told anything while it is held; loads only begin and are cancelled, and
    /// the pipeline's memory is asked.
    private let state = Mutex(State())

    /// - Parameters:
    ///   - pipeline: what loads.
    ///   - width: how many loads are under way at the same time.
    ///   - priority: how urgent they are.
    public init(pipeline: ImagePipeline, width: Int = 2, priority: LoadPriority = .prefetch) {
        precondition(width > 0, "a prefetcher needs room for a load")
        self.pipeline = pipeline
        self.width = width
        urgency = LoadUrgency(priority)
    }

    deinit {
        state.withLock { state in
            for entry in state.entries.values { entry.task?.cancel() }
        }
    }

    /// Told what happens; it must not hold the prefetcher.
    public var receive: (@Sendable (Event) -> Void)? {
        get { state.withLock { $0.receive } }
        set { state.withLock { $0.receive = newValue } }
    }

    /// How urgent the loads are, those under way included.
    public var priority: LoadPriority {
        get { urgency.priority }
        set { urgency.priority = newValue }
    }

    /// Whether nothing more is begun; what is under way goes on.
    public var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set {
            state.withLock { $0.isPaused = newValue }
            if !newValue { schedule(nil) }
        }
    }

    /// Prefetches these after all that waits already; what is in memory or has been asked for
    /// starts nothing.
    ///
    /// - Parameters:
    ///   - requests: the next first.
    ///   - isolation: the actor after whose turn they begin.
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

    /// Gives these up, whether they are under way or wait.
    public func stop(_ requests: [ImageRequest], isolation: isolated (any Actor)? = #isolation) {
        let identities = Set(requests.map(\.identity))
        state.withLock { state in
            for identity in identities { state.stop(identity) }
            state.waiting.removeAll(where: identities.contains)
        }
        schedule(isolation)
    }

    /// Prefetches these in this order and nothing else: the rest is given up, and what is under way
    /// goes on.
    ///
    /// - Parameters:
    ///   - requests: the next first; an empty array stops everything.
    ///   - isolation: the actor after whose turn they begin.
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

    /// Looks at what waits once the turn of the caller is over.
    private func schedule(_ isolation: isolated (any Actor)?) {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        Task { [weak self] in
            // Named, so that the task runs where the caller does.
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
            // It may have been given up, and even begun again.
            guard state.entries[identity]?.number == number else { return }
            state.entries[identity] = nil
            state.begunCount -= 1
        }
        receive?(.finished(identity, result))
        begin()
    }
}
