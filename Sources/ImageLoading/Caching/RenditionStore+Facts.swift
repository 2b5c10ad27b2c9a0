// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Pixels

extension RenditionStore {
    /// The facts that are known of `originals`, found in one query.
    ///
    /// - Parameter originals: at most some thousands, the number of parameters that SQLite takes.
    /// - Returns: those that are known; the others are missing.
    public func facts(of originals: [FileIdentity]) -> [FileIdentity: ImageFacts] {
        guard !originals.isEmpty else { return [:] }
        let places = databaseQuestionMarks(count: originals.count)
        let rows = read { db in
            try Row.fetchAll(
                db.cachedStatement(sql: "SELECT * FROM original WHERE path IN (\(places))"),
                arguments: StatementArguments(originals.map(\.path)))
        }
        let known = Dictionary(
            uniqueKeysWithValues: (rows ?? []).map { ($0["path"] as String, $0) })
        var facts: [FileIdentity: ImageFacts] = [:]
        for original in originals {
            guard let row = known[original.path], row["version"] == original.version else {
                continue
            }
            facts[original] = ImageFacts(
                formatName: row["format_name"], mediaType: row["media_type"],
                pixelSize: PixelSize(width: row["width"], height: row["height"]))
        }
        return facts
    }

    public func insert(_ facts: [FileIdentity: ImageFacts]) {
        write { db in
            let statement = try db.cachedStatement(
                sql: "INSERT OR REPLACE INTO original VALUES (?, ?, ?, ?, ?, ?)")
            for (original, facts) in facts {
                try statement.execute(arguments: [
                    original.path, original.version, facts.formatName, facts.mediaType,
                    facts.pixelSize.width, facts.pixelSize.height,
                ])
            }
        }
        tidySoon()
    }
}
