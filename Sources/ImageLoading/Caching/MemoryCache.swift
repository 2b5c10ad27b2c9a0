// SPDX-License-Identifier: Apache-2.0

internal import Pixels
internal import Synchronization

/// Decoded pictures within a limit of bytes; the one that is worth least goes first.
///
/// A picture is worth what it costs to make again, for each byte, times how often it was asked for;
/// what has not been asked for lately counts less, and so does what is far from what is looked at.
///
/// A picture that had to go is found again as long as somebody else holds it: the same object,
/// without a decode.
///
/// A lock: every operation is short, never awaits and runs nobody else's code. The budget is never
/// asked while it is held, and pictures are freed outside of it.
public final class MemoryCache: Sendable {
    /// What has happened since the cache was made, and what it keeps now.
    public struct Statistics: Hashable, Sendable {
        public internal(set) var hitCount = 0
        public internal(set) var missCount = 0
        /// Pictures that had to go to make room, or because memory ran short.
        public internal(set) var evictionCount = 0
        public internal(set) var byteCount = 0
        public internal(set) var imageCount = 0
    }

    /// How far, in screens, from what is looked at a picture would be shown.
    public typealias Distance = @Sendable (ImageKey) -> Double

    /// A picture that takes more than one part in so many of the limit is not kept: it would push
    /// out all the small ones.
    public static let largestShare = 4

    let state: Mutex<State>
    private let lifetime: Duration?
    private let budget: MemoryBudget?
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - byteLimit: what the pictures may take together; 0 stores nothing.
    ///   - countLimit: how many pictures are kept; 0 stores nothing.
    ///   - lifetime: how long after it was put in a picture is found; `nil` for ever.
    ///   - budget: the account that the pictures are charged to, which asks this cache for room
    ///     before those that are made for it later.
    ///   - now: the clock by which pictures age.
    public init(
        byteLimit: Int, countLimit: Int = .max, lifetime: Duration? = nil,
        budget: MemoryBudget? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        state = Mutex(State(byteLimit: byteLimit, countLimit: countLimit))
        self.lifetime = lifetime
        self.budget = budget
        self.now = now
        budget?.attach { [weak self] byteCount in self?.giveUp(byteCount) ?? [] }
    }

    /// What the pictures may take together; a lower limit holds at once.
    public var byteLimit: Int {
        get { state.withLock { $0.byteLimit } }
        set { setLimits { $0.byteLimit = newValue } }
    }

    /// How many pictures are kept; a lower limit holds at once.
    public var countLimit: Int {
        get { state.withLock { $0.countLimit } }
        set { setLimits { $0.countLimit = newValue } }
    }

    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// What the pictures take now, padding included.
    public var byteCount: Int { state.withLock { $0.statistics.byteCount } }

    /// The picture of `key`; ``LoadedImage/isPreview`` says whether something better is to come.
    public func image(for key: ImageKey) -> LoadedImage? {
        let now = instant
        guard let found = state.withLock({ $0.use(key, now) }).found else { return nil }
        // It is asked for again, so it is worth keeping again.
        if !found.isKept { insert(found.image, nil, found.expiry, now) }
        return found.image
    }

    /// Whether there is a picture of `key`; asking is no use of it.
    public func contains(_ key: ImageKey) -> Bool {
        let now = instant
        return state.withLock { $0.image(key, now) != nil }
    }

    /// Keeps a picture under its key, in place of what is there.
    ///
    /// A preview never takes the place of a finished picture.
    ///
    /// - Parameters:
    ///   - image: the picture.
    ///   - reservation: what was reserved for it in the cache's budget; it passes to the cache if
    ///     that keeps the picture. Without one, or if it is too small, the cache reserves the bytes
    ///     itself, if there is room.
    /// - Returns: whether the cache keeps it. What is too large is only found again as long as
    ///   others hold it.
    @discardableResult
    public func insert(
        _ image: LoadedImage, charging reservation: MemoryReservation? = nil
    ) -> Bool {
        let now = instant
        let expiry = now.flatMap { now in lifetime.map { now.advanced(by: $0) } }
        return insert(image, reservation, expiry, now)
    }

    /// Forgets a picture, also if others hold it.
    public func remove(_ key: ImageKey) {
        free(state.withLock { $0.remove(key) })
    }

    /// Forgets every picture of an original, also those that others hold.
    public func removeAll(of original: OriginalIdentity) {
        free(state.withLock { $0.removeAll(of: original) })
    }

    /// Forgets every picture of an original but those of one version.
    func removeAll(of original: OriginalIdentity, except version: OriginalVersion) {
        free(state.withLock { $0.removeAll(of: original, except: version) })
    }

    /// Forgets every picture, also those that others hold.
    public func removeAll() {
        free(state.withLock { $0.removeAll() })
    }

    /// Forgets the pictures whose lifetime is over.
    public func removeExpired() {
        let now = instant
        free(state.withLock { $0.removeExpired(now) })
    }

    /// Lets go of what is worth least, until what is left takes no more than a share of what is
    /// there; what others hold is still found.
    public func trim(toShare share: Double) {
        precondition((0...1).contains(share), "a share is from 0 to 1")
        updateDistances(ifFullWith: nil)
        free(
            state.withLock { state in
                state.evict(toByteCount: Int(Double(state.statistics.byteCount) * share))
            })
    }

    /// Makes pictures that are far from what is looked at go sooner.
    ///
    /// Call it again whenever what is looked at has moved. Only when room is needed next is the
    /// distance of every picture asked for.
    ///
    /// - Parameter distance: answers at once and does not use this cache; `nil` to let distance count
    ///   for nothing.
    public func rank(byDistance distance: Distance?) {
        state.withLock { state in
            state.distance = distance
            state.hasOldDistances = true
        }
    }
}

extension MemoryCache {
    /// Now, if anything ages at all.
    var instant: ContinuousClock.Instant? { lifetime == nil ? nil : now() }

    @discardableResult
    private func insert(
        _ image: LoadedImage, _ reservation: MemoryReservation?,
        _ expiry: ContinuousClock.Instant?, _ now: ContinuousClock.Instant?
    ) -> Bool {
        let byteCount = image.image.byteCount
        guard state.withLock({ $0.hasRoom(for: image, expiry, now) }) else { return false }
        let charge = budget.flatMap { budget in
            reservation?.handOver(byteCount) ?? budget.tryReserve(byteCount)
        }
        guard budget == nil || charge != nil else {
            state.withLock { $0.remember(image, expiry) }
            return false
        }
        let distance = distance(of: image.key)
        updateDistances(ifFullWith: byteCount)
        let (isKept, evicted) = state.withLock { state in
            state.keep(image, charge, expiry, distance, now)
        }
        free(evicted)
        // The bytes are no longer those of a decode: whoever waits may ask the cache for them.
        budget?.settle()
        return isKept
    }

    /// Gives up pictures for others who share the budget.
    private func giveUp(_ byteCount: Int) -> [MemoryReservation] {
        updateDistances(ifFullWith: nil)
        return state.withLock { state in
            state.evict(toByteCount: max(0, state.statistics.byteCount - byteCount))
        }.compactMap(\.reservation)
    }

    private func setLimits(_ change: (inout State) -> Void) {
        updateDistances(ifFullWith: nil)
        let evicted = state.withLock { state in
            change(&state)
            return state.isOff ? state.removeAll() : state.evict(toByteCount: state.byteLimit)
        }
        free(evicted)
    }

    private func distance(of key: ImageKey) -> Double {
        state.withLock { $0.distance }.map { max(0, $0(key)) } ?? 0
    }

    /// Asks for the distance of every picture if what is looked at has moved.
    ///
    /// - Parameter byteCount: what will be put in: nothing is asked if there is room for it.
    private func updateDistances(ifFullWith byteCount: Int?) {
        let (distance, keys) = state.withLock { state -> (Distance?, [ImageKey]) in
            guard state.hasOldDistances, byteCount.map({ !state.fits($0) }) ?? true else {
                return (nil, [])
            }
            state.hasOldDistances = false
            return (state.distance ?? { _ in 0 }, state.queue.all.map(\.key))
        }
        guard let distance else { return }
        let distances = keys.map { ($0, max(0, distance($0))) }
        state.withLock { $0.setDistances(distances) }
    }

    /// Takes pictures whose memory is freed here, where no lock is held.
    private func free(_ evicted: consuming [EvictedImage]) {}
}
