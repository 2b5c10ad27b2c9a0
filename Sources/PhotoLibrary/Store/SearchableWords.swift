// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The words of an image that a search finds: a row of the full-text index.
struct SearchableWords: Sendable {
    var name: String
    /// The path of the folder.
    var folder: String
    var camera = ""
    var lens = ""
    var keywords: [String] = []
    var caption = ""
    var place = ""
    /// Words that stand for properties, such as `fmtjpeg`; see ``Property``.
    var kind = ""

    /// Separates keywords, which may contain spaces.
    private static let separator = "\n"

    init(name: String, folder: String) {
        self.name = name
        self.folder = folder
    }

    init(name: String, folder: String, _ description: ImageDescription, _ mark: ImageMark) {
        self.name = name
        self.folder = folder
        camera = description.camera ?? ""
        lens = description.lens ?? ""
        keywords = description.keywords
        caption = description.caption ?? ""
        place = description.place ?? ""
        kind = Property.words(of: description).joined(separator: " ")
        set(mark, rating: description.rating)
    }

    /// Replaces the words for a mark.
    ///
    /// - Parameters:
    ///   - mark: the mark.
    ///   - rating: the rating of the file.
    mutating func set(_ mark: ImageMark, rating: Int?) {
        var words = kind.split(separator: " ").filter {
            $0 != Property.favourite && !$0.hasPrefix(Property.ratingPrefix)
        }.map(String.init)
        if mark.isFavourite { words.append(Property.favourite) }
        // A search for 3 stars also finds 4.
        let stars = min(5, max(0, mark.rating ?? rating ?? 0))
        words += (0..<stars).map { Property.ratingPrefix + String($0 + 1) }
        kind = words.joined(separator: " ")
    }

    /// - Throws: an error for a damaged row.
    init(_ row: Row) throws {
        name = try row.decode(String.self, forColumn: "name")
        folder = try row.decode(String.self, forColumn: "folder")
        camera = try row.decode(String.self, forColumn: "camera")
        lens = try row.decode(String.self, forColumn: "lens")
        keywords = try row.decode(String.self, forColumn: "keyword")
            .split(separator: Self.separator).map(String.init)
        caption = try row.decode(String.self, forColumn: "caption")
        place = try row.decode(String.self, forColumn: "place")
        kind = try row.decode(String.self, forColumn: "kind")
    }

    func insert(_ db: Database, for id: ImageID) throws {
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO words
                    (rowid, name, folder, camera, lens, keyword, caption, place, kind)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            id.rawValue, name, folder, camera, lens, keywords.joined(separator: Self.separator),
            caption, place, kind,
        ])
    }

    /// The words of an image; `nil` if there are none, or they are damaged.
    static func fetch(_ db: Database, of id: ImageID) throws -> SearchableWords? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT * FROM words WHERE rowid = ?"),
            arguments: [id.rawValue]
        ).flatMap { try? SearchableWords($0) }
    }

    /// The values that completions offer, by the name of their filter.
    var values: [(kind: String, text: String)] {
        var values = keywords.map { ("keyword", $0) }
        for (kind, text) in [("camera", camera), ("lens", lens), ("place", place)]
        where !text.isEmpty { values.append((kind, text)) }
        if !folder.isEmpty { values.append(("folder", folder)) }
        for word in kind.split(separator: " ") where word.hasPrefix(Property.formatPrefix) {
            values.append(("format", String(word.dropFirst(Property.formatPrefix.count))))
        }
        return values
    }
}

/// The properties that the full-text index contains as words; no word in a file looks like them,
/// because they are searched in a column of their own.
enum Property {
    static let formatPrefix = "fmt"
    static let ratingPrefix = "rated"
    static let favourite = "favourite"

    static func words(of description: ImageDescription) -> [String] {
        guard description.error == nil else { return ["unreadable"] }
        var words = [formatPrefix + description.formatName.filter { $0.isLetter || $0.isNumber }]
        words += shapes(width: description.width, height: description.height)
        return words
    }

    private static func shapes(width: Int, height: Int) -> [String] {
        if width == height { return ["square"] }
        let isPanorama = max(width, height) / 2 >= min(width, height)
        return [width > height ? "landscape" : "portrait"] + (isPanorama ? ["panorama"] : [])
    }
}
