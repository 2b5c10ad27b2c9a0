// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// Prefetches the images that scrolling is about to reveal.
///
/// The view reports the visible range and the velocity. From these and from measured load times,
/// the prefetcher predicts what will be visible when a load ends. It loads images in the order of
/// their appearance, at the sharpest level that arrives in time, and as late as possible, so that
/// few loads are wasted when the content stops or turns. Loads of passed items are cancelled. The
/// view itself requests visible images, which have a higher priority than all prefetched ones.
public final class ScrollPrefetcher: Sendable {
    /// The limits of prefetching.
    public struct Configuration: Sendable {
        /// The maximum number of concurrent loads; `nil` for the number of the pipeline's decode
        /// threads.
        public var width: Int?
        /// The time ahead of moving content for which images are loaded.
        public var lookAhead = Duration.seconds(1)
        /// The time by which an image should be available before it becomes visible.
        public var margin = Duration.milliseconds(100)
        /// The maximum number of items considered, ahead of or at rest around the visible range.
        public var maximumItemCount = 24
        /// The choice of the level of detail.
        public var policy = LODPolicy()

        /// Creates a configuration with the default values.
        public init() {}
    }

    private struct Load {
        let step: ScrollPlan.Step
        let request: ImageRequest
        /// The start time by the clock; `nil` while it waits.
        var start: Duration?
    }

    private struct State {
        var visible: Range<Double>?
        var velocity = 0.0
        var slowing = Slowing()
        var policy: LODPolicy
        var loads: [RequestIdentity: Load] = [:]
        /// The levels loaded for nearby items, so that evicted and failed images are not loaded
        /// repeatedly.
        var made: [Int: LOD] = [:]
    }

    private let pipeline: ImagePipeline
    private let prefetcher: ImagePrefetcher
    private let layout: any ScrollLayout
    private let configuration: Configuration
    private let width: Int
    private let elapsed: @Sendable () -> Duration
    private let request: @Sendable (Int) -> ImageRequest
    private let receive: (@Sendable (ImagePrefetcher.Event) -> Void)?
    /// The lock is held while a plan is computed and submitted, so that the newest one stays.
    ///
    /// The underlying prefetcher sends no event in the meantime.
    private let state: Mutex<State>

    /// Creates a prefetcher.
    ///
    /// - Parameters:
    ///   - pipeline: the pipeline that loads the images and caches them in memory.
    ///   - layout: the positions of the items.
    ///   - configuration: the limits of prefetching.
    ///   - clock: the clock that measures load times.
    ///   - receive: receives the events, on any thread; it must not retain this object.
    ///   - request: returns the request for an item at full detail; called often.
    public init<C: Clock>(
        pipeline: ImagePipeline, layout: any ScrollLayout,
        configuration: Configuration = Configuration(), clock: C = ContinuousClock(),
        receive: (@Sendable (ImagePrefetcher.Event) -> Void)? = nil,
        request: @escaping @Sendable (Int) -> ImageRequest
    ) where C.Duration == Duration {
        self.pipeline = pipeline
        self.layout = layout
        self.configuration = configuration
        width = configuration.width ?? pipeline.queues.decodes.width
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        self.request = request
        self.receive = receive
        state = Mutex(State(policy: configuration.policy))
        prefetcher = ImagePrefetcher(pipeline: pipeline, width: width)
        prefetcher.receive = { [weak self] in self?.take($0) }
    }

    /// The policy with the measured load times, for the view's own requests.
    public var policy: LODPolicy { state.withLock { $0.policy } }

    /// Whether no further loads are started; running loads continue.
    public var isPaused: Bool {
        get { prefetcher.isPaused }
        set { prefetcher.isPaused = newValue }
    }

    /// Updates the visible range.
    ///
    /// - Parameters:
    ///   - visible: the visible range along the axis of the layout.
    ///   - velocity: the velocity in pixels per second, positive towards the end of the content;
    ///     also call this with 0 when the content comes to rest.
    public func update(visible: Range<Double>, velocity: Double) {
        state.withLock { state in
            state.visible = visible
            state.velocity = velocity
            state.slowing.note(velocity, at: elapsed())
            plan(&state)
        }
    }

    /// Records the load time of an image that the view requested itself.
    public func note(_ duration: Duration, for lod: LOD) {
        state.withLock { $0.policy.times.note(duration, for: lod) }
    }

    /// Cancels all loads until the next ``update(visible:velocity:)``.
    public func stop() {
        state.withLock { state in
            state.visible = nil
            state.loads = [:]
            state.made = [:]
            prefetcher.replace(with: [], isolation: nil)
        }
    }

    private func plan(_ state: inout State) {
        guard let visible = state.visible else { return }
        let plan = ScrollPlan(
            layout: layout, visible: visible, velocity: state.velocity,
            deceleration: state.slowing.deceleration, policy: state.policy,
            lookAhead: configuration.lookAhead, margin: configuration.margin, width: width)
        // Running loads of items that are not passed continue, whatever level would be chosen now.
        let begun = state.loads.filter {
            $0.value.start != nil && plan.isWanted($0.value.step.item)
        }
        let busyItems = Set(begun.values.map(\.step.item))
        state.made = state.made.filter { plan.isWanted($0.key) }
        let busy = begun.values.reduce(Duration.zero) { $0 + state.policy.times[$1.step.lod] }
        let steps = plan.steps(
            plan.candidates(configuration.maximumItemCount).filter { !busyItems.contains($0) },
            busy: busy / width, had: { best($0, state.made[$0]) })
        state.loads = begun
        var requests = begun.values.map(\.request)
        for step in steps {
            let request = request(step.item).at(step.lod)
            state.loads[request.identity] = Load(step: step, request: request)
            requests.append(request)
        }
        prefetcher.replace(with: requests, isolation: nil)
    }

    /// Returns the sharpest level of an item that is in memory or was loaded lately.
    private func best(_ item: Int, _ made: LOD?) -> LOD? {
        if made == .exact { return made }
        let cached = pipeline.sharpestCachedImage(for: request(item))?.lod
        return [made, cached].compactMap(\.self).max()
    }

    private func take(_ event: ImagePrefetcher.Event) {
        receive?(event)
        switch event {
        case .started(let identity):
            state.withLock { $0.loads[identity]?.start = elapsed() }
        case .finished(let identity, let result):
            state.withLock { state in
                guard let load = state.loads.removeValue(forKey: identity) else { return }
                switch result {
                case .success:
                    state.made[load.step.item] = max(
                        load.step.lod, state.made[load.step.item] ?? .quarter)
                    if let start = load.start {
                        state.policy.times.note(elapsed() - start, for: load.step.lod)
                    }
                case .failure(.cancelled): return
                // Loading again at once would give the same result.
                case .failure: state.made[load.step.item] = .exact
                }
                plan(&state)
            }
        case .idle: break
        }
    }
}
