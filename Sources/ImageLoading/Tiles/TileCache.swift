// SPDX-License-Identifier: Apache-2.0

internal import Pixels
internal import Synchronization

/// Decoded tiles within a limit of bytes, of any number of pictures; those go first that were not
/// used for longest.
///
/// A lock: every operation is short, never awaits and runs nobody else's code.
public final class TileCache: Sendable {
    struct Key: Hashable {
        let picture: String
        let tile: TileAddress
    }

    fileprivate struct Entry {
        let image: PixelBuffer
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

    private let state: Mutex<State>

    public init(byteLimit: Int = 128 << 20) { state = Mutex(State(byteLimit: byteLimit)) }

    /// The bytes that tiles may take; tiles are let go at once if it becomes less.
    public var byteLimit: Int {
        get { state.withLock { $0.byteLimit } }
        set {
            state.withLock { state in
                state.byteLimit = newValue
                state.makeRoom()
            }
        }
    }

    /// What the tiles take now, padding included.
    public var byteCount: Int { state.withLock { $0.byteCount } }

    /// Lets go of everything.
    public func removeAll() {
        state.withLock { state in
            state.entries = [:]
            state.byteCount = 0
        }
    }

    /// Forgets the tiles of a picture.
    func removeAll(of picture: String) {
        state.withLock { state in
            for (key, entry) in state.entries where key.picture == picture {
                state.entries[key] = nil
                state.byteCount -= entry.image.byteCount
            }
        }
    }

    func image(_ key: Key) -> PixelBuffer? {
        state.withLock { state in
            state.clock += 1
            state.entries[key]?.lastUse = state.clock
            return state.entries[key]?.image
        }
    }

    func insert(_ image: PixelBuffer, _ key: Key) {
        state.withLock { state in
            guard image.byteCount <= state.byteLimit else { return }
            state.clock += 1
            let old = state.entries.updateValue(
                Entry(image: image, lastUse: state.clock), forKey: key)
            state.byteCount += image.byteCount - (old?.image.byteCount ?? 0)
            state.makeRoom()
        }
    }
}

extension TileCache.State {
    fileprivate mutating func makeRoom() {
        guard byteCount > byteLimit else { return }
        let wanted = byteLimit - byteLimit / TileCache.smallestShare
        for (key, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            // The newest stays, however large it is.
            guard byteCount > wanted, entry.lastUse != clock || byteCount > byteLimit else { break }
            entries[key] = nil
            byteCount -= entry.image.byteCount
        }
    }
}
