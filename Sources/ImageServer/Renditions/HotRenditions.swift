// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import ImageLoading
internal import NIOCore
internal import Synchronization

/// A cache of complete responses with renditions and tiles.
///
/// The responses of an original are fresh for ``lifetime`` after its file was checked, then the file
/// must be checked again.
///
/// Lock: held for a table lookup.
final class HotRenditions: Sendable {
    /// The parts of a request that determine the response.
    struct Key: Hashable {
        /// Path and query as sent.
        @ComparedByBytes var path: String
        /// The values of the headers that renditions vary by, or "-" for missing ones.
        let headers: [ComparedByBytes]
    }

    /// A 200 response; an object, since copying all fields would take longer than finding them.
    final class CachedResponse: Sendable {
        let original: FileIdentity
        let validators: Validators
        /// The headers of the complete response.
        let headers: HTTPFields
        /// The status line and the headers as sent over HTTP/1, without the empty line after them.
        let encodedHead: ByteBuffer
        let body: ByteBuffer

        init(
            original: FileIdentity, validators: Validators, headers: HTTPFields, body: ByteBuffer
        ) {
            self.original = original
            self.validators = validators
            self.headers = headers
            self.body = body
            encodedHead = ByteBuffer(
                string: headers.reduce(into: "HTTP/1.1 200 OK\r\n") {
                    $0 += "\($1.name.rawName): \($1.value)\r\n"
                })
        }
    }

    /// What the responses of a version of an original share.
    private final class Original {
        /// The time before the last check of the file.
        var checked: ContinuousClock.Instant
        var responseCount = 0

        init(checked: ContinuousClock.Instant) { self.checked = checked }
    }

    private struct Entry {
        let response: CachedResponse
        let original: Original
        var lastUse: UInt64

        var byteCount: Int { response.body.storageCapacity + HotRenditions.entryOverhead }
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var originals: [FileIdentity: Original] = [:]
        var byteCount = 0
        /// The number of uses, for the least recently used order.
        var clock: UInt64 = 0

        mutating func insert(
            _ response: CachedResponse, _ key: Key, checked time: ContinuousClock.Instant
        ) {
            remove(key)
            let original = originals[response.original] ?? Original(checked: time)
            originals[response.original] = original
            original.checked = max(original.checked, time)
            original.responseCount += 1
            clock += 1
            let entry = Entry(response: response, original: original, lastUse: clock)
            entries[key] = entry
            byteCount += entry.byteCount
        }

        mutating func remove(_ key: Key) {
            guard let entry = entries.removeValue(forKey: key) else { return }
            byteCount -= entry.byteCount
            entry.original.responseCount -= 1
            if entry.original.responseCount == 0 { originals[entry.response.original] = nil }
        }
    }

    /// The time for which a checked original counts as unchanged.
    static let lifetime = Duration.milliseconds(100)
    /// The estimated size in bytes of a key and its headers, which limits the number of entries.
    static let entryOverhead = 3 << 10

    private let byteLimit: Int
    /// The maximum size in bytes of a body.
    ///
    /// Clients that receive the same cached body share its memory; others read a copy each.
    private let bodyByteLimit: Int
    private let varyingNames: [HTTPField.Name]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - byteLimit: the maximum size of all entries in bytes.
    ///   - varyingNames: the names of the headers that renditions vary by.
    init(byteLimit: Int, varyingNames: [HTTPField.Name] = []) {
        self.byteLimit = byteLimit
        bodyByteLimit = max(byteLimit / 8, min(byteLimit, 1 << 20))
        self.varyingNames = varyingNames
    }

    /// Returns the key of a request; `nil` for methods other than `GET`.
    func key(for request: HTTPRequest) -> Key? {
        guard request.method == .get, let path = request.path else { return nil }
        return Key(
            path: path,
            headers: varyingNames.map { ComparedByBytes(request.headerFields[$0] ?? "-") })
    }

    /// Returns a fresh response.
    func response(_ key: Key, now: ContinuousClock.Instant) -> CachedResponse? {
        state.withLock { state in
            guard let index = state.entries.index(forKey: key) else { return nil }
            let entry = state.entries.values[index]
            guard entry.original.checked.duration(to: now) < Self.lifetime else { return nil }
            state.clock += 1
            state.entries.values[index].lastUse = state.clock
            return entry.response
        }
    }

    /// Returns the response for an original whose identity was read after `time`.
    func response(
        _ key: Key, of original: FileIdentity, checked time: ContinuousClock.Instant
    ) -> CachedResponse? {
        state.withLock { state in
            guard let index = state.entries.index(forKey: key),
                state.entries.values[index].response.original == original
            else { return nil }
            state.clock += 1
            state.entries.values[index].lastUse = state.clock
            let entry = state.entries.values[index]
            entry.original.checked = max(entry.original.checked, time)
            return state.entries.values[index].response
        }
    }

    /// Stores a response for an original whose identity was read after `time`.
    func insert(_ response: CachedResponse, _ key: Key, checked time: ContinuousClock.Instant) {
        guard response.body.readableBytes <= bodyByteLimit else { return }
        state.withLock { state in
            state.insert(response, key, checked: time)
            guard state.byteCount > byteLimit else { return }
            // Evicts a quarter at once, since sorting for each insertion would be expensive.
            for (key, _) in state.entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
                guard state.byteCount > byteLimit - byteLimit / 4 else { break }
                state.remove(key)
            }
        }
    }

    /// Removes all responses for an original.
    func removeAll(of path: String) {
        state.withLock { state in
            for (key, entry) in state.entries
            where entry.response.original.path.hasSameBytes(as: path) {
                state.remove(key)
            }
        }
    }
}
