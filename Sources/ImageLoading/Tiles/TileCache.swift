// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels
internal import Synchronization

/// Decoded tiles within a limit of bytes, of any number of pictures; those go first that were not
/// used for longest.
///
/// A lock: every operation is short, never awaits and runs nobody else's code. The budget is never
/// asked while it is held, and tiles are freed outside of it.
public final class TileCache: Sendable {
    struct Key: Hashable {
        @ComparedByBytes var picture: String
        let tile: TileAddress
    }

    fileprivate struct Entry {
        let image: PixelBuffer
        let charge: MemoryReservation?
        var lastUse: UInt64
    }

    fileprivate struct State {
        var byteLimit: Int
        var entries: [Key: Entry] = [:]
        var byteCount = 0
        var clock: UInt64 = 0
    }

    /// What is freed at least when there is no room, so that it is not searched for with each tile.
    fileprivate static let smallestShare = 16

    /// The account that tiles are charged to, and the decoding of levels.
    let budget: MemoryBudget?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - byteLimit: what the tiles may take together.
    ///   - budget: the account that the tiles are charged to, which asks this cache for room after
    ///     those that were made for it before.
    public init(byteLimit: Int = 128 << 20, budget: MemoryBudget? = nil) {
        state = Mutex(State(byteLimit: byteLimit))
        self.budget = budget
        budget?.attach { [weak self] byteCount in
            self?.state.withLock { state in
                state.evict(toByteCount: max(0, state.byteCount - byteCount))
            }.compactMap(\.charge) ?? []
        }
    }

    /// The bytes that tiles may take; tiles are let go at once if it becomes less.
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

    /// What the tiles take now, padding included.
    public var byteCount: Int { state.withLock { $0.byteCount } }

    /// Lets go of everything.
    public func removeAll() {
        free(state.withLock { $0.evict(toByteCount: 0) })
    }

    /// Lets go of half of what is there on a warning, and of everything when memory is critical.
    public func respond(to level: MemoryPressureLevel) {
        guard level != .normal else { return }
        let share = level == .critical ? 0 : MemoryCache.shareAtWarning
        free(
            state.withLock { state in
                state.evict(toByteCount: Int(Double(state.byteCount) * share))
            })
    }

    /// Forgets the tiles of a picture.
    func removeAll(of picture: String) {
        free(
            state.withLock { state in
                state.entries.keys.filter { $0.picture.hasSameBytes(as: picture) }.compactMap {
                    state.remove($0)
                }
            })
    }

    func image(_ key: Key) -> PixelBuffer? {
        state.withLock { state in
            state.clock += 1
            state.entries[key]?.lastUse = state.clock
            return state.entries[key]?.image
        }
    }

    func insert(_ image: PixelBuffer, _ key: Key) {
        guard image.byteCount <= byteLimit else { return }
        let charge = budget?.tryReserve(image.byteCount)
        guard budget == nil || charge != nil else { return }
        let freed = state.withLock { state in
            state.clock += 1
            let old = state.remove(key)
            state.entries[key] = Entry(image: image, charge: charge, lastUse: state.clock)
            state.byteCount += image.byteCount
            return state.makeRoom(keeping: image.byteCount) + (old.map { [$0] } ?? [])
        }
        free(freed)
        // The bytes are no longer those of a decode: whoever waits may ask the cache for them.
        budget?.settle()
    }

    /// Takes tiles whose memory is freed here, where no lock is held.
    private func free(_ entries: consuming [Entry]) {}
}

extension TileCache.State {
    fileprivate mutating func remove(_ key: TileCache.Key) -> TileCache.Entry? {
        let entry = entries.removeValue(forKey: key)
        byteCount -= entry?.image.byteCount ?? 0
        return entry
    }

    /// - Parameter newest: the bytes of the tile used last, which stays if there is room for it.
    /// - Returns: the tiles that had to go.
    fileprivate mutating func makeRoom(keeping newest: Int) -> [TileCache.Entry] {
        guard byteCount > byteLimit else { return [] }
        let wanted = byteLimit - byteLimit / TileCache.smallestShare
        return evict(toByteCount: max(wanted, newest))
    }

    /// - Returns: the tiles not used for longest, so that no more than so many bytes are left.
    fileprivate mutating func evict(toByteCount wanted: Int) -> [TileCache.Entry] {
        var evicted: [TileCache.Entry] = []
        for (key, _) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            guard byteCount > wanted else { break }
            if let entry = remove(key) { evicted.append(entry) }
        }
        return evicted
    }
}
