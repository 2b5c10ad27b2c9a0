// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import EncodedImages
internal import Foundation
internal import GRDB
internal import HTTPTypes
internal import Logging
internal import Synchronization

extension ResponseCache {
    /// Returns the stored response to a request with these fields.
    func response(for url: HTTPURL, _ request: HTTPFields) async -> StoredResponse? {
        await run { self.find(url.description, request, isPartial: false) }
    }

    /// Returns the stored start of a response to a request with these fields.
    func partial(for url: HTTPURL, _ request: HTTPFields) async -> StoredResponse? {
        await run { self.find(url.description, request, isPartial: true) }
    }

    /// Stores a response and removes earlier ones and partial ones; a response larger than the
    /// limit is not stored.
    func insert(_ response: StoredResponse, for url: HTTPURL, _ variant: Variant) async {
        _ = await run { self.insertNow(response, url.description, variant) }
    }

    /// Replaces the fields of a stored response; the body is not written.
    func refresh(_ response: StoredResponse, for url: HTTPURL) async {
        guard let id = response.id, let fields = response.serializedFields else { return }
        let freshness = response.freshness
        let checksum = response.fieldsChecksum(url.description)
        _ = await run {
            self.database.write { db in
                try db.execute(
                    sql: """
                        UPDATE response SET fields = ?1, fresh_until = ?2, revalidate_until = ?3,
                            error_until = ?4, offline = ?5, fields_checksum = ?7,
                            byte_count = byte_count - ifnull(length(fields), 0) + length(?1)
                        WHERE id = ?6
                        """,
                    arguments: [
                        Data(fields), freshness.freshUntil, freshness.staleWhileRevalidateUntil,
                        freshness.staleIfErrorUntil, freshness.mayBeStaleOffline, id, checksum,
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

    /// The bytes that a row counts in addition to body and fields, so that responses without a body
    /// are limited too.
    private static let rowByteCount = 300

    var keptByteCount: Int {
        database.read { db in try db.totalByteCount() } ?? 0
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
                guard let names = try? row.decode(String.self, forColumn: "vary"),
                    let values = try? row.decode(String.self, forColumn: "variant")
                else { return row.copy() }
                if Variant(names: names, request).values.hasSameBytes(as: values) {
                    return row.copy()
                }
            }
            return nil
        }
        guard let row, let id = try? row.decode(Int64.self, forColumn: "id") else { return nil }
        guard let response = try? response(in: row, url, isPartial: isPartial) else {
            logger.debug("removed a damaged response", metadata: ["url": "\(url)"])
            database.write { db in
                try self.remove([id], db)
                // The damage may be in its byte count.
                try self.recount(db)
            }
            removeDoomed()
            return nil
        }
        noteUse(of: id)
        return response
    }

    /// Decodes a row.
    ///
    /// - Throws: an error if the row or its body differs from what was stored.
    private func response(
        in row: Row, _ url: String, isPartial: Bool
    ) throws -> StoredResponse {
        let id = try row.decode(Int64.self, forColumn: "id")
        guard Database.rowNumbers.contains(id) else { throw DamagedRow() }
        let byteCount = try row.decode(Int.self, forColumn: "body_byte_count")
        let bytes =
            if let file = try row.decode(String?.self, forColumn: "file") {
                bodies.read(file, byteCount: byteCount)
            } else {
                [UInt8](try row.decode(Data.self, forColumn: "bytes"))
            }
        guard let bytes, bytes.count == byteCount else { throw DamagedRow() }
        let response = StoredResponse(
            id: id,
            status: try row.decode(Int.self, forColumn: "status"),
            serializedFields: try row.decode(Data?.self, forColumn: "fields").map { [UInt8]($0) },
            mediaType: try row.decode(String?.self, forColumn: "media_type"),
            validator: try row.decode(String.self, forColumn: "validator"),
            freshness: Freshness(
                freshUntil: try row.decode(Int.self, forColumn: "fresh_until"),
                staleWhileRevalidateUntil: try row.decode(Int.self, forColumn: "revalidate_until"),
                staleIfErrorUntil: try row.decode(Int.self, forColumn: "error_until"),
                mayBeStaleOffline: try row.decode(Bool.self, forColumn: "offline")),
            bytes: bytes)
        let variant = Variant(
            names: try row.decode(String.self, forColumn: "vary"),
            values: try row.decode(String.self, forColumn: "variant"))
        let checksum = response.checksum(url, variant, isPartial: isPartial)
        guard try row.decode(Int64.self, forColumn: "checksum") == checksum,
            try row.decode(Int64.self, forColumn: "fields_checksum")
                == response.fieldsChecksum(url)
        else { throw DamagedRow() }
        return response
    }

    func insertNow(
        _ response: StoredResponse, _ url: String, _ variant: Variant, isPartial: Bool = false
    ) {
        let byteCount =
            response.bytes.count + (response.serializedFields?.count ?? 0) + url.utf8.count
            + Self.rowByteCount
        guard byteCount <= min(byteLimit, Database.entryByteCounts.upperBound) else {
            return removeNow(url, partialsOnly: isPartial)
        }
        let file = response.bytes.count >= Self.fileByteCount ? BodyFolder.newName() : nil
        if let file {
            guard write(response.bytes, file) else { return bodies.remove(file) }
        }
        let isInserted: Void? = database.write { db in
            try self.writeUses(db)
            // Not REPLACE, which would bypass the trigger that counts the bytes.
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
                        body_byte_count, checksum, fields_checksum, byte_count, last_use)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    url, isPartial, variant.names, variant.values, response.status,
                    response.serializedFields.map { Data($0) }, response.mediaType,
                    response.validator, response.freshness.freshUntil,
                    response.freshness.staleWhileRevalidateUntil,
                    response.freshness.staleIfErrorUntil, response.freshness.mayBeStaleOffline,
                    file, response.bytes.count,
                    response.checksum(url, variant, isPartial: isPartial),
                    response.fieldsChecksum(url), byteCount, try db.lastUse(in: "response") + 1,
                ])
            if let file {
                try db.execute(sql: "DELETE FROM doomed WHERE file = ?", arguments: [file])
            } else {
                // Replaces content that a damaged row has left.
                try db.execute(
                    sql: "INSERT OR REPLACE INTO content (id, bytes) VALUES (?, ?)",
                    arguments: [db.lastInsertedRowID, Data(response.bytes)])
            }
            try self.evict(db)
        }
        if isInserted == nil { dropLargestNumbers() }
        removeDoomed()
    }

    /// Removes the rows whose damaged number leaves none for a new row.
    private func dropLargestNumbers() {
        database.write { db in
            try db.execute(
                sql: "DELETE FROM response WHERE id > ?",
                arguments: [Database.rowNumbers.upperBound])
        }
    }

    /// Writes a body file and lists it for removal until a row names it.
    private func write(_ bytes: [UInt8], _ file: String) -> Bool {
        let isNoted: Void? = database.write { db in
            // Other processes remove the file only if no row names it after an hour.
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

    /// Removes the files that no row names.
    func removeDoomed() {
        let files = database.read { db in
            try String.fetchAll(
                db.cachedStatement(
                    sql: "SELECT file FROM doomed WHERE since <= ? AND typeof(file) = 'text'"),
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

// MARK: - Eviction

extension ResponseCache {
    /// Evicts the least recently used responses until the rest fits the limit.
    func evict(_ db: Database) throws {
        guard let total = try db.totalByteCount() else { return try recount(db) }
        var excess = total - byteLimit
        guard excess > 0 else { return }
        try remove(db.leastRecentlyUsed(in: "response", freeing: &excess), db)
        // The table is empty, so the sum was wrong.
        if excess > 0 { try recount(db) }
    }

    /// Removes the rows with damaged counts and recomputes the sum.
    func recount(_ db: Database) throws {
        try db.dropUncountable(in: "response")
        try db.execute(sql: "DELETE FROM total")
        try db.execute(sql: "INSERT INTO total SELECT ifnull(sum(byte_count), 0) FROM response")
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

/// A row that differs from what was written.
private struct DamagedRow: Error {}

extension StoredResponse {
    /// Returns the checksum of the columns that never change: URL, variant, and the response
    /// without fields.
    fileprivate func checksum(_ url: String, _ variant: Variant, isPartial: Bool) -> Int64 {
        var checksum = RowChecksum()
        for text in [url, variant.names, variant.values, validator] { checksum.add(text) }
        checksum.add(mediaType)
        checksum.add(isPartial ? 1 : 0)
        checksum.add(status)
        checksum.add(bytes)
        return checksum.value
    }

    /// Returns the checksum of the columns that a revalidation changes.
    fileprivate func fieldsChecksum(_ url: String) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(url)
        checksum.add(validator)
        checksum.add(serializedFields == nil ? 0 : 1)
        checksum.add(serializedFields ?? [])
        for date in [
            freshness.freshUntil, freshness.staleWhileRevalidateUntil,
            freshness.staleIfErrorUntil,
        ] {
            checksum.add(date)
        }
        checksum.add(freshness.mayBeStaleOffline ? 1 : 0)
        return checksum.value
    }
}
