// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import GRDB
public import HTTPCaching
public import LoadScheduling
public import Logging
internal import Synchronization

/// Renditions and facts on disk, so that they outlive the process.
///
/// Shape: one SQLite database, `renditions.sqlite`, with a write-ahead log; several processes may
/// have it open. Every call is a transaction of its own: a crash leaves whole entries, and who
/// reads while others write sees what was there before or what is there then. Whatever happens to
/// the database after it was opened is no error to a user: what cannot be read is made again.
public final class RenditionStore: RenditionStoring {
    /// The bytes of the renditions that may be kept; the one not used for longest goes first.
    public let byteLimit: Int
    /// Seconds after which a rendition is found no more, and goes before all others.
    let maximumAge: Int?
    let date: @Sendable () -> Int
    let logger: Logger
    let database: StoreDatabase
    /// Hits that are not written down yet, because a write for every hit would cost more than it.
    let uses = Mutex(PendingUses())
    let counts = Mutex(StoreStatistics())
    let upkeep = StoreUpkeep()

    /// Opens the store or makes a new one; a database that is damaged or of another version is
    /// moved aside.
    ///
    /// - Parameters:
    ///   - directory: where the database is; made, private to the user, if it is missing.
    ///   - byteLimit: the bytes of the renditions that may be kept.
    ///   - maximumAge: after that time a rendition is found no more; `nil` for no limit.
    ///   - logger: where it tells, at `debug`, what went wrong.
    ///   - date: the seconds since 1970.
    /// - Throws: ``LoadError/storeFailed(reason:)``.
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
        // The limit may have been a higher one when the store was filled.
        write { db in try self.evict(db) }
    }

    deinit { upkeep.queue.stop() }

    /// `$XDG_CACHE_HOME/calotype`, or `~/.cache/calotype`.
    public static func defaultDirectory(environment: [String: String]) -> String {
        // The specification wants a relative path to be ignored.
        if let caches = environment["XDG_CACHE_HOME"], caches.hasPrefix("/") {
            return "\(caches)/calotype"
        }
        return "\(environment["HOME"] ?? "")/.cache/calotype"
    }

    /// The bytes of all renditions that are kept.
    public var byteCount: Int { statistics.byteCount }

    public var statistics: StoreStatistics {
        var statistics = counts.withLock { $0 }
        let total = read { db in
            try Row.fetchOne(db, sql: "SELECT byte_count, entry_count FROM total")
        }
        // A damaged sum is counted anew with the next insertion.
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

    /// The answer of `body`, or `nil` if it fails.
    func read<Value>(_ body: (Database) throws -> Value?) -> Value? {
        database.read(body)
    }

    /// Does all of `body` or nothing.
    ///
    /// - Returns: the answer of `body`, or `nil` if it failed.
    @discardableResult
    func write<Value>(_ body: (Database) throws -> Value?) -> Value? {
        database.write(body)
    }

    /// Changes with the tables, and whenever the same request would make another picture; entity tags
    /// contain it.
    public static let version = 4

    /// The tables: `rendition` has a row of facts a rendition, `content` its bytes, so that noting
    /// a use writes little.
    ///
    /// The sums change in the transaction that changes what they are of. They may be NULL, so that no
    /// damaged count keeps a row from being removed.
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
