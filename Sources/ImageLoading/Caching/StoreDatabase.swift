// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Logging
internal import Synchronization

/// The open database of a store; a damaged one, or one whose file was removed, is replaced by an empty
/// one.
///
/// Errors after opening are not reported: values that cannot be read are made again. Calls block; they
/// belong on a thread of a ``WorkQueue``.
final class StoreDatabase: Sendable {
    private let file: StoreFile
    private let logger: Logger
    /// The open database, `nil` once closed.
    ///
    /// A lock: it is held long only while a database is replaced.
    private let opened: Mutex<OpenDatabase?>

    /// - Throws: ``LoadError/storeFailed(reason:)``.
    init(_ file: StoreFile, logger: Logger) throws(LoadError) {
        self.file = file
        self.logger = logger
        opened = Mutex(try file.open())
    }

    /// Returns the result of `body`, or `nil` if it fails.
    func read<Value>(_ body: (Database) throws -> Value?) -> Value? {
        access { try $0.read(body) }
    }

    /// Runs `body` in a transaction.
    ///
    /// - Returns: the result of `body`, or `nil` if it failed.
    @discardableResult
    func write<Value>(_ body: (Database) throws -> Value?) -> Value? {
        access { try $0.write(body) }
    }

    /// Closes the database; afterwards reads and writes return `nil`.
    func close() {
        let closing = opened.withLock { $0.take() }
        do {
            // A reader is the last to be closed, and a reader cannot empty the write-ahead log.
            _ = try closing?.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try closing?.pool.close()
        } catch {
            logger.debug("could not close the store", metadata: ["error": "\(error)"])
        }
    }

    private func access<Value>(_ body: (DatabasePool) throws -> Value?) -> Value? {
        guard var database = opened.withLock({ $0 }) else { return nil }
        if file.identity != database.identity {
            // The removed file works while it is open, and is lost when it is closed.
            replace(database) { () throws(LoadError) in try file.open() }
            guard let newer = opened.withLock({ $0 }) else { return nil }
            database = newer
        }
        do {
            return try body(database.pool)
        } catch {
            logger.debug("the store failed", metadata: ["error": "\(error)"])
            if StoreFile.isDamage(error) || StoreFile.isOutOfRowNumbers(error, database.pool) {
                replace(database) { () throws(LoadError) in try file.openAnew() }
            }
            return nil
        }
    }

    private func replace(
        _ old: OpenDatabase, _ open: () throws(LoadError) -> OpenDatabase
    ) {
        opened.withLock { opened in
            // Another thread may have replaced it already.
            guard opened?.pool === old.pool else { return }
            opened = nil
            do {
                try old.pool.close()
                opened = try open()
            } catch {
                logger.debug("the store is off", metadata: ["error": "\(error)"])
            }
        }
    }
}

/// An open database, and the identity of its file when it was opened.
struct OpenDatabase: Sendable {
    let pool: DatabasePool
    let identity: StoreFile.Identity?
}
