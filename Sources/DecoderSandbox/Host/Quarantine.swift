// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Synchronization

/// Which files stopped a worker not long ago, known by their contents.
final class Quarantine: Sendable {
    private struct Entry {
        let fingerprint: Int
        let byteCount: Int
        let end: ContinuousClock.Instant
    }

    private let entries = Mutex<[Entry]>([])
    private let duration: Duration
    private static let maximumCount = 1000

    init(_ duration: Duration) { self.duration = duration }

    /// - Throws: ``DecoderStop/known``.
    func check(_ bytes: EncodedBytes) throws(CodecError) {
        let now = ContinuousClock.now
        let isSuspect = entries.withLock { entries in
            entries.removeAll { $0.end < now }
            return entries.contains { $0.byteCount == bytes.count }
        }
        // Bytes are only looked at if a file of this length is among them, which is next to never.
        guard isSuspect else { return }
        let fingerprint = fingerprint(of: bytes)
        if entries.withLock({ $0.contains { $0.fingerprint == fingerprint } }) {
            throw .decoderStopped(.known)
        }
    }

    func remember(_ bytes: EncodedBytes) {
        let entry = Entry(
            fingerprint: fingerprint(of: bytes), byteCount: bytes.count, end: .now + duration)
        entries.withLock { entries in
            if entries.count == Self.maximumCount { entries.removeFirst() }
            entries.append(entry)
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
