// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import GRDB
internal import Logging
internal import Pixels
internal import Synchronization

/// Which renditions were used since that was last written down, the latest last.
struct PendingUses {
    /// So many are written down without waiting for the next insertion.
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
}

extension RenditionStore {
    /// A rendition that has been kept, whole.
    func rendition(for key: RenditionKey) -> Rendition? {
        let row = read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT id, media_type, width, height, checksum, bytes
                        FROM rendition JOIN content USING (id)
                        WHERE hash = ? AND path = ? AND version = ? AND request = ?
                        """),
                arguments: [key.hash, key.original.name, key.original.version, key.request])
        }
        guard let row else { return nil }
        let id: Int64 = row["id"]
        let bytes = [UInt8](row["bytes"] as Data)
        guard checksum(bytes) == row["checksum"] as Int64 else {
            logger.debug("dropped a damaged rendition", metadata: ["path": "\(key.original.name)"])
            write { db in try self.remove([id], db) }
            return nil
        }
        noteUse(of: id)
        return Rendition(
            bytes: bytes, mediaType: row["media_type"],
            pixelSize: PixelSize(width: row["width"], height: row["height"]),
            original: key.original)
    }

    /// Keeps a rendition and drops others until all fit the limit; one larger than it is not kept.
    func insert(_ rendition: Rendition, for key: RenditionKey) {
        guard rendition.bytes.count <= byteLimit else { return }
        let hash = key.hash
        write { db in
            try self.writeUses(db)
            // Not REPLACE, which would pass by the trigger that counts the bytes.
            try db.execute(sql: "DELETE FROM rendition WHERE hash = ?", arguments: [hash])
            try db.execute(
                sql: """
                    INSERT INTO rendition (hash, path, version, request, media_type, width, height,
                        byte_count, checksum, last_use)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?,
                        (SELECT ifnull(max(last_use), 0) + 1 FROM rendition))
                    """,
                arguments: [
                    hash, key.original.name, key.original.version, key.request,
                    rendition.mediaType, rendition.pixelSize.width, rendition.pixelSize.height,
                    rendition.bytes.count, checksum(rendition.bytes),
                ])
            try db.execute(
                sql: "INSERT INTO content (id, bytes) VALUES (?, ?)",
                arguments: [db.lastInsertedRowID, Data(rendition.bytes)])
            try self.evict(db)
        }
    }

    /// Drops the renditions that were not used for longest until the rest fits the limit.
    func evict(_ db: Database) throws {
        let total = try Int.fetchOne(db, sql: "SELECT byte_count FROM total") ?? 0
        var excess = total - byteLimit
        guard excess > 0 else { return }
        var dropped: [Int64] = []
        let rows = try Row.fetchCursor(
            db, sql: "SELECT id, byte_count FROM rendition ORDER BY last_use, id")
        while excess > 0, let row = try rows.next() {
            dropped.append(row["id"])
            excess -= row["byte_count"]
        }
        try remove(dropped, db)
    }

    func writeUses(_ db: Database) throws {
        let used = uses.withLock { $0.takeAll() }
        guard !used.isEmpty else { return }
        var number =
            try Int.fetchOne(db, sql: "SELECT ifnull(max(last_use), 0) FROM rendition") ?? 0
        let statement = try db.cachedStatement(
            sql: "UPDATE rendition SET last_use = ? WHERE id = ?")
        for id in used {
            number += 1
            try statement.execute(arguments: [number, id])
        }
    }

    private func noteUse(of id: Int64) {
        let isFull = uses.withLock { uses in
            uses.note(id)
            return uses.count >= PendingUses.maximumCount
        }
        if isFull { write { db in try self.writeUses(db) } }
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
