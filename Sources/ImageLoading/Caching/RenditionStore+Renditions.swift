// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import EncodedImages
internal import Foundation
internal import GRDB
internal import Logging
internal import Pixels
internal import Synchronization

extension RenditionStore {
    /// Returns the stored rendition of a key, `nil` if there is none or it is damaged.
    public func rendition(for key: RenditionKey) -> Rendition? {
        rendition(
            where: "hash = ? AND path = ? AND version = ? AND request = ?",
            [key.hash, key.original.name, key.original.version, key.request]
        ) { $0.key.original == key.original && $0.key.request.hasSameBytes(as: key.request) }
    }

    /// Returns a stored rendition that needs no revalidation now, by the name of the original.
    public func freshRendition(of name: String, _ request: String) -> Rendition? {
        let now = date()
        return rendition(
            where: "path = ? AND request = ? AND fresh_until > ? ORDER BY id DESC LIMIT 1",
            [name, request, now]
        ) {
            $0.key.original.name.hasSameBytes(as: name) && $0.key.request.hasSameBytes(as: request)
                && $0.freshUntil > now
        }
    }

    /// Stores a rendition; `freshUntil` is in seconds since 1970, 0 for files.
    public func insert(_ rendition: Rendition, for key: RenditionKey, freshUntil: Int) {
        guard rendition.bytes.count <= min(byteLimit, Database.entryByteCounts.upperBound) else {
            return
        }
        let hash = key.hash
        let row = KeptRendition(
            rendition: rendition, key: key, created: date(), freshUntil: freshUntil)
        let checksum = row.checksum
        write { db in
            try self.writeUses(db)
            // Not REPLACE, which would bypass the trigger that counts the bytes.
            try db.cachedStatement(sql: "DELETE FROM rendition WHERE hash = ?")
                .execute(arguments: [hash])
            try db.cachedStatement(
                sql: """
                    INSERT INTO rendition (hash, path, version, request, media_type, width, height,
                        byte_count, checksum, created, fresh_until, last_use)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                hash, key.original.name, key.original.version, key.request,
                rendition.mediaType, rendition.pixelSize.width, rendition.pixelSize.height,
                rendition.bytes.count, checksum, row.created, freshUntil,
                try db.lastUse(in: "rendition") + 1,
            ])
            // REPLACE, because a damaged row may have left bytes behind.
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO content (id, bytes) VALUES (?, ?)")
                .execute(arguments: [db.lastInsertedRowID, Data(rendition.bytes)])
            try self.evict(db)
        }
        tidyNowAndThen()
    }

    /// Removes the rendition of a key.
    public func remove(_ key: RenditionKey) {
        write { db in
            try db.execute(sql: "DELETE FROM rendition WHERE hash = ?", arguments: [key.hash])
        }
    }

    /// Removes everything that was made of an original.
    public func removeAll(of name: String) {
        write { db in
            try db.execute(sql: "DELETE FROM rendition WHERE path = ?", arguments: [name])
            try db.execute(sql: "DELETE FROM original WHERE path = ?", arguments: [name])
        }
        tidySoon()
    }

    /// Removes everything.
    public func removeAll() {
        write { db in
            // First, by whole pages, so that the trigger has nothing to delete row by row.
            try db.execute(sql: "DELETE FROM content")
            try db.execute(sql: "DELETE FROM rendition")
            try db.execute(sql: "DELETE FROM original")
        }
        tidySoon()
    }

    /// Evicts expired renditions, and then the least recently used, until the rest fits the limit.
    func evict(_ db: Database) throws {
        guard let total = try db.totalByteCount() else { return try recount(db) }
        var excess = total - byteLimit
        guard excess > 0 else { return }
        excess -= try dropTooOld(db)
        guard excess > 0 else { return }
        try drop(db.leastRecentlyUsed(in: "rendition", freeing: &excess), db)
        // Nothing is left to evict, so the sum was wrong.
        if excess > 0 { try recount(db) }
    }

    /// Removes the rows whose counts are damaged, and recounts the others.
    func recount(_ db: Database) throws {
        try db.dropUncountable(in: "rendition")
        try db.execute(sql: "DELETE FROM total")
        try db.execute(
            sql: "INSERT INTO total SELECT ifnull(sum(byte_count), 0), count(*) FROM rendition")
    }

    /// Evicts at most 1,000 expired renditions.
    ///
    /// - Returns: the number of their bytes.
    @discardableResult
    func dropTooOld(_ db: Database) throws -> Int {
        guard let newest = newestTooOld else { return 0 }
        var dropped: [Int64] = []
        var byteCount = 0
        // In the order of insertion, because a search by date would read every row.
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT id, created, byte_count FROM rendition ORDER BY id"))
        while dropped.count < 1000, let row = try rows.next() {
            // A row with a damaged date counts as expired.
            let created = (try? row.decode(Int.self, forColumn: "created")) ?? newest
            guard created <= newest else { break }
            dropped.append(try row.decode(Int64.self, forColumn: "id"))
            byteCount += row.countedByteCount
        }
        try drop(dropped, db)
        return byteCount
    }

    /// The time at or before which a rendition has expired; `nil` if renditions never expire.
    private var newestTooOld: Int? { maximumAge.map { date() - $0 } }

    // SQLite takes the columns of `condition` from an index, and a damaged index leads to the intact
    // row of another original: `isRequested` checks the row itself.
    private func rendition(
        where condition: String, _ arguments: StatementArguments,
        _ isRequested: (KeptRendition) -> Bool
    ) -> Rendition? {
        let row = read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT id, path, version, request, media_type, width, height, created,
                            fresh_until, checksum, bytes
                        FROM rendition JOIN content USING (id) WHERE \(condition)
                        """),
                arguments: arguments)
        }
        guard let row, let id = try? row.decode(Int64.self, forColumn: "id") else {
            return missed()
        }
        guard let kept = try? KeptRendition(row) else {
            logger.debug("dropped a damaged rendition", metadata: ["id": "\(id)"])
            write { db in
                try self.remove([id], db)
                // Its count may be what is damaged.
                try self.recount(db)
            }
            return missed()
        }
        guard isRequested(kept) else { return missed() }
        if let newest = newestTooOld, kept.created <= newest {
            write { db in try self.drop([id], db) }
            return missed()
        }
        noteUse(of: id)
        return kept.rendition
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
        // Not here, because a request is waiting.
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

/// A row with a rendition, without its counters.
private struct KeptRendition {
    struct Damage: Error {}

    let rendition: Rendition
    let key: RenditionKey
    let created: Int
    let freshUntil: Int

    var checksum: Int64 {
        var checksum = RowChecksum()
        for text in [
            key.original.name, key.original.version, key.request, rendition.mediaType,
        ] {
            checksum.add(text)
        }
        for number in [
            rendition.pixelSize.width, rendition.pixelSize.height, created, freshUntil,
        ] {
            checksum.add(number)
        }
        checksum.add(rendition.bytes)
        return checksum.value
    }
}

extension KeptRendition {
    /// - Throws: an error for a damaged row.
    init(_ row: Row) throws {
        let original = OriginalVersion(
            try row.decode(String.self, forColumn: "path"),
            version: try row.decode(String.self, forColumn: "version"))
        let bytes = [UInt8](try row.decode(Data.self, forColumn: "bytes"))
        self.init(
            rendition: Rendition(
                bytes: bytes, mediaType: try row.decode(String.self, forColumn: "media_type"),
                pixelSize: PixelSize(
                    width: try row.decode(Int.self, forColumn: "width"),
                    height: try row.decode(Int.self, forColumn: "height")),
                original: original),
            key: RenditionKey(
                original, request: try row.decode(String.self, forColumn: "request")),
            created: try row.decode(Int.self, forColumn: "created"),
            freshUntil: try row.decode(Int.self, forColumn: "fresh_until"))
        guard try row.decode(Int64.self, forColumn: "checksum") == checksum else { throw Damage() }
    }
}
