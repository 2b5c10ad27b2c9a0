// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Reserved bytes of a ``MemoryBudget``; they are returned with the last reference.
///
/// A completed decode passes its reservation to the memory cache together with the image: the bytes of
/// the image then stay reserved until the cache evicts it.
public final class MemoryReservation: Sendable {
    private let budget: MemoryBudget
    private let bytes: Mutex<Int>

    init(_ byteCount: Int, in budget: MemoryBudget) {
        self.budget = budget
        bytes = Mutex(byteCount)
    }

    deinit {
        let byteCount = end()
        if byteCount > 0 { budget.giveBack(byteCount) }
    }

    /// The number of reserved bytes; 0 once released.
    public var byteCount: Int { bytes.withLock { $0 } }

    /// Returns the bytes above `byteCount`, such as the memory that only decoding needed.
    public func shrink(to byteCount: Int) {
        precondition(byteCount >= 0, "byteCount is negative")
        let rest = bytes.withLock { bytes in
            defer { bytes = min(bytes, byteCount) }
            return max(0, bytes - byteCount)
        }
        if rest > 0 { budget.giveBack(rest) }
    }

    /// Moves bytes, at most all of them, to a new reservation.
    func split(_ byteCount: Int) -> MemoryReservation {
        let part = bytes.withLock { bytes in
            let part = min(bytes, byteCount)
            bytes -= part
            return part
        }
        return MemoryReservation(part, in: budget)
    }

    /// Returns all bytes.
    public func release() { shrink(to: 0) }

    /// Ends the reservation; the caller subtracts its bytes from the budget.
    func end() -> Int {
        bytes.withLock { bytes in
            defer { bytes = 0 }
            return bytes
        }
    }

    /// Moves bytes to a new reservation and returns the rest to the budget.
    ///
    /// - Parameter byteCount: the number of bytes of the new reservation.
    /// - Returns: `nil` if there are fewer; this reservation then keeps them.
    func handOver(_ byteCount: Int) -> MemoryReservation? {
        let rest = bytes.withLock { bytes -> Int? in
            guard bytes >= byteCount else { return nil }
            defer { bytes = 0 }
            return bytes - byteCount
        }
        guard let rest else { return nil }
        if rest > 0 { budget.giveBack(rest) }
        return MemoryReservation(byteCount, in: budget)
    }
}
