// SPDX-License-Identifier: Apache-2.0

internal import Foundation
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
                db.cachedStatement(
                    sql: """
                        SELECT path, version, format_name, media_type, width, height,
                            CASE WHEN typeof(placeholder) = 'blob'
                                AND length(placeholder) <= \(ThumbHash.largestByteCount)
                                THEN placeholder END AS placeholder
                        FROM original WHERE path IN (\(places))
                        """),
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
                pixelSize: PixelSize(width: row["width"], height: row["height"]),
                placeholder: (row["placeholder"] as Data?).flatMap {
                    // One that is damaged is made again with the next picture.
                    try? ThumbHash(bytes: Array($0))
                })
        }
        return facts
    }

    public func insert(_ facts: [FileIdentity: ImageFacts]) {
        write { db in
            let statement = try db.cachedStatement(
                sql: """
                    INSERT INTO original (path, version, format_name, media_type, width, height,
                        placeholder)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (path) DO UPDATE SET
                        version = excluded.version, format_name = excluded.format_name,
                        media_type = excluded.media_type, width = excluded.width,
                        height = excluded.height,
                        placeholder = CASE WHEN version = excluded.version
                            THEN ifnull(excluded.placeholder, placeholder)
                            ELSE excluded.placeholder END
                    """)
            for (original, facts) in facts {
                try statement.execute(arguments: [
                    original.path, original.version, facts.formatName, facts.mediaType,
                    facts.pixelSize.width, facts.pixelSize.height,
                    facts.placeholder.map { Data($0.bytes) },
                ])
            }
        }
        // A placeholder comes with every picture that is decoded, other facts with a folder.
        if facts.values.contains(where: { $0.placeholder == nil }) {
            tidySoon()
        } else {
            tidyNowAndThen()
        }
    }
}
