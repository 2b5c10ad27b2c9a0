// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Synchronization

/// The entries of a store that were used since uses were last written, in the order of use.
struct PendingUses {
    /// The number of uses that are written without waiting for the next insertion.
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

    /// Takes all uses and writes them as later than all before.
    ///
    /// - Parameters:
    ///   - uses: the pending uses; not locked while the database is written.
    ///   - table: the table of the entries, with the columns `id` and `last_use`.
    ///   - db: the database.
    /// - Throws: the errors of the database.
    static func write(
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
