// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import ImageLoading
internal import NIOCore
internal import Synchronization

/// The renditions that were sent last, ready to be sent again without a look at the disk.
///
/// An original that has been looked at is believed to be the same for ``lifetime``; renditions are
/// found by its version, so what is older than that is never sent. A lock: held for a look into a
/// table.
final class HotRenditions: Sendable {
    struct Key: Hashable {
        let path: String
        let entityTag: String
    }

    struct Entry: Sendable {
        let body: ByteBuffer
        let mediaType: String
        fileprivate var lastUse: UInt64 = 0

        init(body: ByteBuffer, mediaType: String) {
            self.body = body
            self.mediaType = mediaType
        }
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var byteCount = 0
        var clock: UInt64 = 0
        /// By the names in an address.
        var originals: [[String]: (identity: FileIdentity, time: ContinuousClock.Instant)] = [:]
    }

    /// How long an original is not looked at again.
    static let lifetime = Duration.milliseconds(100)
    private static let maximumOriginalCount = 4_096
    private static let maximumEntryByteCount = 1 << 20

    private let byteLimit: Int
    private let state = Mutex(State())

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// The original of an address, if somebody looked at it just now.
    func original(_ names: [String], now: ContinuousClock.Instant = .now) -> FileIdentity? {
        state.withLock { state in
            guard let known = state.originals[names],
                known.time.duration(to: now) < Self.lifetime
            else { return nil }
            return known.identity
        }
    }

    /// Notes that an original was looked at before `time`.
    func note(_ identity: FileIdentity, _ names: [String], lookedAt time: ContinuousClock.Instant) {
        state.withLock { state in
            if state.originals.count >= Self.maximumOriginalCount { state.originals = [:] }
            state.originals[names] = (identity, time)
        }
    }

    func entry(_ key: Key) -> Entry? {
        state.withLock { state in
            state.clock += 1
            state.entries[key]?.lastUse = state.clock
            return state.entries[key]
        }
    }

    func insert(_ entry: Entry, _ key: Key) {
        let byteCount = entry.body.readableBytes
        guard byteCount <= min(Self.maximumEntryByteCount, byteLimit) else { return }
        state.withLock { state in
            state.clock += 1
            var entry = entry
            entry.lastUse = state.clock
            let old = state.entries.updateValue(entry, forKey: key)
            state.byteCount += byteCount - (old?.body.readableBytes ?? 0)
            guard state.byteCount > byteLimit else { return }
            // A quarter at a time, so that it is not searched for with each rendition.
            for (key, entry) in state.entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
                guard state.byteCount > byteLimit - byteLimit / 4 else { break }
                state.entries[key] = nil
                state.byteCount -= entry.body.readableBytes
            }
        }
    }

    /// Forgets an original and all that was made of it.
    func removeAll(of path: String) {
        state.withLock { state in
            state.originals = state.originals.filter { $0.value.identity.path != path }
            for (key, entry) in state.entries where key.path == path {
                state.entries[key] = nil
                state.byteCount -= entry.body.readableBytes
            }
        }
    }
}
