// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import ImageLoading

/// A store that is gone with the process: what the contract asks for in its plainest form.
final class MemoryRenditionStore: RenditionStoring {
    private struct Entry {
        let key: RenditionKey
        let rendition: Rendition
        let created: Int
        let freshUntil: Int
        let number: Int
    }

    private struct State {
        /// The one not used for longest first.
        var entries: [Entry] = []
        var facts: [String: (version: String, facts: ImageFacts)] = [:]
        var counts = StoreStatistics()
        var lastNumber = 0
        var isClosed = false

        mutating func drop(_ dropped: (Entry) -> Bool) {
            counts.evictionCount += entries.count(where: dropped)
            entries.removeAll(where: dropped)
        }

        mutating func take(_ index: Int?, _ tooOld: (Entry) -> Bool) -> Rendition? {
            guard let index, !tooOld(entries[index]) else {
                if index != nil { drop(tooOld) }
                counts.missCount += 1
                return nil
            }
            counts.hitCount += 1
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry.rendition
        }
    }

    private let byteLimit: Int
    private let maximumAge: Int?
    private let date: @Sendable () -> Int
    private let state = Mutex(State())

    init(byteLimit: Int, maximumAge: Int?, date: @escaping @Sendable () -> Int) {
        self.byteLimit = byteLimit
        self.maximumAge = maximumAge
        self.date = date
    }

    var statistics: StoreStatistics {
        state.withLock { state in
            var statistics = state.counts
            statistics.entryCount = state.entries.count
            statistics.byteCount = state.entries.reduce(0) { $0 + $1.rendition.bytes.count }
            return statistics
        }
    }

    func rendition(for key: RenditionKey) -> Rendition? {
        state.withLock { $0.take($0.entries.firstIndex { $0.key == key }, tooOld) }
    }

    func freshRendition(of name: String, _ request: String) -> Rendition? {
        let now = date()
        return state.withLock { state in
            let fresh = state.entries.indices.filter { index in
                let entry = state.entries[index]
                return entry.key.original.name == name && entry.key.request == request
                    && entry.freshUntil > now
            }
            return state.take(
                fresh.max { state.entries[$0].number < state.entries[$1].number }, tooOld)
        }
    }

    func insert(_ rendition: Rendition, for key: RenditionKey, freshUntil: Int) {
        let created = date()
        state.withLock { state in
            guard !state.isClosed, rendition.bytes.count <= byteLimit else { return }
            state.entries.removeAll { $0.key == key }
            state.lastNumber += 1
            state.entries.append(
                Entry(
                    key: key, rendition: rendition, created: created, freshUntil: freshUntil,
                    number: state.lastNumber))
            var byteCount = state.entries.reduce(0) { $0 + $1.rendition.bytes.count }
            guard byteCount > byteLimit else { return }
            state.drop(tooOld)
            byteCount = state.entries.reduce(0) { $0 + $1.rendition.bytes.count }
            while byteCount > byteLimit {
                byteCount -= state.entries.removeFirst().rendition.bytes.count
                state.counts.evictionCount += 1
            }
        }
    }

    func remove(_ key: RenditionKey) {
        state.withLock { $0.entries.removeAll { $0.key == key } }
    }

    func removeAll(of name: String) {
        state.withLock { state in
            state.entries.removeAll { $0.key.original.name == name }
            state.facts[name] = nil
        }
    }

    func removeAll() {
        state.withLock { state in
            state.entries = []
            state.facts = [:]
        }
    }

    func facts(of originals: [FileIdentity]) -> [FileIdentity: ImageFacts] {
        state.withLock { state in
            var known: [FileIdentity: ImageFacts] = [:]
            for original in originals {
                guard let kept = state.facts[original.path], kept.version == original.version
                else { continue }
                known[original] = kept.facts
            }
            return known
        }
    }

    func insert(_ facts: [FileIdentity: ImageFacts]) {
        state.withLock { state in
            guard !state.isClosed else { return }
            for (original, facts) in facts {
                var facts = facts
                if let old = state.facts[original.path], old.version == original.version {
                    facts.placeholder = facts.placeholder ?? old.facts.placeholder
                }
                state.facts[original.path] = (original.version, facts)
            }
        }
    }

    func close() {
        removeAll()
        state.withLock { $0.isClosed = true }
    }

    private func tooOld(_ entry: Entry) -> Bool {
        maximumAge.map { date() - entry.created >= $0 } ?? false
    }
}
