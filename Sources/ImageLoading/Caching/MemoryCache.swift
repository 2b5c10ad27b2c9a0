// SPDX-License-Identifier: Apache-2.0

internal import Pixels
internal import Synchronization

/// A cache of decoded images within a limit of bytes; the image that is worth least is evicted first.
///
/// The worth of an image is its cost per byte, times the number of its uses. It is less for images that
/// were not used recently, and for images far from the visible ones.
///
/// An evicted image is found again while a consumer holds it: the same object, without a decode.
///
/// A lock: every operation is short, never awaits and calls no other code. The budget is not called
/// while it is held, and images are freed outside of it.
public final class MemoryCache: Sendable {
    /// The counters of a cache since it was made, and its current contents.
    public struct Statistics: Hashable, Sendable {
        /// The number of requests that found an image.
        public internal(set) var hitCount = 0
        /// The number of requests that found none.
        public internal(set) var missCount = 0
        /// The number of images that were evicted to make room, or because memory was short.
        public internal(set) var evictionCount = 0
        /// The bytes of the images in the cache.
        public internal(set) var byteCount = 0
        /// The number of images in the cache.
        public internal(set) var imageCount = 0
    }

    /// Returns the distance of an image from the visible ones, in screens.
    public typealias Distance = @Sendable (ImageKey) -> Double

    /// An image that takes more than this fraction (1/n) of the limit is not stored: it would evict all
    /// small ones.
    public static let largestShare = 4

    let state: Mutex<State>
    private let lifetime: Duration?
    private let budget: MemoryBudget?
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - byteLimit: the maximum number of bytes of all images; 0 stores nothing.
    ///   - countLimit: the maximum number of images; 0 stores nothing.
    ///   - lifetime: the time after which an image expires; `nil` for never.
    ///   - budget: the budget of the images; when it is full, this cache evicts images before those
    ///     that are attached later.
    ///   - now: returns the time by which images expire.
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

    /// The maximum number of bytes of all images; a lower limit takes effect at once.
    public var byteLimit: Int {
        get { state.withLock { $0.byteLimit } }
        set { setLimits { $0.byteLimit = newValue } }
    }

    /// The maximum number of images; a lower limit takes effect at once.
    public var countLimit: Int {
        get { state.withLock { $0.countLimit } }
        set { setLimits { $0.countLimit = newValue } }
    }

    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// The number of bytes of all images, including padding.
    public var byteCount: Int { state.withLock { $0.statistics.byteCount } }

    /// Returns the image of `key`, which may be a preview (``LoadedImage/isPreview``).
    public func image(for key: ImageKey) -> LoadedImage? {
        let now = instant
        guard let found = state.withLock({ $0.use(key, now) }).found else { return nil }
        // An evicted image that is used again is stored again.
        if !found.isKept { insert(found.image, nil, found.expiry, now) }
        return found.image
    }

    /// Returns whether there is an image of `key`, without counting a use.
    public func contains(_ key: ImageKey) -> Bool {
        let now = instant
        return state.withLock { $0.image(key, now) != nil }
    }

    /// Stores an image under its key, replacing the one before.
    ///
    /// A preview never replaces a finished image.
    ///
    /// - Parameters:
    ///   - image: the image.
    ///   - reservation: its reservation in the cache's budget, which passes to the cache if it stores
    ///     the image. Without one, or if it is too small, the cache reserves the bytes itself.
    /// - Returns: whether the cache stores it. An image that is too large is only found while a consumer
    ///   holds it.
    @discardableResult
    public func insert(
        _ image: LoadedImage, charging reservation: MemoryReservation? = nil
    ) -> Bool {
        let now = instant
        let expiry = now.flatMap { now in lifetime.map { now.advanced(by: $0) } }
        return insert(image, reservation, expiry, now)
    }

    /// Removes an image, even if consumers hold it.
    public func remove(_ key: ImageKey) {
        free(state.withLock { $0.remove(key) })
    }

    /// Removes all images of an original, even if consumers hold them.
    public func removeAll(of original: OriginalIdentity) {
        free(state.withLock { $0.removeAll(of: original) })
    }

    /// Removes all images of an original except those of one version.
    func removeAll(of original: OriginalIdentity, except version: OriginalVersion) {
        free(state.withLock { $0.removeAll(of: original, except: version) })
    }

    /// Removes all images, even if consumers hold them.
    public func removeAll() {
        free(state.withLock { $0.removeAll() })
    }

    /// Removes expired images.
    public func removeExpired() {
        let now = instant
        free(state.withLock { $0.removeExpired(now) })
    }

    /// Evicts images until at most the given share of the bytes is left; images that consumers hold are
    /// still found.
    public func trim(toShare share: Double) {
        precondition((0...1).contains(share), "the share is outside of 0...1")
        updateDistances(ifFullWith: nil)
        free(
            state.withLock { state in
                state.evict(toByteCount: Int(Double(state.statistics.byteCount) * share))
            })
    }

    /// Evicts images that are far from the visible ones sooner.
    ///
    /// Call it again whenever the visible images have changed. The distances are computed when room is
    /// needed next.
    ///
    /// - Parameter distance: returns without waiting and does not use this cache; `nil` to ignore
    ///   distances.
    public func rank(byDistance distance: Distance?) {
        state.withLock { state in
            state.distance = distance
            state.hasOldDistances = true
        }
    }
}

extension MemoryCache {
    /// The current time, if images expire.
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
        // The bytes are no longer those of a decode: the cache may evict the image for a waiting one.
        budget?.settle()
        return isKept
    }

    /// Evicts images for other users of the budget.
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

    /// Computes the distance of every image if the visible ones have changed.
    ///
    /// - Parameter byteCount: the bytes to be added; nothing is computed if they fit.
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

    /// Frees evicted images outside of the lock.
    private func free(_ evicted: consuming [EvictedImage]) {}
}
