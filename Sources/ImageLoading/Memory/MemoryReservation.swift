// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Bytes of a ``MemoryBudget`` that somebody may take; they are given back with the last reference.
///
/// A decode that is over hands its reservation to the memory cache together with the picture: the
/// bytes of the picture then stay reserved until the cache lets go of it.
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

    /// What is reserved; 0 once released.
    public var byteCount: Int { bytes.withLock { $0 } }

    /// Gives back what is more than `byteCount`, such as the memory that only decoding needed.
    public func shrink(to byteCount: Int) {
        precondition(byteCount >= 0, "bytes are counted from 0")
        let rest = bytes.withLock { bytes in
            defer { bytes = min(bytes, byteCount) }
            return max(0, bytes - byteCount)
        }
        if rest > 0 { budget.giveBack(rest) }
    }

    /// Takes a part of it, at most all that is there.
    func split(_ byteCount: Int) -> MemoryReservation {
        let part = bytes.withLock { bytes in
            let part = min(bytes, byteCount)
            bytes -= part
            return part
        }
        return MemoryReservation(part, in: budget)
    }

    /// Gives everything back at once.
    public func release() { shrink(to: 0) }

    /// Ends it; whoever calls this tells the budget.
    func end() -> Int {
        bytes.withLock { bytes in
            defer { bytes = 0 }
            return bytes
        }
    }

    /// Hands so many bytes on and gives the rest back.
    ///
    /// - Parameter byteCount: the bytes that the new reservation has.
    /// - Returns: `nil` if there are fewer, which this one then keeps.
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
