// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// An image that the memory cache holds, or has evicted and finds again while a consumer holds it.
final class CacheEntry {
    let key: ImageKey
    /// The number of pixels of the image.
    let pixelCount: Int
    /// The image, if the cache holds it.
    private(set) var kept: LoadedImage?
    /// The bytes that are reserved for it.
    private(set) var reservation: MemoryReservation?
    /// The image, if only consumers hold it.
    private weak var held: LoadedImage?
    /// The time at which it expires.
    var expiry: ContinuousClock.Instant?

    /// The number of uses.
    var frequency = 1.0
    /// The cache's age when it was last used.
    var base = 0.0
    /// Its distance from the visible images, in screens.
    var distance = 0.0
    /// The number of the last use; of entries of equal worth the least recently used is evicted first.
    var lastUse: UInt64 = 0
    /// Its index in ``EvictionQueue``, and the rank that determines it.
    fileprivate var place = -1
    fileprivate var rank = Rank(worth: 0, lastUse: 0)

    /// An image that only consumers hold.
    init(heldElsewhere image: LoadedImage) {
        key = image.key
        pixelCount = image.image.size.area
        held = image
    }

    init(_ image: LoadedImage, _ reservation: MemoryReservation?) {
        key = image.key
        pixelCount = image.image.size.area
        kept = image
        self.reservation = reservation
    }

    /// The image, whether the cache or a consumer holds it.
    var image: LoadedImage? { kept ?? held }

    /// Returns whether it has expired; without a time nothing expires.
    func isExpired(at now: ContinuousClock.Instant?) -> Bool {
        guard let now, let expiry else { return false }
        return expiry <= now
    }

    /// The number of bytes that the cache holds for it.
    var byteCount: Int { kept?.image.byteCount ?? 0 }

    /// The value of keeping it: Greedy-Dual-Size-Frequency, divided by its distance.
    ///
    /// - SeeAlso: Ludmila Cherkasova, “Improving WWW Proxies Performance with
    ///   Greedy-Dual-Size-Frequency Caching Policy”, HP Laboratories, 1998.
    var worth: Double {
        guard let kept else { return 0 }
        let bytes = Double(max(1, kept.image.byteCount))
        let nanoseconds = kept.cost / .nanoseconds(1)
        let costPerByte = nanoseconds > 0 ? nanoseconds / bytes : Self.usualCostPerByte
        return (base + frequency * costPerByte) / (1 + distance)
    }

    /// The cost of decoding a photograph in nanoseconds for a byte of the result, for images whose cost
    /// was not measured.
    private static let usualCostPerByte = 4.0

    /// Evicts the image; it is found again while a consumer holds it.
    ///
    /// - Returns: the evicted image, to be released outside of the lock of the cache.
    func evict() -> EvictedImage? {
        // A weak reference allocates memory, so it is set only if another reference exists.
        if !isKnownUniquelyReferenced(&kept) { held = kept }
        return takeKept()
    }

    /// Takes the image; it is not found again.
    func takeKept() -> EvictedImage? {
        defer { (kept, reservation) = (nil, nil) }
        return kept.map { EvictedImage(image: $0, reservation: reservation) }
    }
}

extension CacheEntry: Equatable {
    static func == (one: CacheEntry, other: CacheEntry) -> Bool { one === other }
}

/// An evicted image, whose memory is freed outside of the lock.
struct EvictedImage: Sendable {
    let image: LoadedImage
    let reservation: MemoryReservation?
}

/// The order of entries in the queue.
private struct Rank: Comparable {
    var worth: Double
    var lastUse: UInt64

    static func < (one: Rank, other: Rank) -> Bool {
        one.worth == other.worth ? one.lastUse < other.lastUse : one.worth < other.worth
    }
}

/// Entries by their worth: a heap whose first entry is worth least.
///
/// A use increases the worth of an entry. The heap is adjusted only when the entry is first, so that a
/// use costs nothing here.
struct EvictionQueue {
    private var entries: [CacheEntry] = []

    /// The entries, in no particular order.
    var all: [CacheEntry] { entries }
    var count: Int { entries.count }

    mutating func insert(_ entry: CacheEntry) {
        entry.rank = Rank(worth: entry.worth, lastUse: entry.lastUse)
        entries.append(entry)
        entry.place = entries.endIndex - 1
        moveUp(entry.place)
    }

    mutating func remove(_ entry: CacheEntry) {
        let place = entry.place
        let last = entries.removeLast()
        entry.place = -1
        guard last !== entry else { return }
        put(last, place)
        moveUp(place)
        moveDown(last.place)
    }

    /// Removes the entry that is worth least now; logarithmic.
    mutating func removeLeast() -> CacheEntry? {
        while let first = entries.first {
            let rank = Rank(worth: first.worth, lastUse: first.lastUse)
            guard first.rank < rank else {
                remove(first)
                return first
            }
            first.rank = rank
            moveDown(0)
        }
        return nil
    }

    /// Rebuilds the heap after entries have become worth less; linear.
    mutating func sort() {
        for entry in entries { entry.rank = Rank(worth: entry.worth, lastUse: entry.lastUse) }
        for place in entries.indices.prefix(entries.count / 2).reversed() { moveDown(place) }
    }

    private mutating func put(_ entry: CacheEntry, _ place: Int) {
        entries[place] = entry
        entry.place = place
    }

    private mutating func moveUp(_ start: Int) {
        let entry = entries[start]
        var place = start
        while place > 0, entry.rank < entries[(place - 1) / 2].rank {
            put(entries[(place - 1) / 2], place)
            place = (place - 1) / 2
        }
        put(entry, place)
    }

    private mutating func moveDown(_ start: Int) {
        let entry = entries[start]
        var place = start
        while 2 * place + 1 < entries.count {
            var child = 2 * place + 1
            if child + 1 < entries.count, entries[child + 1].rank < entries[child].rank {
                child += 1
            }
            guard entries[child].rank < entry.rank else { break }
            put(entries[child], place)
            place = child
        }
        put(entry, place)
    }
}
