// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import EncodedImages
internal import GRDB
internal import ImageLoading
internal import LoadScheduling
internal import Logging

/// The images of a library in a database.
///
/// All functions block; a failure is logged by the database, and reads as if there were nothing.
final class LibraryStore: Sendable {
    /// A file as the store knows it.
    struct KnownFile: Sendable {
        let row: ImageRow
        /// The path of its folder in the library.
        @ComparedByBytes var folder: String

        /// Its path in the library.
        var path: String { folder.appending(name: row.name) }
    }

    let database: StoreDatabase
    let marks: MarkStore

    /// - Parameters:
    ///   - directory: the folder of the cache.
    ///   - root: the path of the library, which selects the database.
    ///   - logger: receives the errors of the database at `debug`.
    /// - Throws: `LoadError.storeFailed(reason:)`.
    init(directory: String, root: String, logger: Logger) throws(LoadError) {
        database = try StoreDatabase(.library(directory: directory, root: root), logger: logger)
        marks = try MarkStore(directory: directory, root: root, logger: logger)
    }

    func close() {
        database.close()
        marks.close()
    }

    /// Calls `body` with all images, newest first, in parts.
    func forEachPart(_ body: ([(id: ImageID, aspect: UInt8)]) -> Void) {
        var last = Int64.max
        while let images = part(before: last), let oldest = images.last?.id {
            last = oldest.rawValue
            body(images)
        }
    }

    /// The images before a number, in descending order; none after the last one.
    private func part(before last: Int64) -> [(id: ImageID, aspect: UInt8)]? {
        let count = 20_000
        return database.read { db in
            // A cursor does not copy the rows.
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT id, aspect FROM image INDEXED BY image_aspect WHERE id < ?
                        ORDER BY id DESC LIMIT \(count)
                        """),
                arguments: [last])
            var images: [(id: ImageID, aspect: UInt8)] = []
            images.reserveCapacity(count)
            while let row = try rows.next() {
                guard let id = try? row.decode(Int64.self, atIndex: 0) else { continue }
                let aspect = (try? row.decode(Int.self, atIndex: 1)) ?? 0
                images.append((ImageID(rawValue: id), UInt8(exactly: aspect) ?? 0))
            }
            return images
        }
    }

    /// The paths of all folders with images.
    func folders() -> [String] {
        let rows = database.read { db in
            try Row.fetchAll(db.cachedStatement(sql: "SELECT path FROM folder"))
        }
        return (rows ?? []).compactMap { try? $0.decode(String.self, forColumn: "path") }
    }

    /// The images whose folder has no row, or one whose path is damaged: a path that is a blob equals no text,
    /// although it reads like one.
    func imagesWithoutFolder() -> [ImageID] {
        let ids = database.read { db in
            try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT id FROM image INDEXED BY image_folder
                        WHERE folder NOT IN (SELECT id FROM folder WHERE typeof(path) = 'text')
                        """))
        }
        return (ids ?? []).map(ImageID.init)
    }

    /// The known files of a folder by name, and the numbers of rows that are damaged.
    func files(
        inFolder path: String
    ) -> (files: [ComparedByBytes: ImageRow], damaged: [ImageID]) {
        let rows = database.read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT \(ImageRow.columns) FROM image
                        WHERE folder = (SELECT id FROM folder WHERE path = ?)
                        """),
                arguments: [path])
        }
        var files: [ComparedByBytes: ImageRow] = [:]
        var damaged: [ImageID] = []
        for row in rows ?? [] {
            if let image = try? ImageRow(row) {
                files[ComparedByBytes(image.name)] = image
            } else if let id = try? row.decode(Int64.self, forColumn: "id") {
                damaged.append(ImageID(rawValue: id))
            }
        }
        return (files, damaged)
    }

    /// The newest files that have not been read.
    func unread(limit: Int) -> [KnownFile] {
        knownFiles(
            """
            SELECT \(ImageRow.columns), folder.path FROM image JOIN folder ON folder.id = folder
            WHERE state = 0 ORDER BY image.id DESC LIMIT \(limit)
            """, [])
    }

    /// The number of files that have not been read.
    func unreadCount() -> Int {
        database.read { db in
            try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM image WHERE state = 0"))
        } ?? 0
    }

    /// The images of a range, newest first.
    func images(
        _ range: ClosedRange<ImageID>, offset: Int, limit: Int
    ) -> [KnownFile] {
        knownFiles(
            """
            SELECT \(ImageRow.columns), folder.path FROM image JOIN folder ON folder.id = folder
            WHERE image.id BETWEEN ? AND ? ORDER BY image.id DESC LIMIT ? OFFSET ?
            """,
            [range.lowerBound.rawValue, range.upperBound.rawValue, limit, offset])
    }

    /// The image at a path in the library.
    func image(at path: String) -> KnownFile? {
        let (folder, name) = Self.parts(of: path)
        return knownFiles(
            """
            SELECT \(ImageRow.columns), folder.path FROM image JOIN folder ON folder.id = folder
            WHERE folder.path = ? AND name = ?
            """, [folder, name]
        ).first
    }

    /// The numbers of the images at some paths; missing ones are left out.
    func ids(at paths: [String]) -> [ImageID] {
        let ids = database.read { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT image.id FROM image JOIN folder ON folder.id = folder
                    WHERE folder.path = ? AND name = ?
                    """)
            return try paths.compactMap { path in
                let (folder, name) = Self.parts(of: path)
                return try Int64.fetchOne(statement, arguments: [folder, name])
            }
        }
        return (ids ?? []).map(ImageID.init)
    }

    /// What the user has said about an image.
    func mark(of file: KnownFile) -> ImageMark {
        marks.mark(of: file.identity(in: ""), at: file.path)
    }

    private static func parts(of path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
        return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
    }

    /// The newest readable images in a folder and those inside it.
    func newest(inFolder path: String, limit: Int) -> [KnownFile] {
        let ids = database.read { db in
            var ids: [Int64] = []
            let folders = try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT id FROM folder WHERE path = ? OR (path > ? AND path < ?)
                        """),
                // The character after the slash.
                arguments: [path, path + "/", path + "0"])
            for folder in folders {
                ids += try Int64.fetchAll(
                    db.cachedStatement(
                        sql: """
                            SELECT id FROM image INDEXED BY image_folder
                            WHERE folder = ? AND state = 1 ORDER BY id DESC LIMIT ?
                            """),
                    arguments: [folder, limit])
            }
            return ids
        }
        return images((ids ?? []).sorted(by: >).prefix(limit).map(ImageID.init))
    }

    /// The images of some numbers, newest first.
    func images(_ ids: [ImageID]) -> [KnownFile] {
        guard !ids.isEmpty else { return [] }
        return knownFiles(
            """
            SELECT \(ImageRow.columns), folder.path FROM image JOIN folder ON folder.id = folder
            WHERE image.id IN (\(databaseQuestionMarks(count: ids.count))) ORDER BY image.id DESC
            """, StatementArguments(ids.map(\.rawValue)))
    }

    private func knownFiles(_ sql: String, _ arguments: StatementArguments) -> [KnownFile] {
        let rows = database.read { db in
            try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments)
        }
        return (rows ?? []).compactMap { row in
            guard let image = try? ImageRow(row),
                let path = try? row.decode(String.self, forColumn: "path")
            else { return nil }
            return KnownFile(row: image, folder: path)
        }
    }
}
