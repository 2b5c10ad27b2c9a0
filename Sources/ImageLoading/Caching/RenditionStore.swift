// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import GRDB
public import HTTPCaching
public import LoadScheduling
public import Logging
internal import Synchronization

/// A store of renditions and facts in an SQLite database, which outlive the process.
///
/// The database is `renditions.sqlite`, with a write-ahead log; several processes may open it. Every call
/// is a transaction: a crash leaves whole entries, and a reader sees the state before or after a
/// concurrent write. Errors after opening are not reported: values that cannot be read are made again.
public final class RenditionStore: RenditionStoring {
    /// The maximum number of bytes of all renditions; the least recently used is evicted first.
    public let byteLimit: Int
    /// The number of seconds after which a rendition expires, and is evicted before all others.
    let maximumAge: Int?
    let date: @Sendable () -> Int
    let logger: Logger
    let database: StoreDatabase
    /// Hits that are not written yet, because a write would take longer than the hit.
    let uses = Mutex(PendingUses())
    let counts = Mutex(StoreStatistics())
    let upkeep = StoreUpkeep()

    /// Opens the store or makes a new one; a database that is damaged or of another version is moved
    /// aside.
    ///
    /// - Parameters:
    ///   - directory: the directory of the database; made, private to the user, if it is missing.
    ///   - byteLimit: the maximum number of bytes of all renditions.
    ///   - maximumAge: the time after which a rendition expires; `nil` for never.
    ///   - logger: receives errors at `debug`.
    ///   - date: returns the seconds since 1970.
    /// - Throws: `LoadError/storeFailed(reason:)`.
    public init(
        directory: String, byteLimit: Int, maximumAge: Duration? = nil, logger: Logger,
        date: @escaping @Sendable () -> Int = HTTPLoader.systemDate
    ) throws(LoadError) {
        self.byteLimit = byteLimit
        self.maximumAge = maximumAge.map { Int($0.components.seconds) }
        self.logger = logger
        self.date = date
        database = try StoreDatabase(
            StoreFile(
                directory: directory, name: "renditions", version: Self.version,
                schema: Self.schema),
            logger: logger)
        // The limit may have been higher when the store was filled.
        write { db in try self.evict(db) }
    }

    deinit { upkeep.queue.stop() }

    /// Returns `$XDG_CACHE_HOME/calotype`, or else `~/.cache/calotype`.
    public static func defaultDirectory(environment: [String: String]) -> String {
        // The specification requires that a relative path is ignored.
        if let caches = environment["XDG_CACHE_HOME"], caches.hasPrefix("/") {
            return "\(caches)/calotype"
        }
        return "\(environment["HOME"] ?? "")/.cache/calotype"
    }

    /// The number of bytes of all renditions.
    public var byteCount: Int { statistics.byteCount }

    public var statistics: StoreStatistics {
        var statistics = counts.withLock { $0 }
        let total = read { db in
            try Row.fetchOne(db, sql: "SELECT byte_count, entry_count FROM total")
        }
        // A damaged sum is recounted with the next insertion.
        statistics.byteCount = max(
            0, (try? total?.decode(Int.self, forColumn: "byte_count")) ?? 0)
        statistics.entryCount = max(
            0, (try? total?.decode(Int.self, forColumn: "entry_count")) ?? 0)
        return statistics
    }

    public func close() {
        upkeep.queue.stop()
        write { db in try self.writeUses(db) }
        database.close()
    }

    /// Returns the result of `body`, or `nil` if it fails.
    func read<Value>(_ body: (Database) throws -> Value?) -> Value? {
        database.read(body)
    }

    /// Runs `body` in a transaction.
    ///
    /// - Returns: the result of `body`, or `nil` if it failed.
    @discardableResult
    func write<Value>(_ body: (Database) throws -> Value?) -> Value? {
        database.write(body)
    }

    /// The version of the tables and of the results of requests; entity tags contain it.
    ///
    /// It increases whenever the same request would make another image.
    public static let version = 10

    /// The tables: `rendition` has one row of facts for each rendition, `content` its bytes, so that
    /// recording a use writes little.
    ///
    /// The sums change in the same transaction as the rows. They may be NULL, so that a damaged count does
    /// not prevent the removal of a row.
    private static let schema = """
        CREATE TABLE rendition (
            id INTEGER PRIMARY KEY,
            hash INTEGER NOT NULL UNIQUE,
            path TEXT NOT NULL,
            version TEXT NOT NULL,
            request TEXT NOT NULL,
            media_type TEXT NOT NULL,
            width INTEGER NOT NULL,
            height INTEGER NOT NULL,
            byte_count INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            created INTEGER NOT NULL,
            fresh_until INTEGER NOT NULL,
            last_use INTEGER NOT NULL
        );
        CREATE INDEX rendition_by_use ON rendition (last_use, id, byte_count);
        CREATE INDEX rendition_by_path ON rendition (path);
        CREATE TABLE content (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
        CREATE TABLE total (byte_count INTEGER, entry_count INTEGER);
        INSERT INTO total VALUES (0, 0);
        CREATE TRIGGER rendition_added AFTER INSERT ON rendition BEGIN
            UPDATE total SET byte_count = byte_count + NEW.byte_count,
                entry_count = entry_count + 1;
        END;
        CREATE TRIGGER rendition_removed AFTER DELETE ON rendition BEGIN
            DELETE FROM content WHERE id = OLD.id;
            UPDATE total SET byte_count = byte_count - OLD.byte_count,
                entry_count = entry_count - 1;
        END;
        CREATE TABLE original (
            path TEXT PRIMARY KEY,
            version TEXT NOT NULL,
            format_name TEXT NOT NULL,
            media_type TEXT NOT NULL,
            width INTEGER NOT NULL,
            height INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            placeholder BLOB,
            placeholder_checksum INTEGER
        ) WITHOUT ROWID;
        """
}
