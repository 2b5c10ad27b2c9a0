// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import GRDB
internal import Logging
internal import Pixels
internal import Synchronization

extension RenditionStore {
    public func rendition(for key: RenditionKey) -> Rendition? {
        rendition(
            where: "hash = ? AND path = ? AND version = ? AND request = ?",
            [key.hash, key.original.name, key.original.version, key.request])
    }

    public func freshRendition(of name: String, _ request: String) -> Rendition? {
        rendition(
            where: "path = ? AND request = ? AND fresh_until > ? ORDER BY id DESC LIMIT 1",
            [name, request, date()])
    }

    public func insert(_ rendition: Rendition, for key: RenditionKey, freshUntil: Int) {
        guard rendition.bytes.count <= byteLimit else { return }
        let hash = key.hash
        write { db in
            try self.writeUses(db)
            // Not REPLACE, which would pass by the trigger that counts the bytes.
            try db.cachedStatement(sql: "DELETE FROM rendition WHERE hash = ?")
                .execute(arguments: [hash])
            try db.cachedStatement(
                sql: """
                    INSERT INTO rendition (hash, path, version, request, media_type, width, height,
                        byte_count, checksum, created, fresh_until, last_use)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                        (SELECT ifnull(max(last_use), 0) + 1 FROM rendition))
                    """
            ).execute(arguments: [
                hash, key.original.name, key.original.version, key.request,
                rendition.mediaType, rendition.pixelSize.width, rendition.pixelSize.height,
                rendition.bytes.count, checksum(rendition.bytes), self.date(), freshUntil,
            ])
            try db.cachedStatement(sql: "INSERT INTO content (id, bytes) VALUES (?, ?)")
                .execute(arguments: [db.lastInsertedRowID, Data(rendition.bytes)])
            try self.evict(db)
        }
        tidyNowAndThen()
    }

    public func remove(_ key: RenditionKey) {
        write { db in
            try db.execute(sql: "DELETE FROM rendition WHERE hash = ?", arguments: [key.hash])
        }
    }

    public func removeAll(of name: String) {
        write { db in
            try db.execute(sql: "DELETE FROM rendition WHERE path = ?", arguments: [name])
            try db.execute(sql: "DELETE FROM original WHERE path = ?", arguments: [name])
        }
        tidySoon()
    }

    public func removeAll() {
        write { db in
            // First, and by whole pages, so that the trigger finds nothing to delete row by row.
            try db.execute(sql: "DELETE FROM content")
            try db.execute(sql: "DELETE FROM rendition")
            try db.execute(sql: "DELETE FROM original")
        }
        tidySoon()
    }

    /// Drops what is too old, and then what was not used for longest, until the rest fits the limit.
    func evict(_ db: Database) throws {
        let total = try Int.fetchOne(
            db.cachedStatement(sql: "SELECT byte_count FROM total"))
        var excess = (total ?? 0) - byteLimit
        guard excess > 0 else { return }
        excess -= try dropTooOld(db)
        guard excess > 0 else { return }
        var dropped: [Int64] = []
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: "SELECT id, byte_count FROM rendition ORDER BY last_use, id"))
        while excess > 0, let row = try rows.next() {
            dropped.append(row["id"])
            excess -= row["byte_count"]
        }
        try drop(dropped, db)
    }

    /// Drops some of what is too old.
    ///
    /// - Returns: the bytes of it.
    @discardableResult
    func dropTooOld(_ db: Database, maximumCount: Int = 1000) throws -> Int {
        guard let maximumAge else { return 0 }
        let now = date()
        var dropped: [Int64] = []
        var byteCount = 0
        // In the order in which they came, because a scan for the date would read every row.
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT id, created, byte_count FROM rendition ORDER BY id"))
        while dropped.count < maximumCount, let row = try rows.next() {
            guard now - row["created"] >= maximumAge else { break }
            dropped.append(row["id"])
            byteCount += row["byte_count"]
        }
        try drop(dropped, db)
        return byteCount
    }

    private func rendition(where condition: String, _ arguments: StatementArguments) -> Rendition? {
        let row = read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT id, path, version, media_type, width, height, created, checksum,
                            bytes
                        FROM rendition JOIN content USING (id) WHERE \(condition)
                        """),
                arguments: arguments)
        }
        guard let row else { return missed() }
        let id: Int64 = row["id"]
        if let maximumAge, date() - row["created"] >= maximumAge {
            write { db in try self.drop([id], db) }
            return missed()
        }
        let path: String = row["path"]
        let bytes = [UInt8](row["bytes"] as Data)
        guard checksum(bytes) == row["checksum"] as Int64 else {
            logger.debug("dropped a damaged rendition", metadata: ["path": "\(path)"])
            write { db in try self.remove([id], db) }
            return missed()
        }
        noteUse(of: id)
        return Rendition(
            bytes: bytes, mediaType: row["media_type"],
            pixelSize: PixelSize(width: row["width"], height: row["height"]),
            original: OriginalVersion(path, version: row["version"]))
    }

    private func missed() -> Rendition? {
        counts.withLock { $0.missCount += 1 }
        return nil
    }

    private func noteUse(of id: Int64) {
        counts.withLock { $0.hitCount += 1 }
        let isFull = uses.withLock { uses in
            uses.note(id)
            return uses.count >= PendingUses.maximumCount
        }
        // Not here, where somebody waits for a picture.
        if isFull { tidySoon() }
    }

    private func drop(_ ids: [Int64], _ db: Database) throws {
        try remove(ids, db)
        counts.withLock { $0.evictionCount += ids.count }
    }

    private func remove(_ ids: [Int64], _ db: Database) throws {
        let statement = try db.cachedStatement(sql: "DELETE FROM rendition WHERE id = ?")
        for id in ids { try statement.execute(arguments: [id]) }
    }
}

private func checksum(_ bytes: [UInt8]) -> Int64 {
    var hash = StableHash()
    hash.combine(bytes.span)
    return Int64(bitPattern: hash.value)
}
