// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import GRDB

/// The file of a ``RenditionStore``: where it lies, how it is opened and what stands in it.
struct StoreFile: Sendable {
    /// Changes with the tables, and whenever the same request would make another picture.
    static let version = 1

    let directory: String
    var path: String { "\(directory)/renditions.sqlite" }
    /// Where a database goes that cannot be used; only the latest is kept.
    var asidePath: String { "\(path).aside" }

    init(directory: String) throws(LoadError) {
        self.directory = directory
        try makeDirectory(directory)
    }

    /// The database, made or replaced if need be.
    func open() throws(LoadError) -> DatabasePool {
        let lock = try FileLock("\(directory)/renditions.lock")
        defer { lock.release() }
        do {
            do {
                return try openCurrent()
            } catch  where Self.isDamage(error) || error is OtherVersion {
                moveAside()
                return try openCurrent()
            }
        } catch {
            throw .storeFailed(reason: "\(path): \(error)")
        }
    }

    /// A new database in place of one that turned out to be damaged.
    func openAnew() throws(LoadError) -> DatabasePool {
        do {
            let lock = try FileLock("\(directory)/renditions.lock")
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

    private struct OtherVersion: Error {}

    private func openCurrent() throws -> DatabasePool {
        // SQLite gives its other files the permissions of the first.
        let descriptor = unsafe Glibc.open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw LoadError.storeFailed(reason: systemError(errno)) }
        Glibc.close(descriptor)
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 8
        // With the write-ahead log GRDB sets `synchronous` to NORMAL: a crash of the machine may
        // lose the last renditions, and never leaves a part of one.
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in
            let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
            let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
            if version == 0 && tables == 0 { return try db.execute(sql: Self.schema) }
            guard version == Self.version else { throw OtherVersion() }
        }
        return pool
    }

    private func moveAside() {
        unsafe _ = rename(path, asidePath)
        for suffix in ["-wal", "-shm"] { unsafe _ = unlink(path + suffix) }
    }

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
        PRAGMA user_version = \(version);
        """
}

/// Makes a directory and those above it, private to the user.
private func makeDirectory(_ path: String) throws(LoadError) {
    var built = path.hasPrefix("/") ? "/" : ""
    for name in path.split(separator: "/") {
        built += "\(name)/"
        if unsafe mkdir(built, 0o700) == 0 { continue }
        let code = errno
        // One that exists is refused for other reasons too, such as a file system only for reading.
        var status = stat()
        guard unsafe stat(built, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw .storeFailed(reason: "\(built): \(systemError(code))")
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
