// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension MemoryCache {
    /// The state that the lock protects.
    ///
    /// It returns evicted images, so that their memory is freed outside of the lock.
    struct State {
        var byteLimit: Int
        var countLimit: Int
        var statistics = Statistics()
        var distance: Distance?
        /// Whether the visible images have changed since the distances were computed.
        var hasOldDistances = false
        private(set) var entries: [ImageKey: CacheEntry] = [:]
        private(set) var entriesByOriginal: [OriginalIdentity: EntriesBySize] = [:]
        /// The entries whose images the cache holds.
        private(set) var queue = EvictionQueue()
        /// The highest worth of an evicted image, from which new ones start.
        private var age = 0.0
        private var useCount: UInt64 = 0
        /// The number of evicted entries at which those without a holder are removed.
        private var sweepCount = Self.leastSweepCount

        private static let leastSweepCount = 64

        init(byteLimit: Int, countLimit: Int) {
            self.byteLimit = byteLimit
            self.countLimit = countLimit
        }
    }
}

/// An image that the cache has found.
struct Found {
    let image: LoadedImage
    /// Whether the cache holds it, rather than consumers alone.
    let isKept: Bool
    let expiry: ContinuousClock.Instant?
}

extension MemoryCache.State {
    /// Whether the cache stores nothing.
    var isOff: Bool { byteLimit <= 0 || countLimit <= 0 }

    func fits(_ byteCount: Int) -> Bool {
        statistics.byteCount + byteCount <= byteLimit && queue.count < countLimit
    }

    /// Returns the image of a key, without counting a use.
    func image(_ key: ImageKey, _ now: ContinuousClock.Instant?) -> LoadedImage? {
        guard let entry = entries[key], !entry.isExpired(at: now) else { return nil }
        return entry.image
    }

    /// Returns the entry of a key and its image, and counts a use.
    mutating func use(
        _ key: ImageKey, _ now: ContinuousClock.Instant?
    ) -> (found: Found?, expired: EvictedImage?) {
        guard let entry = entries[key] else {
            statistics.missCount += 1
            return (nil, nil)
        }
        guard !entry.isExpired(at: now), let image = entry.image else {
            statistics.missCount += 1
            return (nil, forget(entry))
        }
        statistics.hitCount += 1
        touch(entry)
        return (Found(image: image, isKept: entry.kept != nil, expiry: entry.expiry), nil)
    }

    /// Returns the largest images of an original, in the cache or held by views: at most
    /// ``MemoryCache/candidateLimit``, the smallest first.
    func largestImages(
        of original: OriginalIdentity, _ now: ContinuousClock.Instant?
    ) -> [LoadedImage] {
        guard let entries = entriesByOriginal[original] else { return [] }
        return images(entries.all.reversed(), now).reversed()
    }

    /// Returns the smallest images of an original with at least the given number of pixels.
    func images(
        of original: OriginalIdentity, atLeast pixelCount: Int, _ now: ContinuousClock.Instant?
    ) -> [LoadedImage] {
        guard let entries = entriesByOriginal[original] else { return [] }
        return images(entries.suffix(atLeast: pixelCount), now)
    }

    private func images(
        _ entries: some Collection<CacheEntry>, _ now: ContinuousClock.Instant?
    ) -> [LoadedImage] {
        Array(
            entries.lazy.filter { !$0.isExpired(at: now) }.compactMap(\.image)
                .prefix(MemoryCache.candidateLimit))
    }

    mutating func touch(_ key: ImageKey) {
        if let entry = entries[key] { touch(entry) }
    }

    private mutating func touch(_ entry: CacheEntry) {
        useCount += 1
        entry.frequency += 1
        entry.base = age
        entry.lastUse = useCount
    }

    /// Returns whether an image may be stored; one that is too large is found while a consumer holds it.
    mutating func hasRoom(
        for image: LoadedImage, _ expiry: ContinuousClock.Instant?, _ now: ContinuousClock.Instant?
    ) -> Bool {
        guard !isOff, !isBeaten(image, now) else { return false }
        if image.image.byteCount <= byteLimit / MemoryCache.largestShare { return true }
        remember(image, expiry)
        return false
    }

    /// Adds an image that is found while a consumer holds it, unless there is one already.
    mutating func remember(_ image: LoadedImage, _ expiry: ContinuousClock.Instant?) {
        if let old = entries[image.key] {
            guard old.image == nil else { return }
            _ = forget(old)
        }
        let entry = CacheEntry(heldElsewhere: image)
        entry.expiry = expiry
        add(entry)
    }

    /// Stores an image whose bytes are reserved.
    mutating func keep(
        _ image: LoadedImage, _ charge: MemoryReservation?, _ expiry: ContinuousClock.Instant?,
        _ distance: Double, _ now: ContinuousClock.Instant?
    ) -> (isKept: Bool, evicted: [EvictedImage]) {
        // All of this may have changed while bytes were being reserved.
        guard !isOff, !isBeaten(image, now) else { return (false, []) }
        let byteCount = image.image.byteCount
        guard byteCount <= byteLimit / MemoryCache.largestShare else { return (false, []) }
        if let old = entries[image.key], old.kept === image {
            old.expiry = expiry
            touch(old)
            return (true, [])
        }
        let entry = CacheEntry(image, charge)
        entry.expiry = expiry
        entry.distance = distance
        var evicted: [EvictedImage] = []
        if let old = entries[image.key] {
            entry.frequency = old.frequency
            touch(entry)
            if let old = forget(old) { evicted.append(old) }
        } else {
            touch(entry)
            entry.frequency = 1
        }
        while !fits(byteCount), let least = evictLeast() { evicted.append(least) }
        add(entry)
        return (true, evicted)
    }

    /// Returns whether a preview would replace a finished image.
    private func isBeaten(_ image: LoadedImage, _ now: ContinuousClock.Instant?) -> Bool {
        image.isPreview && self.image(image.key, now)?.isPreview == false
    }

    /// Evicts images until at most the given number of bytes and the count limit are in use.
    mutating func evict(toByteCount byteCount: Int) -> [EvictedImage] {
        var evicted: [EvictedImage] = []
        while statistics.byteCount > byteCount || queue.count > countLimit,
            let least = evictLeast()
        {
            evicted.append(least)
        }
        return evicted
    }

    private mutating func evictLeast() -> EvictedImage? {
        guard let entry = queue.removeLeast() else { return nil }
        age = max(age, entry.worth)
        statistics.evictionCount += 1
        statistics.byteCount -= entry.byteCount
        statistics.imageCount -= 1
        let evicted = entry.evict()
        if entry.image == nil { forgetKey(entry) }
        sweep()
        return evicted
    }
}

extension MemoryCache.State {
    mutating func remove(_ key: ImageKey) -> [EvictedImage] {
        entries[key].flatMap { forget($0) }.map { [$0] } ?? []
    }

    mutating func removeAll(of original: OriginalIdentity) -> [EvictedImage] {
        (entriesByOriginal[original]?.all ?? []).compactMap { forget($0) }
    }

    mutating func removeAll(
        of original: OriginalIdentity, except version: OriginalVersion
    ) -> [EvictedImage] {
        (entriesByOriginal[original]?.all ?? []).filter { $0.image?.original != version }
            .compactMap { forget($0) }
    }

    mutating func removeAll() -> [EvictedImage] {
        let all = queue.all.compactMap { $0.takeKept() }
        entries = [:]
        entriesByOriginal = [:]
        queue = EvictionQueue()
        statistics.byteCount = 0
        statistics.imageCount = 0
        return all
    }

    mutating func removeExpired(_ now: ContinuousClock.Instant?) -> [EvictedImage] {
        entries.values.filter { $0.isExpired(at: now) }.compactMap { forget($0) }
    }

    mutating func setDistances(_ distances: [(ImageKey, Double)]) {
        for (key, distance) in distances { entries[key]?.distance = distance }
        queue.sort()
    }

    private mutating func add(_ entry: CacheEntry) {
        entries[entry.key] = entry
        entriesByOriginal[entry.key.original, default: EntriesBySize()].insert(entry)
        if entry.kept != nil {
            queue.insert(entry)
            statistics.byteCount += entry.byteCount
            statistics.imageCount += 1
        }
        sweep()
    }

    private mutating func forget(_ entry: CacheEntry) -> EvictedImage? {
        forgetKey(entry)
        guard entry.kept != nil else { return nil }
        queue.remove(entry)
        statistics.byteCount -= entry.byteCount
        statistics.imageCount -= 1
        return entry.takeKept()
    }

    private mutating func forgetKey(_ entry: CacheEntry) {
        entries[entry.key] = nil
        let original = entry.key.original
        entriesByOriginal[original]?.remove(entry)
        if entriesByOriginal[original]?.all.isEmpty == true { entriesByOriginal[original] = nil }
    }

    /// Removes evicted entries without a holder, once there may be many of them.
    private mutating func sweep() {
        guard entries.count - queue.count >= sweepCount else { return }
        for entry in entries.values where entry.image == nil { forgetKey(entry) }
        sweepCount = max(Self.leastSweepCount, 2 * (entries.count - queue.count))
    }
}
