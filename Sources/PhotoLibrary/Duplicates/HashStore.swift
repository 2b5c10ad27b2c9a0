// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import GRDB
internal import LoadScheduling
internal import Logging
internal import Synchronization

/// What is known of the contents of files, in a database of its own; it can be read from the files again.
///
/// All hashes are in memory. All functions block, except those that read.
///
/// Lock: held for table lookups.
final class HashStore: Sendable {
    struct Hashes: Sendable {
        /// `nil` for an image that shows nothing that could be compared.
        var image: PerceptualHash?
        /// A hash of all bytes; `nil` unless another file has the same length.
        var content: Int64?
    }

    private static let schema = """
        CREATE TABLE hash (
            inode INTEGER NOT NULL,
            byte_count INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            across INTEGER,
            down INTEGER,
            content INTEGER,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (inode, byte_count, modified)
        ) WITHOUT ROWID;
        """

    private let database: StoreDatabase
    private let hashes: Mutex<[FileVersion: Hashes]>

    /// Opens the database of a library, and reads all hashes.
    ///
    /// - Throws: `LoadError.storeFailed(reason:)`.
    init(directory: String, root: String, logger: Logger) throws(LoadError) {
        database = try StoreDatabase(
            StoreFile(
                directory: directory, name: "hashes-\(MarkStore.name(ofRoot: root))", version: 1,
                schema: Self.schema), logger: logger)
        let known = database.read { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT * FROM hash")
            var known: [FileVersion: Hashes] = [:]
            while let row = try rows.next() {
                // A damaged row is read again from the file.
                if let (version, hashes) = try? Self.values(row) { known[version] = hashes }
            }
            return known
        }
        hashes = Mutex(known ?? [:])
    }

    func close() { database.close() }

    /// Returns what is known of some versions, in their order.
    func hashes(of versions: [FileVersion]) -> [Hashes?] {
        hashes.withLock { hashes in versions.map { hashes[$0] } }
    }

    /// Stores hashes.
    ///
    /// - Returns: whether they were stored; they are known in any case.
    @discardableResult func set(_ new: [(version: FileVersion, hashes: Hashes)]) -> Bool {
        hashes.withLock { known in for (version, hashes) in new { known[version] = hashes } }
        let isStored = database.write { db in
            for (version, hashes) in new {
                try db.cachedStatement(
                    sql: "INSERT OR REPLACE INTO hash VALUES (?, ?, ?, ?, ?, ?, ?)"
                ).execute(arguments: [
                    Int64(bitPattern: version.inode), version.byteCount, version.modificationTime,
                    hashes.image.map { Int64(bitPattern: $0.across) },
                    hashes.image.map { Int64(bitPattern: $0.down) }, hashes.content,
                    Self.checksum(version, hashes),
                ])
            }
            return true
        }
        return isStored == true
    }

    /// Removes all versions but some, if there are many others.
    func keep(only versions: Set<FileVersion>) {
        let gone = hashes.withLock { hashes -> [FileVersion] in
            guard hashes.count > 2 * versions.count + 1_000 else { return [] }
            let gone = hashes.keys.filter { !versions.contains($0) }
            for version in gone { hashes[version] = nil }
            return gone
        }
        guard !gone.isEmpty else { return }
        _ = database.write { db in
            for version in gone {
                try db.cachedStatement(
                    sql: "DELETE FROM hash WHERE inode = ? AND byte_count = ? AND modified = ?"
                ).execute(arguments: [
                    Int64(bitPattern: version.inode), version.byteCount, version.modificationTime,
                ])
            }
            return true
        }
    }

    private struct Damage: Error {}

    private static func values(_ row: Row) throws -> (FileVersion, Hashes) {
        let version = FileVersion(
            byteCount: try row.decode(Int.self, forColumn: "byte_count"),
            modificationTime: try row.decode(Int.self, forColumn: "modified"),
            inode: UInt64(bitPattern: try row.decode(Int64.self, forColumn: "inode")))
        var hashes = Hashes(content: try row.decode(Int64?.self, forColumn: "content"))
        if let across = try row.decode(Int64?.self, forColumn: "across"),
            let down = try row.decode(Int64?.self, forColumn: "down")
        {
            hashes.image = PerceptualHash(
                across: UInt64(bitPattern: across), down: UInt64(bitPattern: down))
        }
        guard try row.decode(Int64.self, forColumn: "checksum") == checksum(version, hashes)
        else { throw Damage() }
        return (version, hashes)
    }

    private static func checksum(_ version: FileVersion, _ hashes: Hashes) -> Int64 {
        var sum = RowChecksum()
        for number in [
            version.byteCount, version.modificationTime,
            Int(truncatingIfNeeded: version.inode),
            Int(truncatingIfNeeded: hashes.image?.across ?? 1),
            Int(truncatingIfNeeded: hashes.image?.down ?? 1), Int(hashes.content ?? 1),
        ] { sum.add(number) }
        return sum.value
    }
}
