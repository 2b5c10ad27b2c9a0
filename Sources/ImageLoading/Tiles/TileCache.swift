// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels
internal import Synchronization

/// A decoded tile.
struct DecodedTile: Sendable {
    let image: PixelBuffer
    /// The error because of which pixels are missing, as text.
    let problem: String?

    init(_ image: PixelBuffer, _ problem: String?) {
        self.image = image
        self.problem = problem
    }

    /// Returns a part of the tile.
    func cut(_ part: PixelRect) -> DecodedTile { DecodedTile(image.cut(part), problem) }
}

/// A least-recently-used cache of decoded tiles of any number of images, limited in bytes.
///
/// Its lock is held for short operations only: never while awaiting, calling back, using the budget
/// or freeing tiles.
public final class TileCache: Sendable {
    struct Key: Hashable {
        @ComparedByBytes var image: String
        let tile: TileAddress
    }

    fileprivate struct Entry {
        let tile: DecodedTile
        let charge: MemoryReservation?
        var lastUse: UInt64
    }

    fileprivate struct State {
        var byteLimit: Int
        var entries: [Key: Entry] = [:]
        var byteCount = 0
        var clock: UInt64 = 0
    }

    /// The minimum number of bytes that an eviction frees, so that not every insertion evicts.
    fileprivate static let smallestShare = 16

    /// The budget for tiles and for the decoding of levels.
    let budget: MemoryBudget?
    private let state: Mutex<State>

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - byteLimit: the maximum size of all tiles in bytes.
    ///   - budget: the memory budget for the tiles; it reclaims memory from caches in the order in
    ///     which they were created.
    public init(byteLimit: Int = 128 << 20, budget: MemoryBudget? = nil) {
        state = Mutex(State(byteLimit: byteLimit))
        self.budget = budget
        budget?.attach { [weak self] byteCount in
            self?.state.withLock { state in
                state.evict(toByteCount: max(0, state.byteCount - byteCount))
            }.compactMap(\.charge) ?? []
        }
    }

    /// The maximum size in bytes; lowering it evicts tiles at once.
    public var byteLimit: Int {
        get { state.withLock { $0.byteLimit } }
        set {
            free(
                state.withLock { state in
                    state.byteLimit = newValue
                    return state.makeRoom(keeping: 0)
                })
        }
    }

    /// The size of all tiles in bytes, row padding included.
    public var byteCount: Int { state.withLock { $0.byteCount } }

    /// Removes all tiles.
    public func removeAll() {
        free(state.withLock { $0.evict(toByteCount: 0) })
    }

    /// Evicts half of the bytes on a warning, and all when memory pressure is critical.
    public func respond(to level: MemoryPressureLevel) {
        guard level != .normal else { return }
        let share = level == .critical ? 0 : MemoryCache.shareAtWarning
        free(
            state.withLock { state in
                state.evict(toByteCount: Int(Double(state.byteCount) * share))
            })
    }

    /// Removes the tiles of an image.
    func removeAll(of image: String) {
        free(
            state.withLock { state in
                state.entries.keys.filter { $0.image.hasSameBytes(as: image) }.compactMap {
                    state.remove($0)
                }
            })
    }

    func tile(_ key: Key) -> DecodedTile? {
        state.withLock { state in
            state.clock += 1
            state.entries[key]?.lastUse = state.clock
            return state.entries[key]?.tile
        }
    }

    func insert(_ tile: DecodedTile, _ key: Key) {
        let image = tile.image
        guard image.byteCount <= byteLimit else { return }
        let charge = budget?.tryReserve(image.byteCount)
        guard budget == nil || charge != nil else { return }
        let freed = state.withLock { state in
            state.clock += 1
            let old = state.remove(key)
            state.entries[key] = Entry(tile: tile, charge: charge, lastUse: state.clock)
            state.byteCount += image.byteCount
            return state.makeRoom(keeping: image.byteCount) + (old.map { [$0] } ?? [])
        }
        free(freed)
        // The bytes are no longer those of a decode: waiting reservations may reclaim them from the
        // cache.
        budget?.settle()
    }

    /// Frees tiles outside of the lock.
    private func free(_ entries: consuming [Entry]) {}
}

extension TileCache.State {
    fileprivate mutating func remove(_ key: TileCache.Key) -> TileCache.Entry? {
        let entry = entries.removeValue(forKey: key)
        byteCount -= entry?.tile.image.byteCount ?? 0
        return entry
    }

    /// Evicts tiles until the rest fits the limit.
    ///
    /// - Parameter newest: the size of the tile used last, which stays if it fits.
    /// - Returns: the evicted tiles.
    fileprivate mutating func makeRoom(keeping newest: Int) -> [TileCache.Entry] {
        guard byteCount > byteLimit else { return [] }
        let wanted = byteLimit - byteLimit / TileCache.smallestShare
        return evict(toByteCount: max(wanted, newest))
    }

    /// Removes the least recently used tiles until at most `byteCount` bytes remain.
    fileprivate mutating func evict(toByteCount wanted: Int) -> [TileCache.Entry] {
        var evicted: [TileCache.Entry] = []
        for (key, _) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            guard byteCount > wanted else { break }
            if let entry = remove(key) { evicted.append(entry) }
        }
        return evicted
    }
}
