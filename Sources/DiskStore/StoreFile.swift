// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import GRDB
package import LoadScheduling

/// The file of a store: its path, its tables, and how it is opened.
package struct StoreFile: Sendable {
    package let directory: String
    package let name: String
    /// The version of the tables and of the meaning of their rows.
    package let version: Int
    /// The SQL statements that create the tables.
    package let schema: String

    package init(directory: String, name: String, version: Int, schema: String) {
        self.directory = directory
        self.name = name
        self.version = version
        self.schema = schema
    }

    package var path: String { "\(directory)/\(name).sqlite" }
    private var lockPath: String { "\(directory)/\(name).lock" }
    /// The path to which an unusable database is moved; only the latest is kept.
    package var asidePath: String { "\(path).aside" }

    /// The identity of a file, independent of its name.
    struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64
    }

    /// The identity of the current file, `nil` if it does not exist.
    var identity: Identity? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Opens the database; creates its directory and creates or replaces the file where needed.
    func open() throws(LoadError) -> OpenDatabase {
        try makeDirectory(directory)
        let lock = try FileLock(lockPath)
        defer { lock.release() }
        do {
            do {
                return try openCurrent()
            } catch  where !Self.mayPass(error) {
                moveAside()
                return try openCurrent()
            }
        } catch {
            throw .storeFailed(reason: "\(path): \(error)")
        }
    }

    /// Replaces a damaged database with a new one.
    func openAnew() throws(LoadError) -> OpenDatabase {
        do {
            let lock = try FileLock(lockPath)
            defer { lock.release() }
            moveAside()
        }
        return try open()
    }

    /// Returns whether an error means that the database is damaged.
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB
    }

    /// Returns whether SQLite refuses every new row because a damaged one had the largest row
    /// number.
    ///
    /// `AUTOINCREMENT` never reuses a number, so that an exhausted sequence stays exhausted when
    /// the row is removed. The error is the same as for a full disk.
    static func isOutOfRowNumbers(_ error: any Error, _ pool: DatabasePool) -> Bool {
        guard (error as? DatabaseError)?.resultCode == .SQLITE_FULL else { return false }
        let isOut = try? pool.read { db in
            try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (SELECT * FROM sqlite_sequence
                        WHERE seq > \(Database.rowNumbers.upperBound))
                    """)
        }
        return isOut == true
    }

    /// Returns whether opening may succeed later without a change of the file.
    ///
    /// All other errors count as damage: a changed byte of the header may make the file read-only,
    /// or change its encoding or format.
    private static func mayPass(_ error: any Error) -> Bool {
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_BUSY?, .SQLITE_LOCKED?, .SQLITE_NOMEM?, .SQLITE_FULL?, .SQLITE_CANTOPEN?,
            .SQLITE_PERM?:
            true
        default: error is LoadError
        }
    }

    /// An error: the tables have another version or are damaged.
    private struct OtherTables: Error {}

    /// Returns whether a database has exactly the tables of ``schema``.
    private func hasOwnTables(_ db: Database) throws -> Bool {
        let statements = try String.fetchAll(
            db,
            sql: """
                SELECT ifnull(CAST(sql AS TEXT), '') FROM sqlite_master
                WHERE ifnull(name, '') NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                """)
        let count = schema.split(separator: "\n").count { $0.hasPrefix("CREATE ") }
        // SQLite stores the text of each statement unchanged.
        return statements.count == count
            && statements.allSatisfy { !$0.isEmpty && schema.contains($0) }
    }

    private func openCurrent() throws -> OpenDatabase {
        // SQLite creates its other files with the permissions of the database.
        let descriptor = unsafe Glibc.open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw LoadError.storeFailed(reason: systemError(errno)) }
        Glibc.close(descriptor)
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 8
        configuration.prepareDatabase { db in
            guard !db.configuration.readonly else { return }
            // Truncates a log that grew while readers prevented a checkpoint.
            try db.execute(sql: "PRAGMA journal_size_limit = \(8 << 20)")
            // Takes effect only before the first page; free pages can then be released in steps.
            if try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 {
                try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            }
        }
        // With the write-ahead log GRDB sets `synchronous` to NORMAL: a crash of the system may
        // lose the last transactions and never leaves a partial one.
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in
            let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
            let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
            if version == 0 && tables == 0 {
                try db.execute(sql: schema)
                return try db.execute(sql: "PRAGMA user_version = \(self.version)")
            }
            guard version == self.version, try hasOwnTables(db) else { throw OtherTables() }
        }
        return OpenDatabase(pool: pool, identity: identity)
    }

    private func moveAside() {
        unsafe _ = rename(path, asidePath)
        for suffix in ["-wal", "-shm"] { unsafe _ = unlink(path + suffix) }
    }
}

/// Creates a directory and its parents, with access for their owner only.
package func makeDirectory(_ path: String) throws(LoadError) {
    var built = path.hasPrefix("/") ? "/" : ""
    for name in path.split(separator: "/") {
        built += "\(name)/"
        if unsafe mkdir(built, 0o700) == 0 { continue }
        let code = errno
        // For an existing directory the error may also be another one, such as EROFS.
        var status = stat()
        guard unsafe stat(built, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            let reason = systemError(code == EEXIST ? ENOTDIR : code)
            throw .storeFailed(reason: "\(built.dropLast()): \(reason)")
        }
    }
}

/// A file lock that prevents other processes from opening the store at the same time.
private struct FileLock {
    private let descriptor: Int32

    init(_ path: String) throws(LoadError) {
        descriptor = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .storeFailed(reason: "\(path): \(systemError(errno))")
        }
        while flock(descriptor, LOCK_EX) != 0 {
            let code = errno
            guard code == EINTR else {
                close(descriptor)
                throw .storeFailed(reason: "\(path): \(systemError(code))")
            }
        }
    }

    /// Releases the lock; the system does so too when the process is killed.
    func release() { close(descriptor) }
}
