// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import GRDB
internal import HTTPTypes
public import LoadScheduling
public import Logging
internal import Synchronization

/// An HTTP cache on disk, with the starts of interrupted downloads.
///
/// It consists of an SQLite database, `responses.sqlite`, with a write-ahead log, and a folder,
/// `bodies`, with the larger bodies. Several processes can open it. Damage after opening is not an
/// error: responses that cannot be read are fetched again. The store has two threads of its own.
public final class ResponseCache: Sendable {
    /// The length from which a body is stored as a file.
    static let fileByteCount = 256 << 10

    /// The maximum size of the store in bytes; the least recently used response is evicted first.
    public let byteLimit: Int
    let logger: Logger
    let bodies: BodyFolder
    let database: StoreDatabase
    let uses = Mutex(PendingUses())
    private let queue = WorkQueue(width: 2, maximumWaitingCount: .max)

    /// Opens the store or creates it; a database that is damaged or has another version is moved
    /// aside.
    ///
    /// - Parameters:
    ///   - directory: the folder of the store; created with access for its owner only.
    ///   - byteLimit: the maximum size in bytes.
    ///   - logger: receives failures at `debug`.
    /// - Throws: `LoadError.storeFailed(reason:)`.
    public init(directory: String, byteLimit: Int, logger: Logger) throws(LoadError) {
        self.byteLimit = byteLimit
        self.logger = logger
        bodies = try BodyFolder("\(directory)/bodies")
        database = try StoreDatabase(
            StoreFile(
                directory: directory, name: "responses", version: Self.version,
                schema: Self.schema),
            logger: logger)
        // The limit may have been higher before.
        database.write { db in try self.evict(db) }
        _ = try? queue.submit(.background) { [weak self] in
            // The sum may be damaged.
            self?.database.write { db in try self?.recount(db) }
        }
        removeDoomed()
    }

    deinit { queue.stop() }

    /// Returns the size of all stored responses in bytes, with their rows in the database.
    public func byteCount() async -> Int {
        await run { self.keptByteCount } ?? 0
    }

    /// Stores bytes as the content of a URL; they are fresh until they are removed.
    public func insert(_ bytes: [UInt8], mediaType: String?, for url: HTTPURL) async {
        let response = StoredResponse(
            status: 200, serializedFields: nil, mediaType: mediaType,
            validator: "bytes \(String(contentHash(bytes), radix: 36)) \(bytes.count)",
            freshness: .unlimited, bytes: bytes)
        _ = await run { self.insertNow(response, url.description, Variant(names: "", [:])) }
    }

    /// Removes all responses for a URL, partial ones included.
    public func remove(_ url: HTTPURL) async {
        _ = await run { self.removeNow(url.description) }
    }

    /// Writes pending uses and ends the threads; later calls find nothing.
    public func close() async {
        await queue.close()
        database.write { db in try self.writeUses(db) }
        database.close()
    }

    /// Runs `body` on a thread of the store, also for a cancelled task.
    ///
    /// - Returns: `nil` once closed.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value?) async -> Value? {
        await withCheckedContinuation { continuation in
            do throws(LoadError) {
                try queue.submit(.visible, continuing: true) {
                    continuation.resume(returning: body())
                }
            } catch {
                continuation.resume(returning: nil)
            }
        }
    }

    /// The version of the tables.
    private static let version = 2

    /// The tables: `response` has a row for each response and partial response; `content` has the
    /// bodies that are not files, so that recording a use writes little.
    ///
    /// Row numbers are never reused, so that what was read from one row is never written to
    /// another. `doomed` lists files without a row: they are removed after the transaction, or the
    /// crash, that left them.
    private static let schema = """
        CREATE TABLE response (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            url TEXT NOT NULL,
            is_partial INTEGER NOT NULL,
            vary TEXT NOT NULL,
            variant TEXT NOT NULL,
            status INTEGER NOT NULL,
            fields BLOB,
            media_type TEXT,
            validator TEXT NOT NULL,
            fresh_until INTEGER NOT NULL,
            revalidate_until INTEGER NOT NULL,
            error_until INTEGER NOT NULL,
            offline INTEGER NOT NULL,
            file TEXT,
            body_byte_count INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            fields_checksum INTEGER NOT NULL,
            byte_count INTEGER NOT NULL,
            last_use INTEGER NOT NULL,
            UNIQUE (url, is_partial, vary, variant)
        );
        CREATE INDEX response_by_use ON response (last_use, id, byte_count);
        CREATE TABLE content (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
        CREATE TABLE doomed (file TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE total (byte_count INTEGER);
        INSERT INTO total VALUES (0);
        CREATE TRIGGER response_added AFTER INSERT ON response BEGIN
            UPDATE total SET byte_count = byte_count + NEW.byte_count;
        END;
        CREATE TRIGGER response_changed AFTER UPDATE OF byte_count ON response BEGIN
            UPDATE total SET byte_count = byte_count + NEW.byte_count - OLD.byte_count;
        END;
        CREATE TRIGGER response_removed AFTER DELETE ON response BEGIN
            DELETE FROM content WHERE id = OLD.id;
            INSERT OR REPLACE INTO doomed SELECT OLD.file, 0 WHERE OLD.file IS NOT NULL;
            UPDATE total SET byte_count = byte_count - OLD.byte_count;
        END;
        """
}
