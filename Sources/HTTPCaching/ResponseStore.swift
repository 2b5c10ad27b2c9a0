// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import GRDB
internal import HTTPTypes
public import LoadScheduling
public import Logging
internal import Synchronization

/// Answers of servers on disk, so that they outlive the process, and the starts of those that broke
/// off.
///
/// Shape: one SQLite database, `responses.sqlite`, with a write-ahead log, and beside it a folder,
/// `bodies`, with the larger bodies. Several processes may have it open. Whatever happens to it
/// after it was opened is no error to a user: what cannot be read is fetched again. The work is done
/// on two threads of its own.
public final class ResponseStore: Sendable {
    /// Bodies from so many bytes on are files.
    static let fileByteCount = 256 << 10

    /// The bytes that may be kept; the answer that was not used for longest goes first.
    public let byteLimit: Int
    let logger: Logger
    let bodies: BodyFolder
    let database: StoreDatabase
    let uses = Mutex(PendingUses())
    private let queue = WorkQueue(width: 2, maximumWaitingCount: .max)

    /// Opens the store or makes a new one; a database that is damaged or of another version is
    /// moved aside.
    ///
    /// - Parameters:
    ///   - directory: where it is; made, private to the user, if it is missing.
    ///   - byteLimit: the bytes that may be kept.
    ///   - logger: where it tells, at `debug`, what went wrong.
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
        // The limit may have been a higher one when the store was filled.
        database.write { db in try self.evict(db) }
        _ = try? queue.submit(.background) { [weak self] in
            // The sum may be damaged.
            self?.database.write { db in try self?.recount(db) }
        }
        removeDoomed()
    }

    deinit { queue.stop() }

    /// The bytes of all that is kept, with what else they take in the database.
    public func byteCount() async -> Int {
        await run { self.keptByteCount } ?? 0
    }

    /// Puts bytes there as what `url` leads to; they are served as they are until they are removed.
    public func insert(_ bytes: [UInt8], mediaType: String?, for url: HTTPURL) async {
        let response = StoredResponse(
            status: 200, serializedFields: nil, mediaType: mediaType,
            validator: "bytes \(String(contentHash(bytes), radix: 36)) \(bytes.count)",
            freshness: .unlimited, bytes: bytes)
        _ = await run { self.insertNow(response, url.description, Variant(names: "", [:])) }
    }

    /// Forgets all that is kept of `url`, whole or not.
    public func remove(_ url: HTTPURL) async {
        _ = await run { self.removeNow(url.description) }
    }

    /// Writes down what is pending and ends the threads; from then on nothing is found.
    public func close() async {
        await queue.close()
        database.write { db in try self.writeUses(db) }
        database.close()
    }

    /// Does `body` on a thread that may be blocked, also for a task that has been cancelled.
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

    /// Changes with the tables.
    private static let version = 2

    /// The tables: `response` has a row of facts for each answer and each start of one, `content`
    /// the bodies that are no files, so that noting a use writes little.
    ///
    /// A number of a row is never used again, so that what was read from one row is never written
    /// to another. `doomed` names files that no row needs, or none yet: they are removed after the transaction,
    /// or after the crash, that left them there.
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
