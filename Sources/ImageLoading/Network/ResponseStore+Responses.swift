// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import GRDB
internal import HTTPTypes
internal import Logging
internal import Synchronization

extension ResponseStore {
    /// The answer that is kept to a request of these fields.
    func response(for url: HTTPURL, _ request: HTTPFields) async -> StoredResponse? {
        await run { self.find(url.description, request, isPartial: false) }
    }

    /// The start that is kept of an answer to a request of these fields.
    func partial(for url: HTTPURL, _ request: HTTPFields) async -> StoredResponse? {
        await run { self.find(url.description, request, isPartial: true) }
    }

    /// Keeps an answer in place of the one before and of starts; one larger than the limit is not
    /// kept.
    func insert(_ response: StoredResponse, for url: HTTPURL, _ variant: Variant) async {
        _ = await run { self.insertNow(response, url.description, variant) }
    }

    /// Gives the answer that was read from a row other fields; the body stays as it is.
    func refresh(_ response: StoredResponse) async {
        guard let id = response.id, let fields = response.serializedFields else { return }
        let freshness = response.freshness
        _ = await run {
            self.database.write { db in
                try db.execute(
                    sql: """
                        UPDATE response SET fields = ?1, fresh_until = ?2, revalidate_until = ?3,
                            error_until = ?4, offline = ?5,
                            byte_count = byte_count - ifnull(length(fields), 0) + length(?1)
                        WHERE id = ?6
                        """,
                    arguments: [
                        Data(fields), freshness.freshUntil, freshness.staleWhileRevalidateUntil,
                        freshness.staleIfErrorUntil, freshness.mayBeStaleOffline, id,
                    ])
                try self.evict(db)
            }
        }
    }

    func insertPartial(_ response: StoredResponse, for url: HTTPURL, _ variant: Variant) async {
        _ = await run {
            self.insertNow(response, url.description, variant, isPartial: true)
        }
    }

    func removePartials(of url: HTTPURL) async {
        _ = await run { self.removeNow(url.description, partialsOnly: true) }
    }

    /// What a row takes besides body and fields, so that a million answers without a body count.
    private static let rowByteCount = 300

    var keptByteCount: Int {
        database.read { db in try Int.fetchOne(db, sql: "SELECT byte_count FROM total") } ?? 0
    }

    private func find(_ url: String, _ request: HTTPFields, isPartial: Bool) -> StoredResponse? {
        let row = database.read { db -> Row? in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT response.*, bytes FROM response LEFT JOIN content USING (id)
                        WHERE url = ? AND is_partial = ? ORDER BY id DESC
                        """),
                arguments: [url, isPartial])
            while let row = try rows.next() {
                if Variant(names: row["vary"], request).values == row["variant"] {
                    return row.copy()
                }
            }
            return nil
        }
        guard let row else { return nil }
        let id: Int64 = row["id"]
        guard let bytes = body(of: row) else {
            logger.debug("dropped a damaged answer", metadata: ["url": "\(url)"])
            database.write { db in try self.remove([id], db) }
            removeDoomed()
            return nil
        }
        noteUse(of: id)
        return StoredResponse(
            id: id, status: row["status"],
            serializedFields: (row["fields"] as Data?).map { [UInt8]($0) },
            mediaType: row["media_type"], validator: row["validator"],
            freshness: Freshness(
                freshUntil: row["fresh_until"], staleWhileRevalidateUntil: row["revalidate_until"],
                staleIfErrorUntil: row["error_until"], mayBeStaleOffline: row["offline"]),
            bytes: bytes)
    }

    /// - Returns: `nil` if it is not what was kept.
    private func body(of row: Row) -> [UInt8]? {
        let byteCount: Int = row["body_byte_count"]
        let bytes =
            if let file = row["file"] as String? {
                bodies.read(file, byteCount: byteCount)
            } else {
                (row["bytes"] as Data?).map { [UInt8]($0) }
            }
        guard let bytes, bytes.count == byteCount else { return nil }
        return Int64(bitPattern: contentHash(bytes)) == row["checksum"] as Int64 ? bytes : nil
    }

    func insertNow(
        _ response: StoredResponse, _ url: String, _ variant: Variant, isPartial: Bool = false
    ) {
        let byteCount =
            response.bytes.count + (response.serializedFields?.count ?? 0) + url.utf8.count
            + Self.rowByteCount
        guard byteCount <= byteLimit else { return removeNow(url, partialsOnly: isPartial) }
        let file = response.bytes.count >= Self.fileByteCount ? BodyFolder.newName() : nil
        if let file {
            guard write(response.bytes, file) else { return bodies.remove(file) }
        }
        database.write { db in
            try self.writeUses(db)
            // Not REPLACE, which would pass by the trigger that counts the bytes.
            try db.execute(
                sql: """
                    DELETE FROM response
                    WHERE url = ? AND (is_partial OR NOT ? AND vary = ? AND variant = ?)
                    """,
                arguments: [url, isPartial, variant.names, variant.values])
            try db.execute(
                sql: """
                    INSERT INTO response (url, is_partial, vary, variant, status, fields, media_type,
                        validator, fresh_until, revalidate_until, error_until, offline, file,
                        body_byte_count, checksum, byte_count, last_use)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                        (SELECT ifnull(max(last_use), 0) + 1 FROM response))
                    """,
                arguments: [
                    url, isPartial, variant.names, variant.values, response.status,
                    response.serializedFields.map { Data($0) }, response.mediaType,
                    response.validator, response.freshness.freshUntil,
                    response.freshness.staleWhileRevalidateUntil,
                    response.freshness.staleIfErrorUntil, response.freshness.mayBeStaleOffline,
                    file, response.bytes.count, Int64(bitPattern: contentHash(response.bytes)),
                    byteCount,
                ])
            if let file {
                try db.execute(sql: "DELETE FROM doomed WHERE file = ?", arguments: [file])
            } else {
                try db.execute(
                    sql: "INSERT INTO content (id, bytes) VALUES (?, ?)",
                    arguments: [db.lastInsertedRowID, Data(response.bytes)])
            }
            try self.evict(db)
        }
        removeDoomed()
    }

    /// Writes a file that counts as left over until a row names it.
    private func write(_ bytes: [UInt8], _ file: String) -> Bool {
        let isNoted: Void? = database.write { db in
            // An hour is enough for the row to come; other processes leave it alone until then.
            try db.execute(
                sql: "INSERT INTO doomed VALUES (?, ?)", arguments: [file, systemDate() + 3600])
        }
        return isNoted != nil && bodies.write(bytes, name: file)
    }

    func removeNow(_ url: String, partialsOnly: Bool = false) {
        database.write { db in
            try db.execute(
                sql: "DELETE FROM response WHERE url = ? AND (is_partial OR NOT ?)",
                arguments: [url, partialsOnly])
        }
        removeDoomed()
    }

    /// Removes the files that no row needs any more.
    func removeDoomed() {
        let files = database.read { db in
            try String.fetchAll(
                db.cachedStatement(sql: "SELECT file FROM doomed WHERE since <= ?"),
                arguments: [systemDate()])
        }
        guard let files, !files.isEmpty else { return }
        for file in files { bodies.remove(file) }
        database.write { db in
            let statement = try db.cachedStatement(sql: "DELETE FROM doomed WHERE file = ?")
            for file in files { try statement.execute(arguments: [file]) }
        }
    }
}

// MARK: - What is used least

extension ResponseStore {
    /// Drops what was not used for longest until the rest fits the limit.
    func evict(_ db: Database) throws {
        var excess = (try Int.fetchOne(db, sql: "SELECT byte_count FROM total") ?? 0) - byteLimit
        guard excess > 0 else { return }
        var dropped: [Int64] = []
        let rows = try Row.fetchCursor(
            db, sql: "SELECT id, byte_count FROM response ORDER BY last_use, id")
        while excess > 0, let row = try rows.next() {
            dropped.append(row["id"])
            excess -= row["byte_count"]
        }
        try remove(dropped, db)
    }

    func writeUses(_ db: Database) throws {
        try PendingUses.write(uses, to: "response", db)
    }

    private func noteUse(of id: Int64) {
        let isFull = uses.withLock { uses in
            uses.note(id)
            return uses.count >= PendingUses.maximumCount
        }
        if isFull { database.write { db in try self.writeUses(db) } }
    }

    private func remove(_ ids: [Int64], _ db: Database) throws {
        let statement = try db.cachedStatement(sql: "DELETE FROM response WHERE id = ?")
        for id in ids { try statement.execute(arguments: [id]) }
    }
}
