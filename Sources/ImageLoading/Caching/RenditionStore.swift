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
    let file: StoreFile
    let logger: Logger
    /// The open database, `nil` once closed.
    ///
    /// A lock: it is held long only while a damaged database is replaced.
    private let pool: Mutex<DatabasePool?>
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
        file = try StoreFile(directory: directory)
        pool = Mutex(try file.open())
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
        let closing = pool.withLock { $0.take() }
        do {
            // A reader is the last to be closed, and a reader cannot empty the write-ahead log.
            _ = try closing?.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try closing?.close()
        } catch {
            logger.debug("could not close the store", metadata: ["error": "\(error)"])
        }
    }

    /// The answer of `body`, or `nil` if it fails.
    func read<Value>(_ body: (Database) throws -> Value?) -> Value? {
        access { try $0.read(body) }
    }

    /// Does all of `body` or nothing.
    func write(_ body: (Database) throws -> Void) {
        access { try $0.write(body) }
    }

    private func access<Value>(_ body: (DatabasePool) throws -> Value?) -> Value? {
        guard let pool = pool.withLock({ $0 }) else { return nil }
        do {
            return try body(pool)
        } catch {
            logger.debug("the store failed", metadata: ["error": "\(error)"])
            if StoreFile.isDamage(error) { replace(pool) }
            return nil
        }
    }

    private func replace(_ damaged: DatabasePool) {
        pool.withLock { pool in
            // Another thread may have replaced it already.
            guard pool === damaged else { return }
            pool = nil
            do {
                try damaged.close()
                pool = try file.openAnew()
            } catch {
                logger.debug("the store is off", metadata: ["error": "\(error)"])
            }
        }
    }
}
