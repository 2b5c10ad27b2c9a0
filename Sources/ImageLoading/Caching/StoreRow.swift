// SPDX-License-Identifier: Apache-2.0

internal import GRDB

// Rows come from a file that a full disk, a failing one or another program may have changed. Columns
// are read with `decode(_:forColumn:)`, which throws for NULL and other types; the subscript traps.

/// The checksum of the values of a row, in their order.
///
/// SQLite has checksums of the log, none of the database: a changed byte may leave a row of another
/// size, name or date.
struct RowChecksum {
    private var hash = StableHash()

    var value: Int64 { Int64(bitPattern: hash.value) }

    mutating func add(_ number: Int) { hash.combine(UInt64(bitPattern: Int64(number))) }
    mutating func add(_ text: String) { hash.combine(text) }
    mutating func add(_ bytes: [UInt8]) { hash.combine(bytes.span) }

    mutating func add(_ text: String?) {
        add(text == nil ? 0 : 1)
        if let text { add(text) }
    }
}

extension Row {
    /// The number of bytes of an entry; 0 for a damaged count, so that sums do not overflow.
    var countedByteCount: Int {
        let count = try? decode(Int.self, forColumn: "byte_count")
        return count.flatMap { Database.entryByteCounts.contains($0) ? $0 : nil } ?? 0
    }
}

extension Database {
    /// The valid byte counts of an entry: no store accepts a larger one.
    static let entryByteCounts = 0...1 << 40
    /// The valid numbers of a row; once a row has the largest number of SQLite, it inserts no more.
    static let rowNumbers: ClosedRange<Int64> = 1...1 << 62
    /// An upper bound of the numbers of uses, which no store reaches.
    private static let useLimit = 1 << 62

    /// Returns the number of the latest use in a table of entries, ignoring damaged numbers.
    func lastUse(in table: String) throws -> Int {
        // By the index; texts and blobs are greater than all numbers.
        let row = try Row.fetchOne(
            cachedStatement(
                sql: """
                    SELECT last_use FROM \(table) WHERE last_use < \(Self.useLimit)
                    ORDER BY last_use DESC LIMIT 1
                    """))
        return try max(0, row?.decode(Int?.self, forColumn: "last_use") ?? 0)
    }

    /// Removes the entries of a table whose counts, uses or numbers are damaged.
    func dropUncountable(in table: String) throws {
        let counts = Self.entryByteCounts
        try execute(
            sql: """
                DELETE FROM \(table)
                WHERE typeof(byte_count) <> 'integer' OR typeof(last_use) <> 'integer'
                    OR byte_count NOT BETWEEN \(counts.lowerBound) AND \(counts.upperBound)
                    OR last_use NOT BETWEEN 0 AND \(Self.useLimit)
                    OR id NOT BETWEEN \(Self.rowNumbers.lowerBound)
                        AND \(Self.rowNumbers.upperBound)
                """)
    }

    /// Returns the stored sum of the bytes of all entries; `nil` if it is damaged.
    func totalByteCount() throws -> Int? {
        let row = try Row.fetchOne(cachedStatement(sql: "SELECT byte_count FROM total"))
        let sum = try? row?.decode(Int.self, forColumn: "byte_count")
        return sum.flatMap { $0 >= 0 ? $0 : nil }
    }
}
