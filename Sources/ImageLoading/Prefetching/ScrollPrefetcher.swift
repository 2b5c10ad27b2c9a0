// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// Prefetches what scrolling is about to reveal.
///
/// The view says what is visible and how fast it moves. From that, and from how long loads have
/// taken so far, follows what will be visible when a load that is begun now ends: it is loaded the
/// first to come first, as sharp as there is time for, and no sooner than is needed for everything to
/// be there in time, so that little is loaded in vain when the content stops or turns. What has
/// been passed is given up. What is visible is for the view itself to ask for; it goes before
/// everything that is prefetched.
public final class ScrollPrefetcher: Sendable {
    public struct Configuration: Sendable {
        /// Pictures that are loaded at the same time; `nil` for as many as the pipeline decodes.
        public var width: Int?
        /// How far ahead of the moving content pictures are loaded, if they would be late otherwise.
        public var lookAhead = Duration.seconds(1)
        /// How long before it comes into view a picture is to be there.
        public var margin = Duration.milliseconds(100)
        /// Items that are looked at, ahead or at rest around what is visible.
        public var maximumItemCount = 24
        public var policy = LODPolicy()

        public init() {}
    }

    private struct Load {
        let step: ScrollPlan.Step
        let request: ImageRequest
        /// When it began, by the clock; `nil` while it waits.
        var start: Duration?
    }

    private struct State {
        var visible: Range<Double>?
        var velocity = 0.0
        var slowing = Slowing()
        var policy: LODPolicy
        var loads: [RequestIdentity: Load] = [:]
        /// What was made of items near by, so that what memory could not keep, or what failed, is
        /// not made again and again.
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
    /// A lock: held while a plan is made and handed on, so that the newest one stays.
    ///
    /// The prefetcher below tells nobody anything meanwhile.
    private let state: Mutex<State>

    /// - Parameters:
    ///   - pipeline: what loads, and keeps in memory what was loaded.
    ///   - layout: where the items lie.
    ///   - configuration: how much is loaded ahead.
    ///   - clock: measures how long loads take.
    ///   - receive: told what happens, on any thread; it must not hold this object.
    ///   - request: asks for the exact picture of an item; it is called often.
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

    /// The policy with what has been learnt of how long loads take, for the view's own use.
    public var policy: LODPolicy { state.withLock { $0.policy } }

    /// Whether nothing more is begun; what is under way goes on.
    public var isPaused: Bool {
        get { prefetcher.isPaused }
        set { prefetcher.isPaused = newValue }
    }

    /// Says what is in view now.
    ///
    /// - Parameters:
    ///   - visible: from where to where, along the axis of the layout.
    ///   - velocity: in pixels a second, positive towards the end of the content; 0 at rest, which
    ///     must be said as well.
    public func update(visible: Range<Double>, velocity: Double) {
        state.withLock { state in
            state.visible = visible
            state.velocity = velocity
            state.slowing.note(velocity, at: elapsed())
            plan(&state)
        }
    }

    /// Takes in how long the view itself waited for a picture.
    public func note(_ duration: Duration, for lod: LOD) {
        state.withLock { $0.policy.times.note(duration, for: lod) }
    }

    /// Gives everything up, until the next ``update(visible:velocity:)``.
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
        // What is under way and not passed goes on, be it sharper or not than it would be now.
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

    /// The sharpest picture of an item that is in memory or was made lately.
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
                // Nothing better comes of asking again at once.
                case .failure: state.made[load.step.item] = .exact
                }
                plan(&state)
            }
        case .idle: break
        }
    }
}
