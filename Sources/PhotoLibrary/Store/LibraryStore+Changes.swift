// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import EncodedImages
internal import GRDB
internal import ImageLoading

/// A file that a scan found.
struct FoundFile: Sendable {
    @ComparedByBytes var name: String
    let identity: FileIdentity
}

extension LibraryStore {
    /// Adds files of a folder that are not in the store.
    ///
    /// A file that is known under another name, such as one that was moved, keeps what was read.
    ///
    /// - Returns: the changes of the timeline; none if the database failed.
    func add(_ files: [FoundFile], toFolder path: String) -> [Timeline.Change] {
        marks.follow(files.map { (path.appending(name: $0.name), $0.identity) })
        return edit { editor throws in
            let folder = try editor.folderNumber(path)
            for file in files {
                if let known = try editor.copy(of: file.identity) {
                    try editor.insert(known, as: file, folder, path)
                } else {
                    try editor.insertUnread(file, folder, path)
                }
            }
        }
    }

    /// Replaces the rows of files that have changed.
    func replace(_ files: [(id: ImageID, file: FoundFile)], inFolder path: String)
        -> [Timeline.Change]
    {
        marks.follow(files.map { (path.appending(name: $0.file.name), $0.file.identity) })
        return edit { editor throws in
            let folder = try editor.folderNumber(path)
            for (id, file) in files {
                try editor.remove(id)
                try editor.insertUnread(file, folder, path)
            }
        }
    }

    /// Removes images.
    func remove(_ ids: [ImageID]) -> [Timeline.Change] {
        edit { editor throws in for id in ids { try editor.remove(id) } }
    }

    /// Removes the folders without images.
    func removeEmptyFolders() {
        database.write { db in
            try db.execute(
                sql: """
                    DELETE FROM folder WHERE NOT EXISTS
                        (SELECT * FROM image WHERE image.folder = folder.id)
                    """)
        }
    }

    /// Stores what was read from files.
    func describe(_ descriptions: [(file: KnownFile, description: ImageDescription)])
        -> [Timeline.Change]
    {
        edit { editor throws in
            for (file, description) in descriptions {
                try editor.describe(file, description, mark(of: file))
            }
        }
    }

    /// Changes the marks of images.
    ///
    /// - Parameters:
    ///   - paths: the paths of the images in the library.
    ///   - change: the change.
    /// - Returns: the paths that are not in the library, and the changes of the timeline; `nil` if the
    ///   marks could not be stored.
    func mark(
        _ paths: [String], _ change: MarkChange
    ) -> (unknown: [String], changes: [Timeline.Change])? {
        var files: [KnownFile] = []
        var unknown: [String] = []
        for path in paths {
            if let file = image(at: path) { files.append(file) } else { unknown.append(path) }
        }
        guard let new = marks.change(files.map { ($0.path, $0.identity(in: "")) }, change) else {
            return nil
        }
        let changes = edit { editor throws in
            for (file, mark) in zip(files, new) { try editor.set(mark, of: file.row) }
        }
        return (unknown, changes)
    }

    /// Marks the files that may be readable now as unread.
    func resumePostponed() {
        let rows = database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT \(ImageRow.columns) FROM image
                    WHERE state = \(ImageRow.State.postponed.rawValue)
                    """)
        }
        let images = (rows ?? []).compactMap { try? ImageRow($0) }
        for start in stride(from: 0, to: images.count, by: 500) {
            _ = edit { editor throws in
                for var image in images[start..<min(images.count, start + 500)] {
                    image.state = .unread
                    try editor.rewrite(image)
                }
            }
        }
    }

    /// Runs `body` in one transaction.
    private func edit(_ body: (inout LibraryEditor) throws -> Void) -> [Timeline.Change] {
        database.write { db in
            var editor = LibraryEditor(db: db)
            try body(&editor)
            try editor.storeValues()
            return editor.changes
        } ?? []
    }
}

/// Changes the rows of a library in a transaction, and collects the changes of the timeline.
struct LibraryEditor {
    let db: Database
    private(set) var changes: [Timeline.Change] = []
    /// The changes of the counts in `value`.
    private var values: [ValueKey: Int] = [:]

    private struct ValueKey: Hashable {
        @ComparedByBytes var kind: String
        @ComparedByBytes var text: String
    }

    init(db: Database) { self.db = db }

    /// The number of a folder, which is added if it is new.
    func folderNumber(_ path: String) throws -> Int64 {
        try db.cachedStatement(sql: "INSERT INTO folder (path) VALUES (?) ON CONFLICT DO NOTHING")
            .execute(arguments: [path])
        let number = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM folder WHERE path = ?"), arguments: [path])
        guard let number else { throw ImageRow.Damage() }
        return number
    }

    /// What is known about a file under any name.
    func copy(of identity: FileIdentity) throws -> ImageRow? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT \(ImageRow.columns) FROM image
                    WHERE inode = ? AND byte_count = ? AND modified = ? AND state = 1 LIMIT 1
                    """),
            arguments: [
                Int64(bitPattern: identity.inode), identity.byteCount, identity.modificationTime,
            ])
        return row.flatMap { try? ImageRow($0) }
    }

    /// Adds a file with what is known about it under another name.
    mutating func insert(
        _ known: ImageRow, as file: FoundFile, _ folder: Int64, _ path: String
    ) throws {
        guard var words = try SearchableWords.fetch(db, of: known.id) else {
            return try insertUnread(file, folder, path)
        }
        var image = known
        image.id = try freeID(at: known.id.time)
        image.folder = folder
        image.name = file.name
        words.name = file.name
        words.folder = path
        try insert(image, words)
    }

    /// Adds a file by its name and modification time.
    mutating func insertUnread(_ file: FoundFile, _ folder: Int64, _ path: String) throws {
        let modified = CaptureTime(nanosecondsSince1970: file.identity.modificationTime)
        let time = CaptureTime(fileName: file.name, modified: modified) ?? modified
        let image = ImageRow(
            id: try freeID(at: time), folder: folder, name: file.name, file.identity)
        try insert(image, SearchableWords(name: file.name, folder: path))
    }

    /// Stores what was read from a file, at the place in the timeline that follows from it.
    mutating func describe(
        _ file: LibraryStore.KnownFile, _ description: ImageDescription, _ mark: ImageMark
    ) throws {
        var image = file.row
        guard try exists(image.id) else { return }
        try remove(image.id)
        if let taken = description.taken, CaptureTime(taken) != image.id.time {
            image.id = try freeID(at: CaptureTime(taken))
        }
        image.state =
            description.error == nil ? .read : description.isTransient ? .postponed : .unreadable
        image.width = description.width
        image.height = description.height
        image.rating = description.rating
        image.latitude = description.location?.latitude
        image.longitude = description.location?.longitude
        image.error = description.error
        try insert(
            image, SearchableWords(name: image.name, folder: file.folder, description, mark))
    }

    /// Replaces the words of an image for its mark.
    mutating func set(_ mark: ImageMark, of image: ImageRow) throws {
        changes.append(.mark(image.id))
        guard var words = try SearchableWords.fetch(db, of: image.id) else { return }
        words.set(mark, rating: image.rating)
        try db.cachedStatement(sql: "DELETE FROM words WHERE rowid = ?")
            .execute(arguments: [image.id.rawValue])
        try words.insert(db, for: image.id)
    }

    /// Replaces the row of an image, whose words stay.
    func rewrite(_ image: ImageRow) throws {
        try db.cachedStatement(sql: "DELETE FROM image WHERE id = ?")
            .execute(arguments: [image.id.rawValue])
        try image.insert(db)
    }

    mutating func remove(_ id: ImageID) throws {
        if let words = try SearchableWords.fetch(db, of: id) { count(words, -1) }
        for table in ["image WHERE id", "words WHERE rowid"] {
            try db.cachedStatement(sql: "DELETE FROM \(table) = ?")
                .execute(arguments: [id.rawValue])
        }
        changes.append(.remove(id))
    }

    private mutating func insert(_ image: ImageRow, _ words: SearchableWords) throws {
        try image.insert(db)
        try words.insert(db, for: image.id)
        count(words, 1)
        changes.append(.set(image.id, aspect: image.aspect))
    }

    private func exists(_ id: ImageID) throws -> Bool {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM image WHERE id = ?"), arguments: [id.rawValue])
            != nil
    }

    /// The next free number at a time, or just before it.
    private func freeID(at time: CaptureTime) throws -> ImageID {
        var id = ImageID(firstAt: time)
        while true {
            let lowest = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT min(id) FROM image WHERE id BETWEEN ? AND ?"),
                arguments: [id.lowestOfSecond, id.rawValue])
            guard let lowest else { return id }
            let next = ImageID(rawValue: lowest).next
            if next.time == id.time { return next }
            // A million images of one second.
            id = next
        }
    }

    // MARK: Values

    private mutating func count(_ words: SearchableWords, _ difference: Int) {
        for (kind, text) in words.values {
            values[ValueKey(kind: kind, text: text), default: 0] += difference
        }
    }

    /// Stores the changes of the counts of values.
    func storeValues() throws {
        for (key, difference) in values where difference != 0 {
            try db.cachedStatement(
                sql: """
                    INSERT INTO value (kind, text, count) VALUES (?, ?, ?)
                    ON CONFLICT (kind, text) DO UPDATE SET count = count + excluded.count
                    """
            ).execute(arguments: [key.kind, key.text, difference])
        }
        guard values.values.contains(where: { $0 < 0 }) else { return }
        for (key, difference) in values where difference < 0 {
            try db.cachedStatement(
                sql: "DELETE FROM value WHERE kind = ? AND text = ? AND count <= 0"
            ).execute(arguments: [key.kind, key.text])
        }
    }
}
