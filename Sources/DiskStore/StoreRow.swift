// SPDX-License-Identifier: Apache-2.0

package import GRDB

// Rows come from a file that a full disk, a failing one or another program may have changed. Columns
// are read with `decode(_:forColumn:)`, which throws for NULL and other types; the subscript traps.

/// The checksum of the values of a row, in their order.
///
/// SQLite has checksums of the log, none of the database: a changed byte may leave a row of another
/// size, name or date.
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
    /// The bytes that an entry counts for; 0 for a damaged count, so that sums do not overflow.
    package var countedByteCount: Int {
        let count = try? decode(Int.self, forColumn: "byte_count")
        return count.flatMap { Database.entryByteCounts.contains($0) ? $0 : nil } ?? 0
    }
}

extension Database {
    /// The byte counts that an entry can have: no store keeps anything larger than this.
    package static let entryByteCounts = 0...1 << 40
    /// The numbers that a row can have; SQLite gives out none above the largest, and keeps nothing
    /// any more behind a row that has it.
    package static let rowNumbers: ClosedRange<Int64> = 1...1 << 62
    /// Above every number of a use: a store does not see so many.
    private static let useLimit = 1 << 62

    /// The number of the latest use in a table of entries, leaving out numbers that are damaged.
    package func lastUse(in table: String) throws -> Int {
        // By the index; texts and bytes are larger than every number.
        let row = try Row.fetchOne(
            cachedStatement(
                sql: """
                    SELECT last_use FROM \(table) WHERE last_use < \(Self.useLimit)
                    ORDER BY last_use DESC LIMIT 1
                    """))
        return try max(0, row?.decode(Int?.self, forColumn: "last_use") ?? 0)
    }

    /// Returns the numbers of the least recently used entries of a table, and reduces `excess`, the
    /// number of bytes to free, by the bytes of these entries.
    package func leastRecentlyUsed(in table: String, freeing excess: inout Int) throws -> [Int64] {
        var numbers: [Int64] = []
        let rows = try Row.fetchCursor(
            cachedStatement(sql: "SELECT id, byte_count FROM \(table) ORDER BY last_use, id"))
        while excess > 0, let row = try rows.next() {
            numbers.append(try row.decode(Int64.self, forColumn: "id"))
            excess -= row.countedByteCount
        }
        return numbers
    }

    /// Removes the entries of a table whose counts, uses or numbers are damaged.
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

    /// The sum of the bytes of all entries as it is kept; `nil` if it is damaged.
    package func totalByteCount() throws -> Int? {
        let row = try Row.fetchOne(cachedStatement(sql: "SELECT byte_count FROM total"))
        let sum = try? row?.decode(Int.self, forColumn: "byte_count")
        return sum.flatMap { $0 >= 0 ? $0 : nil }
    }
}
