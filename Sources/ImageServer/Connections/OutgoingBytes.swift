// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Limits the bytes of responses that clients have not read yet.
///
/// Lock: held for an addition.
final class OutgoingBytes: Sendable {
    /// A reservation of bytes, released with the last reference.
    final class Hold: Sendable {
        private let byteCount: Int
        private let account: OutgoingBytes

        fileprivate init(_ byteCount: Int, _ account: OutgoingBytes) {
            self.byteCount = byteCount
            self.account = account
        }

        deinit { account.state.withLock { $0.byteCount -= byteCount } }
    }

    /// An original being sent in pieces, counted until the last reference is released.
    final class Stream: Sendable {
        private let account: OutgoingBytes

        fileprivate init(_ account: OutgoingBytes) { self.account = account }

        deinit { account.state.withLock { $0.streamCount -= 1 } }

        /// The number of bytes to read at once; it shrinks with the number of streams.
        var pieceByteCount: Int {
            let count = account.state.withLock { $0.streamCount }
            let share = account.byteLimit / 8 / max(count, 1)
            return min(max(share, OutgoingBytes.pieces.lowerBound), OutgoingBytes.pieces.upperBound)
        }
    }

    private struct State {
        var byteCount = 0
        var streamCount = 0
    }

    /// The range of piece sizes of originals in bytes.
    static let pieces = (8 << 10)...(128 << 10)

    /// The maximum size in bytes of uncounted responses, which fit into a connection's buffer.
    static let freeByteCount = 4 << 10

    private let byteLimit: Int
    private let streamLimit: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - byteLimit: the maximum number of bytes; a single larger response is allowed.
    ///   - streamLimit: the maximum number of originals sent at the same time, each an open file.
    init(byteLimit: Int, streamLimit: Int) {
        self.byteLimit = byteLimit
        self.streamLimit = streamLimit
    }

    /// Reserves bytes; returns `nil` if the limit would be exceeded.
    func hold(_ byteCount: Int) -> Hold? {
        let isTaken = state.withLock { state in
            guard state.byteCount == 0 || state.byteCount + byteCount <= byteLimit else {
                return false
            }
            state.byteCount += byteCount
            return true
        }
        return isTaken ? Hold(byteCount, self) : nil
    }

    /// Counts one more stream; returns `nil` at the limit.
    func stream() -> Stream? {
        let isTaken = state.withLock { state in
            guard state.streamCount < streamLimit else { return false }
            state.streamCount += 1
            return true
        }
        return isTaken ? Stream(self) : nil
    }
}
