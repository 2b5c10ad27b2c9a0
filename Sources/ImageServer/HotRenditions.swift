// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import ImageLoading
internal import NIOCore
internal import Synchronization

/// The answers with renditions that were sent last, ready to be sent again.
///
/// An original that has been looked at is believed to be the same for ``lifetime``; from then on its
/// answers wait for another look. A lock: held for a look into a table.
final class HotRenditions: Sendable {
    /// What an answer depends on: the address, and what else of the request had a say.
    struct Key: Hashable {
        @ComparedByBytes var address: String
        /// The values of the headers that may have a say, or "-" for one that was not sent.
        let headers: [ComparedByBytes]
    }

    struct Answer: Sendable {
        let original: FileIdentity
        let validators: Validators
        /// Those of the whole answer.
        let headers: HTTPFields
        let body: ByteBuffer
    }

    private struct Entry {
        let answer: Answer
        var lookedAt: ContinuousClock.Instant
        var lastUse: UInt64

        var byteCount: Int { answer.body.storageCapacity + HotRenditions.entryOverhead }
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var byteCount = 0
        var clock: UInt64 = 0
    }

    /// How long an original is not looked at again.
    static let lifetime = Duration.milliseconds(100)
    private static let maximumEntryByteCount = 1 << 20
    /// About what an address and its headers take, so that endless addresses of little have an end.
    static let entryOverhead = 3 << 10

    private let byteLimit: Int
    private let state = Mutex(State())

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// The answer, if somebody looked at its original just now.
    func answer(_ key: Key, now: ContinuousClock.Instant) -> Answer? {
        state.withLock { state in
            guard let index = state.entries.index(forKey: key),
                state.entries.values[index].lookedAt.duration(to: now) < Self.lifetime
            else { return nil }
            state.clock += 1
            state.entries.values[index].lastUse = state.clock
            return state.entries.values[index].answer
        }
    }

    /// The answer, if it was made of an original that was looked at before `time`.
    func answer(
        _ key: Key, of original: FileIdentity, lookedAt time: ContinuousClock.Instant
    ) -> Answer? {
        state.withLock { state in
            guard let index = state.entries.index(forKey: key),
                state.entries.values[index].answer.original == original
            else { return nil }
            state.clock += 1
            state.entries.values[index].lastUse = state.clock
            state.entries.values[index].lookedAt = time
            return state.entries.values[index].answer
        }
    }

    /// Keeps an answer whose original was looked at before `time`.
    func insert(_ answer: Answer, _ key: Key, lookedAt time: ContinuousClock.Instant) {
        guard answer.body.readableBytes <= min(Self.maximumEntryByteCount, byteLimit) else {
            return
        }
        state.withLock { state in
            state.clock += 1
            let entry = Entry(answer: answer, lookedAt: time, lastUse: state.clock)
            let old = state.entries.updateValue(entry, forKey: key)
            state.byteCount += entry.byteCount - (old?.byteCount ?? 0)
            guard state.byteCount > byteLimit else { return }
            // A quarter at a time, so that it is not searched for with each rendition.
            for (key, entry) in state.entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
                guard state.byteCount > byteLimit - byteLimit / 4 else { break }
                state.entries[key] = nil
                state.byteCount -= entry.byteCount
            }
        }
    }

    /// Forgets all that was made of an original.
    func removeAll(of path: String) {
        state.withLock { state in
            for (key, entry) in state.entries
            where entry.answer.original.path.hasSameBytes(as: path) {
                state.entries[key] = nil
                state.byteCount -= entry.byteCount
            }
        }
    }
}
