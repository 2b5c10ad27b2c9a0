// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Synchronization

/// The files that stopped a worker recently, and the time limits of files that resemble them.
///
/// A file with the same bytes is refused. The time limit of a file of the same kind – the same first
/// bytes and about the same size – is halved for each of them that reached a deadline in the last
/// minute. The time limit of every file is halved for each ``commonCount`` files of any kind that
/// reached the full deadline.
final class Quarantine: Sendable {
    private struct Entry {
        let fingerprint: Int
        let byteCount: Int
        let end: ContinuousClock.Instant
    }

    private struct Delay {
        let kind: Kind
        let isFull: Bool
        let end: ContinuousClock.Instant
    }

    /// The properties that files of one generator have in common.
    private struct Kind: Hashable {
        let start: [UInt8]
        /// The logarithm of the size, in steps of half a doubling.
        let sizeClass: Int

        init(_ bytes: EncodedBytes) {
            start = bytes.copy(of: 0..<min(16, bytes.count))
            let count = max(1, bytes.count)
            let power = Int.bitWidth - 1 - count.leadingZeroBitCount
            sizeClass = power * 2 + (power > 0 ? (count >> (power - 1)) & 1 : 0)
        }
    }

    private struct State {
        var entries: [Entry] = []
        var delays: [Delay] = []
    }

    private let state = Mutex(State())
    private let duration: Duration
    private static let maximumCount = 1000
    private static let delayDuration = Duration.seconds(60)
    private static let commonCount = 8

    init(_ duration: Duration) { self.duration = duration }

    /// Rejects a file that stopped a worker.
    ///
    /// - Throws: ``DecoderStop/known``.
    func check(_ bytes: EncodedBytes) throws(CodecError) {
        let now = ContinuousClock.now
        let isSuspect = state.withLock { state in
            state.entries.removeAll { $0.end < now }
            return state.entries.contains { $0.byteCount == bytes.count }
        }
        // The bytes are hashed only if an entry has the same length, which is rare.
        guard isSuspect else { return }
        let fingerprint = fingerprint(of: bytes)
        if state.withLock({ $0.entries.contains { $0.fingerprint == fingerprint } }) {
            throw .decoderStopped(.known)
        }
    }

    /// Returns the time limit of a file, in seconds.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - full: the time limit of a file that resembles no entry.
    ///   - least: the minimum time limit.
    /// - Returns: the seconds, from `least` to `full`.
    func seconds(for bytes: EncodedBytes, full: Double, least: Double) -> Double {
        let now = ContinuousClock.now
        let delays = state.withLock { state in
            state.delays.removeAll { $0.end < now }
            return state.delays
        }
        guard !delays.isEmpty, full > least else { return full }
        let kind = Kind(bytes)
        let halvings =
            delays.count { $0.kind == kind } + delays.count(where: \.isFull) / Self.commonCount
        return max(least, (0..<min(halvings, 16)).reduce(full) { seconds, _ in seconds / 2 })
    }

    /// Adds a file that stopped a worker.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - hadFullTime: whether the file had the time limit of a file that resembles no entry. If a
    ///     shorter limit stopped it, it is refused for a tenth of the usual time.
    func remember(_ bytes: EncodedBytes, hadFullTime: Bool) {
        let entry = Entry(
            fingerprint: fingerprint(of: bytes), byteCount: bytes.count,
            end: .now + (hadFullTime ? duration : duration / 10))
        state.withLock { state in
            if state.entries.count == Self.maximumCount { state.entries.removeFirst() }
            state.entries.append(entry)
        }
    }

    /// Reduces the time limit of files that resemble this one.
    func noteDelay(_ bytes: EncodedBytes, hadFullTime: Bool) {
        let delay = Delay(
            kind: Kind(bytes), isFull: hadFullTime, end: .now + min(duration, Self.delayDuration))
        state.withLock { state in
            if state.delays.count == Self.maximumCount { state.delays.removeFirst() }
            state.delays.append(delay)
        }
    }

    /// Returns a hash with a secret seed, so that an attacker cannot construct a collision.
    private func fingerprint(of bytes: EncodedBytes) -> Int {
        var hasher = Hasher()
        bytes.forEachPiece { bytes in
            unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        }
        return hasher.finalize()
    }
}
