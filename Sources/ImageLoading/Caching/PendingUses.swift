// SPDX-License-Identifier: Apache-2.0

/// Which entries of a store were used since that was last written down, the latest last.
struct PendingUses {
    /// So many are written down without waiting for the next insertion.
    static let maximumCount = 64

    private var order: [Int64: Int] = [:]
    private var lastNumber = 0

    var count: Int { order.count }

    mutating func note(_ id: Int64) {
        lastNumber += 1
        order[id] = lastNumber
    }

    mutating func takeAll() -> [Int64] {
        defer { order = [:] }
        return order.sorted { $0.value < $1.value }.map(\.key)
    }
}
