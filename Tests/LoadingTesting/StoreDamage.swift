// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import GRDB
package import ImageTesting

/// Damage to the file of a store, made by a seeded generator.
package enum StoreDamage {
    /// How many damages a test makes; `CALOTYPE_DEEP_DAMAGES` asks for more.
    package static func count(usually count: Int) -> Int {
        ProcessInfo.processInfo.environment["CALOTYPE_DEEP_DAMAGES"].flatMap { Int($0) } ?? count
    }

    /// Sets some columns of some rows to values that were never written there, also to NULL where
    /// the table does not allow it: a damaged page knows no constraint.
    ///
    /// The database may be open elsewhere. Of each table its columns are given.
    package static func changeRows(
        _ path: String, _ tables: [(name: String, columns: [String])],
        _ random: inout SeededRandom
    ) throws {
        try withoutConstraints(path) { db in
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                try changeRow(db, tables, &random)
            }
        }
    }

    /// Calls `body` with a connection for which columns have no type and may be NULL.
    package static func withoutConstraints(_ path: String, _ body: (Database) throws -> Void) throws
    {
        var configuration = Configuration()
        // The store may be tidying up.
        configuration.busyMode = .timeout(10)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = OFF")
            let statements = try Row.fetchAll(
                db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
            try db.execute(sql: "PRAGMA writable_schema = ON")
            try db.execute(
                sql: """
                    UPDATE sqlite_master
                    SET sql = replace(replace(replace(sql, ' NOT NULL', ''), ' INTEGER,', ','),
                        ' TEXT,', ',')
                    WHERE type = 'table' AND name NOT LIKE 'sqlite%'
                    """)
            try db.execute(sql: "PRAGMA writable_schema = RESET")
            try body(db)
            try db.execute(sql: "PRAGMA writable_schema = ON")
            for statement in statements {
                try db.execute(
                    sql: "UPDATE sqlite_master SET sql = ? WHERE name = ?",
                    arguments: [statement["sql"] as String?, statement["name"] as String])
            }
            try db.execute(sql: "PRAGMA writable_schema = RESET")
        }
    }

    /// Executes a statement without regard for constraints.
    package static func execute(_ sql: String, on path: String) throws {
        try withoutConstraints(path) { try $0.execute(sql: sql) }
    }

    private static func changeRow(
        _ db: Database, _ tables: [(name: String, columns: [String])],
        _ random: inout SeededRandom
    ) throws {
        guard let table = tables.randomElement(using: &random),
            let column = table.columns.randomElement(using: &random)
        else { return }
        let other = table.columns.randomElement(using: &random) ?? column
        let values: [any DatabaseValueConvertible] = [
            Int.max, Int.min, Int.max - 1, -1, 0, 1 << 40, Int(Int32.max) + 1,
            Int.random(in: .min ... .max, using: &random), Double.infinity, -Double.infinity, 1e300,
            0.5, "", "text", "12x", "\u{0}a", String(repeating: "e\u{301}", count: 200), Data(),
            Data([0xFF, 0, 0xC3]), Data((0..<40).map { _ in .random(in: 0...255, using: &random) }),
        ]
        // A third of the rows, or one; SQLite's random() knows no seed.
        let key = table.columns[0]
        let keys = try Row.fetchAll(db, sql: "SELECT \(key) FROM \(table.name) ORDER BY \(key)")
            .map { $0[0] as DatabaseValue }
        let chosen =
            Bool.random(using: &random)
            ? keys.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
            : keys.randomElement(using: &random).map { [$0] } ?? []
        let value = values.randomElement(using: &random)?.databaseValue
        let kind = Int.random(in: 0..<8, using: &random)
        let change =
            switch kind {
            case 0: "UPDATE OR IGNORE \(table.name) SET \(column) = NULL"
            case 1: "UPDATE OR IGNORE \(table.name) SET \(column) = \(other)"
            case 2: "DELETE FROM \(table.name)"
            default: "UPDATE OR IGNORE \(table.name) SET \(column) = :value"
            }
        for chosenKey in chosen {
            var arguments: StatementArguments = ["key": chosenKey]
            if kind > 2 { arguments += ["value": value] }
            try? db.execute(sql: "\(change) WHERE \(key) IS :key", arguments: arguments)
        }
    }

    /// Changes some bytes of a file: single ones, ranges, whole pages, its length.
    package static func change(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            guard !bytes.isEmpty else { return bytes }
            // Headers of the file and of pages decide upon the most.
            let page = Int.random(in: 0..<(bytes.count + 4095) / 4096, using: &random) * 4096
            let place =
                switch Int.random(in: 0..<3, using: &random) {
                case 0: Int.random(in: 0..<min(100, bytes.count), using: &random)
                case 1: min(page + Int.random(in: 0..<112, using: &random), bytes.count - 1)
                default: Int.random(in: 0..<bytes.count, using: &random)
                }
            let end = min(place + Int.random(in: 1...200, using: &random), bytes.count)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 3: bytes[place] = .random(in: 0...255, using: &random)
            case 4: for index in place..<end { bytes[index] = 0 }
            case 5:
                for index in place..<end { bytes[index] = .random(in: 0...255, using: &random) }
            case 6:
                let source = Int.random(in: 0..<(bytes.count + 4095) / 4096, using: &random) * 4096
                for index in 0..<min(4096, bytes.count - max(page, source)) {
                    bytes[page + index] = bytes[source + index]
                }
            default: bytes.removeLast(Int.random(in: 0...bytes.count / 4, using: &random))
            }
        }
        return bytes
    }
}
