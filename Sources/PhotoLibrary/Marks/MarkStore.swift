// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import EncodedImages
internal import GRDB
internal import ImageLoading
internal import LoadScheduling
internal import Logging
internal import Synchronization

/// The marks of a library in a database of their own, which survives that of the index.
///
/// A mark belongs to a path, and to the version of the file there: a file that is moved keeps its mark, as
/// does one that is replaced. All marks are in memory. All functions but ``mark(of:at:)`` block.
///
/// Lock: held for table lookups.
final class MarkStore: Sendable {
    private struct Marks {
        var byPath: [ComparedByBytes: (mark: ImageMark, version: FileVersion)] = [:]
        var byVersion: [FileVersion: ImageMark] = [:]

        mutating func set(_ mark: ImageMark, _ path: String, _ version: FileVersion) {
            let key = ComparedByBytes(path)
            if let old = byPath[key] { byVersion[old.version] = nil }
            byPath[key] = mark.isEmpty ? nil : (mark, version)
            byVersion[version] = mark.isEmpty ? nil : mark
        }
    }

    private static let schema = """
        CREATE TABLE mark (
            path TEXT NOT NULL PRIMARY KEY,
            favourite INTEGER NOT NULL,
            rating INTEGER,
            byte_count INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        );
        """

    private let database: StoreDatabase
    private let marks: Mutex<Marks>

    /// Opens the database of a library, and reads all marks.
    ///
    /// - Throws: `LoadError.storeFailed(reason:)`.
    init(directory: String, root: String, logger: Logger) throws(LoadError) {
        database = try StoreDatabase(
            StoreFile(
                directory: directory, name: "marks-\(Self.name(ofRoot: root))", version: 1,
                schema: Self.schema), logger: logger)
        let rows = database.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM mark")
        }
        var marks = Marks()
        for row in rows ?? [] {
            // A damaged row is left as it is, and ignored.
            guard let (path, mark, version) = try? Self.values(row) else { continue }
            marks.set(mark, path, version)
        }
        self.marks = Mutex(marks)
    }

    /// A short name for the path of a library, for the files of its databases.
    static func name(ofRoot root: String) -> String {
        var hash = StableHash()
        hash.combine(root)
        return String(hash.value, radix: 36)
    }

    func close() { database.close() }

    /// Returns the mark of a file.
    func mark(of identity: FileIdentity, at path: String) -> ImageMark {
        marks.withLock {
            $0.byPath[ComparedByBytes(path)]?.mark ?? $0.byVersion[FileVersion(identity)]
                ?? ImageMark()
        }
    }

    /// Changes the marks of files.
    ///
    /// - Returns: the new marks, in the order of the files; `nil` if they could not be stored.
    func change(
        _ files: [(path: String, identity: FileIdentity)], _ change: MarkChange
    ) -> [ImageMark]? {
        store(
            files.map { path, identity in
                (path, identity, change.applied(to: mark(of: identity, at: path)))
            })
    }

    /// Gives the mark of a file that was moved or replaced to its path and version.
    func follow(_ files: [(path: String, identity: FileIdentity)]) {
        let moved = files.compactMap { path, identity -> (String, FileIdentity, ImageMark)? in
            let version = FileVersion(identity)
            return marks.withLock { marks in
                let known = marks.byPath[ComparedByBytes(path)]
                guard let mark = known?.mark ?? marks.byVersion[version],
                    known?.version != version
                else { return nil }
                return (path, identity, mark)
            }
        }
        if !moved.isEmpty { _ = store(moved) }
    }

    private func store(
        _ files: [(path: String, identity: FileIdentity, mark: ImageMark)]
    ) -> [ImageMark]? {
        let isStored = database.write { db in
            for (path, identity, mark) in files {
                if mark.isEmpty {
                    try db.cachedStatement(sql: "DELETE FROM mark WHERE path = ?")
                        .execute(arguments: [path])
                    continue
                }
                let version = FileVersion(identity)
                try db.cachedStatement(
                    sql: "INSERT OR REPLACE INTO mark VALUES (?, ?, ?, ?, ?, ?, ?)"
                ).execute(arguments: [
                    path, mark.isFavourite, mark.rating, version.byteCount,
                    version.modificationTime, Int64(bitPattern: version.inode),
                    Self.checksum(path, mark, version),
                ])
            }
            return true
        }
        guard isStored == true else { return nil }
        marks.withLock { marks in
            for (path, identity, mark) in files { marks.set(mark, path, FileVersion(identity)) }
        }
        return files.map(\.mark)
    }

    private struct Damage: Error {}

    private static func values(_ row: Row) throws -> (String, ImageMark, FileVersion) {
        let path = try row.decode(String.self, forColumn: "path")
        let mark = ImageMark(
            isFavourite: try row.decode(Int.self, forColumn: "favourite") == 1,
            rating: try row.decode(Int?.self, forColumn: "rating"))
        let version = FileVersion(
            byteCount: try row.decode(Int.self, forColumn: "byte_count"),
            modificationTime: try row.decode(Int.self, forColumn: "modified"),
            inode: UInt64(bitPattern: try row.decode(Int64.self, forColumn: "inode")))
        guard try row.decode(Int64.self, forColumn: "checksum") == checksum(path, mark, version)
        else { throw Damage() }
        return (path, mark, version)
    }

    private static func checksum(
        _ path: String, _ mark: ImageMark, _ version: FileVersion
    ) -> Int64 {
        var sum = RowChecksum()
        sum.add(path)
        for number in [
            mark.isFavourite ? 1 : 0, mark.rating ?? -1, version.byteCount,
            version.modificationTime, Int(truncatingIfNeeded: version.inode),
        ] { sum.add(number) }
        return sum.value
    }
}
