// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Synchronization

/// The files that stopped a worker recently, and the behaviour of those that resemble them.
///
/// A file with the same bytes is refused. A file of the same kind – the same first bytes and about the
/// same size – gets half the time for each that reached a deadline in the last minute; every file
/// gets half the time for each ``commonCount`` of any kind that reached the full one.
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

    /// What files have in common that were made in the same way.
    private struct Kind: Hashable {
        let start: [UInt8]
        /// Grows by one with each half of a doubling.
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

    /// - Throws: ``DecoderStop/known``.
    func check(_ bytes: EncodedBytes) throws(CodecError) {
        let now = ContinuousClock.now
        let isSuspect = state.withLock { state in
            state.entries.removeAll { $0.end < now }
            return state.entries.contains { $0.byteCount == bytes.count }
        }
        // Bytes are only looked at if a file of this length is among them, which is next to never.
        guard isSuspect else { return }
        let fingerprint = fingerprint(of: bytes)
        if state.withLock({ $0.entries.contains { $0.fingerprint == fingerprint } }) {
            throw .decoderStopped(.known)
        }
    }

    /// The time that a file is given, in seconds.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - full: what a file gets that resembles none.
    ///   - least: what every file gets.
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

    /// Refuses a file from now on.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - hadFullTime: whether it was not stopped earlier than a file that resembles none, because of
    ///     those that it resembles or those that waited; otherwise it is refused for a tenth of the
    ///     time.
    func remember(_ bytes: EncodedBytes, hadFullTime: Bool) {
        let entry = Entry(
            fingerprint: fingerprint(of: bytes), byteCount: bytes.count,
            end: .now + (hadFullTime ? duration : duration / 10))
        state.withLock { state in
            if state.entries.count == Self.maximumCount { state.entries.removeFirst() }
            state.entries.append(entry)
        }
    }

    /// Gives files like this one less time from now on.
    func noteDelay(_ bytes: EncodedBytes, hadFullTime: Bool) {
        let delay = Delay(
            kind: Kind(bytes), isFull: hadFullTime, end: .now + min(duration, Self.delayDuration))
        state.withLock { state in
            if state.delays.count == Self.maximumCount { state.delays.removeFirst() }
            state.delays.append(delay)
        }
    }

    /// A hash whose seed nobody outside knows, so that nobody can make a file that is taken for
    /// another.
    private func fingerprint(of bytes: EncodedBytes) -> Int {
        var hasher = Hasher()
        bytes.forEachPiece { bytes in
            unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        }
        return hasher.finalize()
    }
}
