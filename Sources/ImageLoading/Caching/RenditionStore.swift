// SPDX-License-Identifier: Apache-2.0

internal import GRDB
public import Logging
internal import Synchronization

/// Renditions and facts on disk, so that they outlive the process.
///
/// Shape: one SQLite database, `renditions.sqlite`, with a write-ahead log; several processes may
/// have it open. Whatever happens to it after it was opened is no error to a user: what cannot be
/// read is made again. Its calls block; they belong on a thread of a ``WorkQueue``.
public final class RenditionStore: Sendable {
    /// The bytes of the renditions that may be kept; the one not used for longest goes first.
    public let byteLimit: Int
    let logger: Logger
    private let database: StoreDatabase
    /// Hits that are not written down yet, because a write for every hit would cost more than it.
    let uses = Mutex(PendingUses())

    /// Opens the store or makes a new one; a database that is damaged or of another version is
    /// moved aside.
    ///
    /// - Parameters:
    ///   - directory: where the database is; made, private to the user, if it is missing.
    ///   - byteLimit: the bytes of the renditions that may be kept.
    ///   - logger: where it tells, at `debug`, what went wrong.
    /// - Throws: ``LoadError/storeFailed(reason:)``.
    public init(directory: String, byteLimit: Int, logger: Logger) throws(LoadError) {
        self.byteLimit = byteLimit
        self.logger = logger
        database = try StoreDatabase(
            StoreFile(
                directory: directory, name: "renditions", version: Self.version,
                schema: Self.schema),
            logger: logger)
        // The limit may have been a higher one when the store was filled.
        write { db in try self.evict(db) }
    }

    /// `$XDG_CACHE_HOME/calotype`, or `~/.cache/calotype`.
    public static func defaultDirectory(environment: [String: String]) -> String {
        // The specification wants a relative path to be ignored.
        if let caches = environment["XDG_CACHE_HOME"], caches.hasPrefix("/") {
            return "\(caches)/calotype"
        }
        return "\(environment["HOME"] ?? "")/.cache/calotype"
    }

    /// The bytes of all renditions that are kept.
    public var byteCount: Int {
        read { db in try Int.fetchOne(db, sql: "SELECT byte_count FROM total") } ?? 0
    }

    /// Writes down what is pending; from then on nothing is found and nothing kept.
    public func close() {
        write { db in try self.writeUses(db) }
        database.close()
    }

    /// The answer of `body`, or `nil` if it fails.
    func read<Value>(_ body: (Database) throws -> Value?) -> Value? {
        database.read(body)
    }

    /// Does all of `body` or nothing.
    func write(_ body: (Database) throws -> Void) {
        database.write(body)
    }

    /// Changes with the tables, and whenever the same request would make another picture.
    private static let version = 1

    /// The tables: `rendition` has a row of facts a rendition, `content` its bytes, so that noting
    /// a use writes little.
    ///
    /// The sum of the bytes changes in the transaction that changes them.
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
            last_use INTEGER NOT NULL
        );
        CREATE INDEX rendition_by_use ON rendition (last_use, id, byte_count);
        CREATE TABLE content (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
        CREATE TABLE total (byte_count INTEGER NOT NULL);
        INSERT INTO total VALUES (0);
        CREATE TRIGGER rendition_added AFTER INSERT ON rendition BEGIN
            UPDATE total SET byte_count = byte_count + NEW.byte_count;
        END;
        CREATE TRIGGER rendition_removed AFTER DELETE ON rendition BEGIN
            DELETE FROM content WHERE id = OLD.id;
            UPDATE total SET byte_count = byte_count - OLD.byte_count;
        END;
        CREATE TABLE original (
            path TEXT PRIMARY KEY,
            version TEXT NOT NULL,
            format_name TEXT NOT NULL,
            media_type TEXT NOT NULL,
            width INTEGER NOT NULL,
            height INTEGER NOT NULL
        ) WITHOUT ROWID;
        """
}
