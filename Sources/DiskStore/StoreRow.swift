// SPDX-License-Identifier: Apache-2.0

package import GRDB

// A full or failing disk, or another program, may have changed the rows. Columns are read with
// `decode(_:forColumn:)`, which throws for NULL and other types; the subscript traps.

/// The checksum of the values of a row, in their order.
///
/// SQLite has checksums in the write-ahead log but none in the database: a changed byte may yield a
/// row with another size, name or date.
package struct RowChecksum {
    private var hash = StableHash()

    package init() {}

    package var value: Int64 { Int64(bitPattern: hash.value) }

    package mutating func add(_ number: Int) { hash.combine(UInt64(bitPattern: Int64(number))) }
    package mutating func add(_ text: String) { hash.combine(text) }
    package mutating func add(_ bytes: [UInt8]) { hash.combine(bytes.span) }

    package mutating func add(_ text: String?) {
        add(text == nil ? 0 : 1)
        if let text { add(text) }
    }
}

extension Row {
    /// The byte count of an entry; 0 for a damaged count, so that sums do not overflow.
    package var countedByteCount: Int {
        let count = try? decode(Int.self, forColumn: "byte_count")
        return count.flatMap { Database.entryByteCounts.contains($0) ? $0 : nil } ?? 0
    }
}

extension Database {
    /// The valid byte counts of an entry; larger entries are not stored.
    package static let entryByteCounts = 0...1 << 40
    /// The valid row numbers; SQLite assigns none above the largest, and inserts nothing after a
    /// row that has it.
    package static let rowNumbers: ClosedRange<Int64> = 1...1 << 62
    /// The upper bound of the numbers of uses, which no store reaches.
    private static let useLimit = 1 << 62

    /// Returns the number of the latest use in a table of entries, without damaged numbers.
    package func lastUse(in table: String) throws -> Int {
        // Uses the index; SQLite sorts texts and blobs after all numbers.
        let row = try Row.fetchOne(
            cachedStatement(
                sql: """
                    SELECT last_use FROM \(table) WHERE last_use < \(Self.useLimit)
                    ORDER BY last_use DESC LIMIT 1
                    """))
        return try max(0, row?.decode(Int?.self, forColumn: "last_use") ?? 0)
    }

    /// Removes the entries with damaged byte counts, uses or row numbers.
    package func dropUncountable(in table: String) throws {
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

    /// Returns the stored sum of all byte counts, `nil` if it is damaged.
    package func totalByteCount() throws -> Int? {
        let row = try Row.fetchOne(cachedStatement(sql: "SELECT byte_count FROM total"))
        let sum = try? row?.decode(Int.self, forColumn: "byte_count")
        return sum.flatMap { $0 >= 0 ? $0 : nil }
    }
}
