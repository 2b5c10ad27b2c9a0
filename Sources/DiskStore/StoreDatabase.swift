// SPDX-License-Identifier: Apache-2.0

package import GRDB
package import Logging
package import LoadScheduling
internal import Synchronization

/// The open database of a store; it is replaced by an empty one if it is damaged or its file was
/// removed.
///
/// Damage after opening is not an error: entries that cannot be read are created again. All calls
/// block; make them on a thread of a `WorkQueue`.
package final class StoreDatabase: Sendable {
    private let file: StoreFile
    private let logger: Logger
    /// The open database, `nil` once closed.
    ///
    /// A lock: it is held long only while a database is replaced.
    private let opened: Mutex<OpenDatabase?>

    /// - Throws: `LoadError.storeFailed(reason:)`.
    package init(_ file: StoreFile, logger: Logger) throws(LoadError) {
        self.file = file
        self.logger = logger
        opened = Mutex(try file.open())
    }

    /// The answer of `body`, or `nil` if it fails.
    package func read<Value>(_ body: (Database) throws -> Value?) -> Value? {
        access { try $0.read(body) }
    }

    /// Does all of `body` or nothing.
    ///
    /// - Returns: the answer of `body`, or `nil` if it failed.
    @discardableResult
    package func write<Value>(_ body: (Database) throws -> Value?) -> Value? {
        access { try $0.write(body) }
    }

    /// From then on nothing is found and nothing kept.
    package func close() {
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
            // What is open works as before, and would be gone with the process.
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

/// A database, and which file it was when it was opened.
struct OpenDatabase: Sendable {
    let pool: DatabasePool
    let identity: StoreFile.Identity?
}
