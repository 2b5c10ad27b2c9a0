// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import DiskStore
internal import GRDB

/// A value that completes what was typed.
package struct Completion: Hashable, Sendable {
    /// The name of a filter, such as `camera`.
    package let kind: String
    package let text: String
    /// The number of images with the value.
    package let count: Int
}

extension LibraryStore {
    /// Finds images.
    ///
    /// - Parameters:
    ///   - query: at least one condition on words or the place.
    ///   - range: the numbers among which to search.
    ///   - offset: the number of newest images to leave out.
    ///   - limit: the maximum number of images.
    /// - Returns: the numbers of the newest images that meet the query, in descending order.
    func search(
        _ query: SearchQuery, _ range: ClosedRange<ImageID>, offset: Int = 0, limit: Int
    ) -> [ImageID] {
        guard !query.isImpossible else { return [] }
        if let place = query.place {
            return search(place, query, range).dropFirst(offset).prefix(limit).map { $0 }
        }
        let rows = database.read { db in
            try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?
                        ORDER BY rowid DESC LIMIT ? OFFSET ?
                        """),
                arguments: [
                    query.matchExpression, range.lowerBound.rawValue, range.upperBound.rawValue,
                    limit, offset,
                ])
        }
        return (rows ?? []).map(ImageID.init)
    }

    /// The images near a place that also meet the other conditions.
    private func search(
        _ place: SearchQuery.Place, _ query: SearchQuery, _ range: ClosedRange<ImageID>
    ) -> [ImageID] {
        let words =
            query.words.isEmpty
            ? "" : "AND id IN (SELECT rowid FROM words WHERE words MATCH ?)"
        let latitudes = place.latitudes
        var arguments: StatementArguments = [
            latitudes.lowerBound, latitudes.upperBound, range.lowerBound.rawValue,
            range.upperBound.rawValue,
        ]
        if !query.words.isEmpty { arguments += [query.matchExpression] }
        let rows = database.read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT id, latitude, longitude FROM image INDEXED BY image_location
                        WHERE latitude IS NOT NULL AND latitude BETWEEN ? AND ?
                            AND id BETWEEN ? AND ? \(words)
                        """),
                arguments: arguments)
        }
        var ids: [ImageID] = []
        for row in rows ?? [] {
            guard let id = try? row.decode(Int64.self, forColumn: "id"),
                let latitude = try? row.decode(Double.self, forColumn: "latitude"),
                let longitude = try? row.decode(Double.self, forColumn: "longitude"),
                place.distance(latitude, longitude) <= place.radius
            else { continue }
            ids.append(ImageID(rawValue: id))
        }
        return ids.sorted(by: >)
    }

    /// The most frequent values that contain a word that begins like `text`, or like the value of its
    /// filter, such as `camera:can`.
    func completions(_ text: String, limit: Int) -> [Completion] {
        var kinds = ["folder", "camera", "lens", "keyword", "format", "place"]
        var typed = text.filter { $0 != "\"" }
        if let colon = typed.firstIndex(of: ":"), kinds.contains(typed[..<colon].lowercased()) {
            kinds = [typed[..<colon].lowercased()]
            typed = String(typed[typed.index(after: colon)...])
        }
        let escaped = typed.flatMap { "\\%_".contains($0) ? "\\\($0)" : "\($0)" }
        guard !escaped.isEmpty || kinds.count == 1 else { return [] }
        let rows = database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT kind, text, count FROM value
                    WHERE kind IN (\(databaseQuestionMarks(count: kinds.count)))
                        AND (text LIKE ? ESCAPE '\\' OR text LIKE ? ESCAPE '\\'
                            OR text LIKE ? ESCAPE '\\')
                    ORDER BY count DESC, text LIMIT ?
                    """,
                arguments: StatementArguments(kinds) + [
                    "\(String(escaped))%", "% \(String(escaped))%", "%/\(String(escaped))%", limit,
                ])
        }
        return (rows ?? []).compactMap { row in
            guard let kind = try? row.decode(String.self, forColumn: "kind"),
                let text = try? row.decode(String.self, forColumn: "text"),
                let count = try? row.decode(Int.self, forColumn: "count")
            else { return nil }
            return Completion(kind: kind, text: text, count: count)
        }
    }
}

extension SearchQuery {
    /// The columns in which words without a filter are searched.
    private static let textColumns = "{name folder camera lens keyword caption place}"

    /// The conditions on words in the language of FTS5.
    fileprivate var matchExpression: String {
        words.flatMap { words in
            // A word contains no quotation marks.
            words.prefixes.map {
                "\(words.column ?? Self.textColumns) : \"\($0)\"\(words.isExact ? "" : " *")"
            }
        }.joined(separator: " AND ")
    }
}

extension SearchQuery.Place {
    private static let earthRadius = 6_371_008.8

    /// The latitudes, in degrees, outside of which no point is near.
    fileprivate var latitudes: ClosedRange<Double> {
        let reach = radius / Self.earthRadius * 180 / .pi
        return latitude - reach...latitude + reach
    }

    /// The distance of a position in metres, on a sphere with the mean radius of the earth.
    func distance(_ otherLatitude: Double, _ otherLongitude: Double) -> Double {
        let (one, other) = (latitude * .pi / 180, otherLatitude * .pi / 180)
        let width = (otherLongitude - longitude) * .pi / 180
        let chord =
            pow(sin((other - one) / 2), 2) + cos(one) * cos(other) * pow(sin(width / 2), 2)
        return 2 * Self.earthRadius * asin(min(1, chord.squareRoot()))
    }
}
