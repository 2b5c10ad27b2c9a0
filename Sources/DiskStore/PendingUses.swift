// SPDX-License-Identifier: Apache-2.0

package import GRDB
package import Synchronization

/// Which entries of a store were used since that was last written down, the latest last.
package struct PendingUses {
    /// So many are written down without waiting for the next insertion.
    package static let maximumCount = 64

    private var order: [Int64: Int] = [:]
    private var lastNumber = 0

    package init() {}

    package var count: Int { order.count }

    package mutating func note(_ id: Int64) {
        lastNumber += 1
        order[id] = lastNumber
    }

    package mutating func takeAll() -> [Int64] {
        defer { order = [:] }
        return order.sorted { $0.value < $1.value }.map(\.key)
    }

    /// Takes all and writes them down as later than everything before.
    ///
    /// - Parameters:
    ///   - uses: what is pending; not locked while the database works.
    ///   - table: the entries' table, with the columns `id` and `last_use`.
    ///   - db: where it is.
    /// - Throws: what the database throws.
    package static func write(
        _ uses: borrowing Mutex<PendingUses>, to table: String, _ db: Database
    ) throws {
        let used = uses.withLock { $0.takeAll() }
        guard !used.isEmpty else { return }
        var number = try db.lastUse(in: table)
        let statement = try db.cachedStatement(
            sql: "UPDATE \(table) SET last_use = ? WHERE id = ?")
        for id in used {
            number += 1
            try statement.execute(arguments: [number, id])
        }
    }
}
