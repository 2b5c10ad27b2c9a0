// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import Foundation
internal import GRDB
package import LoadScheduling
package import Logging

/// The links with which guests see a folder or some images, in a database of their own, which survives that
/// of the index.
///
/// A link that is not in the store shows nothing, so that removing it withdraws it. All functions block.
package final class LinkStore: Sendable {
    private static let schema = """
        CREATE TABLE link (
            id TEXT NOT NULL PRIMARY KEY,
            folder TEXT,
            image_count INTEGER NOT NULL,
            paths BLOB NOT NULL,
            created INTEGER NOT NULL,
            expires INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        );
        """

    private let database: StoreDatabase

    /// Opens the database of a served folder.
    ///
    /// - Parameters:
    ///   - directory: the folder of the database.
    ///   - root: the absolute path of the served folder.
    ///   - logger: receives the errors of the database at `debug`.
    /// - Throws: `LoadError.storeFailed(reason:)`.
    package init(directory: String, root: String, logger: Logger) throws(LoadError) {
        database = try StoreDatabase(
            StoreFile(
                directory: directory, name: "links-\(MarkStore.name(ofRoot: root))", version: 1,
                schema: Self.schema), logger: logger)
    }

    deinit { database.close() }

    /// Stores a link, and removes those that have expired.
    ///
    /// - Parameters:
    ///   - goal: what it shows.
    ///   - expires: the time of its end, in seconds since 1970.
    ///   - now: the current time, in seconds since 1970.
    ///   - limit: the maximum number of links.
    /// - Returns: the name of the link; `nil` if there are too many.
    /// - Throws: `LoadError.storeFailed(reason:)`.
    package func add(
        _ goal: SharedLink.Goal, expires: Int, now: Int, limit: Int
    ) throws(LoadError) -> String? {
        let id = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
        let (folder, paths): (String?, [String]) =
            switch goal {
            case .folder(let path): (path, [])
            case .images(let paths): (nil, paths)
            }
        // No path contains a zero byte.
        let bytes = Array(paths.map { Array($0.utf8) }.joined(separator: [0]))
        let isStored: Bool? = database.write { db in
            try db.cachedStatement(sql: "DELETE FROM link WHERE expires <= ?")
                .execute(arguments: [now])
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM link") ?? 0
            guard count < limit else { return false }
            try db.cachedStatement(sql: "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?)")
                .execute(arguments: [
                    id, folder, paths.count, Data(bytes), now, expires,
                    Self.checksum(id, folder, bytes, expires),
                ])
            return true
        }
        guard let isStored else { throw Self.failure }
        return isStored ? id : nil
    }

    /// Finds what a link shows.
    ///
    /// - Parameters:
    ///   - id: the name of the link.
    ///   - now: the current time, in seconds since 1970.
    /// - Returns: `nil` if the link is unknown, damaged or has expired.
    package func goal(of id: String, now: Int) -> SharedLink.Goal? {
        database.read { db in
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: "SELECT folder, paths, expires, checksum FROM link WHERE id = ?"),
                arguments: [id])
            guard let row else { return nil }
            let folder = try row.decode(String?.self, forColumn: "folder")
            let bytes = Array(try row.decode(Data.self, forColumn: "paths"))
            let expires = try row.decode(Int.self, forColumn: "expires")
            guard expires > now,
                try row.decode(Int64.self, forColumn: "checksum")
                    == Self.checksum(id, folder, bytes, expires)
            else { return nil }
            if let folder { return .folder(folder) }
            return .images(
                bytes.split(separator: 0).compactMap { String(validating: $0, as: UTF8.self) })
        }
    }

    /// Lists the links that have not expired.
    ///
    /// - Parameter now: the current time, in seconds since 1970.
    /// - Returns: the links, the latest first.
    package func links(now: Int) -> [SharedLink] {
        database.read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT id, folder, image_count, created, expires FROM link
                        WHERE expires > ? ORDER BY created DESC, id
                        """), arguments: [now]
            ).compactMap { try? SharedLink($0) }
        } ?? []
    }

    /// Withdraws a link.
    ///
    /// - Parameter id: the name of the link.
    /// - Returns: whether it existed.
    /// - Throws: `LoadError.storeFailed(reason:)`.
    package func remove(_ id: String) throws(LoadError) -> Bool {
        let isRemoved = database.write { db -> Bool? in
            try db.cachedStatement(sql: "DELETE FROM link WHERE id = ?").execute(arguments: [id])
            return db.changesCount > 0
        }
        guard let isRemoved else { throw Self.failure }
        return isRemoved
    }

    private static let failure = LoadError.storeFailed(reason: "the link could not be written")

    private static func checksum(
        _ id: String, _ folder: String?, _ paths: [UInt8], _ expires: Int
    ) -> Int64 {
        var sum = RowChecksum()
        sum.add(id)
        sum.add(folder)
        sum.add(paths)
        sum.add(expires)
        return sum.value
    }
}

extension SharedLink {
    /// - Throws: an error for a damaged row.
    fileprivate init(_ row: Row) throws {
        id = try row.decode(String.self, forColumn: "id")
        folder = try row.decode(String?.self, forColumn: "folder")
        imageCount = try row.decode(Int.self, forColumn: "image_count")
        created = try row.decode(Int.self, forColumn: "created")
        expires = try row.decode(Int.self, forColumn: "expires")
    }
}
