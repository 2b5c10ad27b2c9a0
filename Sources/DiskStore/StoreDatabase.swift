// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
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
    private let opened: Mutex<OpenDatabase?>
    /// One for each user of the open database; all of them while it is closed or replaced.
    ///
    /// A connection that is closed during a read ends the process.
    private let permits = DispatchSemaphore(value: permitCount)
    /// Locked while all permits are taken, so that no two threads take them.
    private let exclusion = Mutex<Void>(())

    /// More than there are connections.
    private static let permitCount = 16

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
        alone {
            let closing = opened.withLock { $0.take() }
            do {
                // A reader is the last to be closed, and a reader cannot empty the write-ahead log.
                _ = try closing?.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
                try closing?.pool.close()
            } catch {
                logger.debug("could not close the store", metadata: ["error": "\(error)"])
            }
        }
    }

    private func access<Value>(_ body: (DatabasePool) throws -> Value?) -> Value? {
        guard let database = use({ $0 }) else { return nil }
        if file.identity != database.identity {
            // What is open works as before, and would be gone with the process.
            replace(database) { () throws(LoadError) in try file.open() }
        }
        var damaged: OpenDatabase?
        let value = use { database -> Value? in
            do {
                return try body(database.pool)
            } catch {
                logger.debug("the store failed", metadata: ["error": "\(error)"])
                if StoreFile.isDamage(error) || StoreFile.isOutOfRowNumbers(error, database.pool) {
                    damaged = database
                }
                return nil
            }
        }
        if let damaged { replace(damaged) { () throws(LoadError) in try file.openAnew() } }
        return value
    }

    /// Calls `body` with the open database, which is not closed meanwhile.
    private func use<Value>(_ body: (OpenDatabase) -> Value?) -> Value? {
        permits.wait()
        defer { permits.signal() }
        return opened.withLock { $0 }.flatMap(body)
    }

    /// Calls `body` while no thread uses the database.
    private func alone(_ body: () -> Void) {
        exclusion.withLock { _ in
            for _ in 0..<Self.permitCount { permits.wait() }
            defer { for _ in 0..<Self.permitCount { permits.signal() } }
            body()
        }
    }

    private func replace(
        _ old: OpenDatabase, _ open: () throws(LoadError) -> OpenDatabase
    ) {
        alone {
            // Another thread may have replaced it already.
            guard opened.withLock({ $0?.pool === old.pool }) else { return }
            do {
                try opened.withLock { $0.take() }?.pool.close()
                let newer = try open()
                opened.withLock { $0 = newer }
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
