// SPDX-License-Identifier: Apache-2.0

package import GRDB
package import Synchronization

/// The entries that were used since the last write, the latest last.
package struct PendingUses {
    /// The number of uses that are written without waiting for the next insertion.
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

    /// Takes all uses and writes them with higher numbers than all earlier uses.
    ///
    /// - Parameters:
    ///   - uses: the pending uses; unlocked while the database works.
    ///   - table: the table of the entries, with the columns `id` and `last_use`.
    ///   - db: the database.
    /// - Throws: the errors of the database.
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
