// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import GRDB
package import LoadScheduling

/// The file of a store: where it lies, how it is opened and which tables it has.
package struct StoreFile: Sendable {
    package let directory: String
    package let name: String
    /// Changes with the tables, and with what their rows mean.
    package let version: Int
    /// Makes the tables.
    package let schema: String

    package init(directory: String, name: String, version: Int, schema: String) {
        self.directory = directory
        self.name = name
        self.version = version
        self.schema = schema
    }

    package var path: String { "\(directory)/\(name).sqlite" }
    private var lockPath: String { "\(directory)/\(name).lock" }
    /// Where a database goes that cannot be used; only the latest is kept.
    package var asidePath: String { "\(path).aside" }

    /// Which file it is, whatever its name.
    struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64
    }

    /// Which file there is now, if there is one.
    var identity: Identity? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// The database, made or replaced if need be, as its directory is.
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

    /// A new database in place of one that turned out to be damaged.
    func openAnew() throws(LoadError) -> OpenDatabase {
        do {
            let lock = try FileLock(lockPath)
            defer { lock.release() }
            moveAside()
        }
        return try open()
    }

    /// Whether the database itself, and not one access to it, is what is wrong.
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB
    }

    /// Returns whether SQLite refuses every new row because a damaged one had the largest row number.
    ///
    /// `AUTOINCREMENT` never gives out a number again, so that a full sequence stays full when the
    /// row is removed. The error is the same as for a full disk.
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

    /// Whether opening may succeed later without a change of the file.
    ///
    /// Everything else counts as damage: a changed byte of the header may make the file one that
    /// cannot be written, of another encoding or of an unknown format.
    private static func mayPass(_ error: any Error) -> Bool {
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_BUSY?, .SQLITE_LOCKED?, .SQLITE_NOMEM?, .SQLITE_FULL?, .SQLITE_CANTOPEN?,
            .SQLITE_PERM?:
            true
        default: error is LoadError
        }
    }

    /// The tables are those of another version, or damaged.
    private struct OtherTables: Error {}

    /// Whether the tables of a database are those that ``schema`` makes.
    private func hasOwnTables(_ db: Database) throws -> Bool {
        let tables = try Row.fetchAll(
            db,
            sql: """
                SELECT ifnull(CAST(name AS TEXT), '') AS name, ifnull(CAST(sql AS TEXT), '') AS sql
                FROM sqlite_master
                WHERE ifnull(name, '') NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                """)
        let lines = schema.split(separator: "\n")
        // SQLite creates the tables that a virtual table consists of.
        let virtualNames = lines.compactMap {
            $0.hasPrefix("CREATE VIRTUAL TABLE ") ? $0.split(separator: " ")[3] + "_" : nil
        }
        let statements = try tables.compactMap { row -> String? in
            let name = try row.decode(String.self, forColumn: "name")
            guard !virtualNames.contains(where: { name.hasPrefix($0) }) else { return nil }
            return try row.decode(String.self, forColumn: "sql")
        }
        // SQLite keeps a statement as it was written.
        return statements.count == lines.count { $0.hasPrefix("CREATE ") }
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
            // A log that grew once, for want of a moment without readers, does not stay large.
            try db.execute(sql: "PRAGMA journal_size_limit = \(8 << 20)")
            // Only while there is no page yet. Free pages can then be given back step by step.
            if try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 {
                try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            }
        }
        // With the write-ahead log GRDB sets `synchronous` to NORMAL: a crash of the machine may
        // lose the last renditions, and never leaves a part of one.
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

/// Makes a directory and those above it, private to the user.
package func makeDirectory(_ path: String) throws(LoadError) {
    var built = path.hasPrefix("/") ? "/" : ""
    for name in path.split(separator: "/") {
        built += "\(name)/"
        if unsafe mkdir(built, 0o700) == 0 { continue }
        let code = errno
        // One that exists is refused for other reasons too, such as a file system only for reading.
        var status = stat()
        guard unsafe stat(built, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            let reason = systemError(code == EEXIST ? ENOTDIR : code)
            throw .storeFailed(reason: "\(built.dropLast()): \(reason)")
        }
    }
}

/// Keeps other processes from opening the same store while this one looks at what it is.
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

    /// The lock goes with the descriptor, also when the process is killed.
    func release() { close(descriptor) }
}
