// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// A picture that the memory cache has, or had and finds again as long as somebody holds it.
final class CacheEntry {
    let key: ImageKey
    /// The pixels of the picture.
    let pixelCount: Int
    /// The picture, if the cache itself keeps it.
    private(set) var kept: LoadedImage?
    /// The bytes of the budget that are taken for it.
    private(set) var reservation: MemoryReservation?
    /// The picture, if others keep it.
    private weak var held: LoadedImage?
    /// When it is no longer valid.
    var expiry: ContinuousClock.Instant?

    /// How often it was asked for.
    var frequency = 1.0
    /// The cache's age when it was last asked for.
    var base = 0.0
    /// How far from what is looked at it would be shown, in screens.
    var distance = 0.0
    /// Among equals the one that was used longer ago goes first.
    var lastUse: UInt64 = 0
    /// Its place in ``EvictionQueue``, and the worth and the use by which it stands there.
    fileprivate var place = -1
    fileprivate var rank = Rank(worth: 0, lastUse: 0)

    /// A picture that only others keep.
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

    /// The picture, whoever keeps it.
    var image: LoadedImage? { kept ?? held }

    /// Whether its time is over; without a clock nothing ages.
    func isExpired(at now: ContinuousClock.Instant?) -> Bool {
        guard let now, let expiry else { return false }
        return expiry <= now
    }

    /// The bytes that the cache keeps for it.
    var byteCount: Int { kept?.image.byteCount ?? 0 }

    /// What it is worth to keep it: Greedy-Dual-Size-Frequency, and less the farther away it is.
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

    /// What decoding a photograph costs in nanoseconds for a byte of the result, for pictures whose
    /// cost nobody measured.
    private static let usualCostPerByte = 4.0

    /// Lets go of the picture, but finds it again if somebody else holds it.
    ///
    /// - Returns: what the cache kept, to be let go of outside of its lock.
    func evict() -> EvictedImage? {
        // A weak reference takes memory of its own, so there is none without need.
        if !isKnownUniquelyReferenced(&kept) { held = kept }
        return takeKept()
    }

    /// Lets go of the picture for good.
    func takeKept() -> EvictedImage? {
        defer { (kept, reservation) = (nil, nil) }
        return kept.map { EvictedImage(image: $0, reservation: reservation) }
    }
}

extension CacheEntry: Equatable {
    static func == (one: CacheEntry, other: CacheEntry) -> Bool { one === other }
}

/// A picture on its way out of the cache; its memory is freed outside of the lock.
struct EvictedImage: Sendable {
    let image: LoadedImage
    let reservation: MemoryReservation?
}

/// By what entries are ordered.
private struct Rank: Comparable {
    var worth: Double
    var lastUse: UInt64

    static func < (one: Rank, other: Rank) -> Bool {
        one.worth == other.worth ? one.lastUse < other.lastUse : one.worth < other.worth
    }
}

/// Entries by their worth: a heap in which the entry that is worth least stands first.
///
/// An entry that is used becomes worth more. That is noticed only when it stands first, so that a
/// use costs nothing here.
struct EvictionQueue {
    private var entries: [CacheEntry] = []

    /// The order of the entries says nothing.
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

    /// Takes out the entry that is worth least now.
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

    /// Orders everything anew, after entries have become worth less.
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
