// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Bounds the bytes of answers that wait for clients to read them.
///
/// Lock: held for an addition.
final class OutgoingBytes: Sendable {
    /// A part of the account; it is given back with the last reference.
    final class Hold: Sendable {
        private let byteCount: Int
        private let account: OutgoingBytes

        fileprivate init(_ byteCount: Int, _ account: OutgoingBytes) {
            self.byteCount = byteCount
            self.account = account
        }

        deinit { account.state.withLock { $0.byteCount -= byteCount } }
    }

    /// An original that is being sent in pieces; it counts with the last reference.
    final class Stream: Sendable {
        private let account: OutgoingBytes

        fileprivate init(_ account: OutgoingBytes) { self.account = account }

        deinit { account.state.withLock { $0.streamCount -= 1 } }

        /// The number of bytes to read at a time: fewer the more originals are being sent.
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

    /// The lengths in bytes of the pieces in which an original is sent.
    static let pieces = (8 << 10)...(128 << 10)

    /// Answers of at most so many bytes are not counted: connections have room for them.
    static let freeByteCount = 4 << 10

    private let byteLimit: Int
    private let streamLimit: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - byteLimit: the maximum number of bytes; one larger answer alone is let through.
    ///   - streamLimit: the maximum number of originals that are sent at the same time; each holds
    ///     its file open.
    init(byteLimit: Int, streamLimit: Int) {
        self.byteLimit = byteLimit
        self.streamLimit = streamLimit
    }

    /// Takes a part of the account; `nil` if there is too little left.
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

    /// Counts one more original; `nil` if as many as may are being sent.
    func stream() -> Stream? {
        let isTaken = state.withLock { state in
            guard state.streamCount < streamLimit else { return false }
            state.streamCount += 1
            return true
        }
        return isTaken ? Stream(self) : nil
    }
}
