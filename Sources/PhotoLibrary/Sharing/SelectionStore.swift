// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import Foundation
internal import GRDB
internal import LoadScheduling
internal import Logging

/// The selections of images for which there are links, in a database of their own, which survives that of
/// the index.
///
/// All functions block.
final class SelectionStore: Sendable {
    private static let schema = """
        CREATE TABLE selection (
            id TEXT NOT NULL PRIMARY KEY,
            paths BLOB NOT NULL,
            expires INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        );
        """

    private let database: StoreDatabase

    /// - Throws: `LoadError.storeFailed(reason:)`.
    init(directory: String, root: String, logger: Logger) throws(LoadError) {
        database = try StoreDatabase(
            StoreFile(
                directory: directory, name: "selections-\(MarkStore.name(ofRoot: root))",
                version: 1, schema: Self.schema), logger: logger)
    }

    func close() { database.close() }

    /// Stores a selection, and removes those that have expired.
    ///
    /// - Parameters:
    ///   - id: its name.
    ///   - paths: the paths of the images.
    ///   - expires: the time of its end, in seconds since 1970.
    ///   - now: the current time, in seconds since 1970.
    /// - Returns: whether it was stored.
    func add(_ id: String, _ paths: [String], expires: Int, now: Int) -> Bool {
        // No path contains a zero byte.
        let bytes = Array(paths.map { Array($0.utf8) }.joined(separator: [0]))
        let isStored = database.write { db in
            try db.cachedStatement(sql: "DELETE FROM selection WHERE expires <= ?")
                .execute(arguments: [now])
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO selection VALUES (?, ?, ?, ?)")
                .execute(arguments: [
                    id, Data(bytes), expires, Self.checksum(id, bytes, expires),
                ])
            return true
        }
        return isStored == true
    }

    /// Returns the paths of a selection; `nil` if it is unknown, damaged or has expired.
    func paths(of id: String, now: Int) -> [String]? {
        database.read { db in
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: "SELECT paths, expires, checksum FROM selection WHERE id = ?"),
                arguments: [id])
            guard let row else { return nil }
            let bytes = Array(try row.decode(Data.self, forColumn: "paths"))
            let expires = try row.decode(Int.self, forColumn: "expires")
            guard expires > now,
                try row.decode(Int64.self, forColumn: "checksum")
                    == Self.checksum(id, bytes, expires)
            else { return nil }
            return bytes.split(separator: 0).compactMap { String(validating: $0, as: UTF8.self) }
        }
    }

    private static func checksum(_ id: String, _ paths: [UInt8], _ expires: Int) -> Int64 {
        var sum = RowChecksum()
        sum.add(id)
        sum.add(paths)
        sum.add(expires)
        return sum.value
    }
}
