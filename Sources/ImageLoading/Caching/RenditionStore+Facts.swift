// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import EncodedImages
internal import Foundation
internal import GRDB
internal import Pixels
internal import Placeholders

extension RenditionStore {
    /// Returns the stored facts of `originals`, from one query.
    ///
    /// - Parameter originals: at most some thousands, the number of parameters that SQLite accepts.
    /// - Returns: the stored facts; missing and damaged ones are left out.
    public func facts(of originals: [FileIdentity]) -> [FileIdentity: ImageFacts] {
        guard !originals.isEmpty else { return [:] }
        let places = databaseQuestionMarks(count: originals.count)
        let known = read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT path, version, format_name, media_type, width, height, checksum,
                            CASE WHEN typeof(placeholder) = 'blob'
                                AND length(placeholder) <= \(ThumbHash.largestByteCount)
                                THEN placeholder END AS placeholder,
                            placeholder_checksum
                        FROM original WHERE path IN (\(places))
                        """),
                arguments: StatementArguments(originals.map(\.path)))
            var known: [ComparedByBytes: KeptFactsRow] = [:]
            while let row = try rows.next() {
                // A damaged row is replaced with the facts of the file.
                guard let kept = try? KeptFactsRow(row) else { continue }
                known[ComparedByBytes(kept.original.name)] = kept
            }
            return known
        }
        var facts: [FileIdentity: ImageFacts] = [:]
        for original in originals {
            guard let kept = known?[ComparedByBytes(original.path)],
                kept.original.version == original.version
            else { continue }
            facts[original] = kept.facts
        }
        return facts
    }

    /// Stores facts by the identity of their files; a failure is logged, not reported.
    public func insert(_ facts: [FileIdentity: ImageFacts]) {
        write { db in
            let statement = try db.cachedStatement(
                sql: """
                    INSERT INTO original (path, version, format_name, media_type, width, height,
                        checksum, placeholder, placeholder_checksum)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (path) DO UPDATE SET
                        version = excluded.version, format_name = excluded.format_name,
                        media_type = excluded.media_type, width = excluded.width,
                        height = excluded.height, checksum = excluded.checksum,
                        placeholder = CASE
                            WHEN version = excluded.version AND excluded.placeholder IS NULL
                            THEN placeholder ELSE excluded.placeholder END,
                        placeholder_checksum = CASE
                            WHEN version = excluded.version AND excluded.placeholder IS NULL
                            THEN placeholder_checksum ELSE excluded.placeholder_checksum END
                    """)
            for (original, facts) in facts {
                let row = KeptFactsRow(original: OriginalVersion(original), facts: facts)
                try statement.execute(arguments: [
                    original.path, original.version, facts.formatName, facts.mediaType,
                    facts.pixelSize.width, facts.pixelSize.height, row.checksum,
                    facts.placeholder.map { Data($0.bytes) },
                    facts.placeholder.map { row.checksum(of: $0) },
                ])
            }
        }
        // Placeholders are inserted with every decode, other facts once for a folder.
        if facts.values.contains(where: { $0.placeholder == nil }) {
            tidySoon()
        } else {
            tidyNowAndThen()
        }
    }
}

/// A row with the facts of an original.
private struct KeptFactsRow {
    struct Damage: Error {}

    let original: OriginalVersion
    var facts: ImageFacts

    /// The checksum of all columns but the placeholder, which stays when the others are updated.
    var checksum: Int64 {
        var checksum = RowChecksum()
        for text in [original.name, original.version, facts.formatName, facts.mediaType] {
            checksum.add(text)
        }
        checksum.add(facts.pixelSize.width)
        checksum.add(facts.pixelSize.height)
        return checksum.value
    }

    /// Returns the checksum of a placeholder and of its original.
    func checksum(of placeholder: ThumbHash) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(original.name)
        checksum.add(original.version)
        checksum.add(placeholder.bytes)
        return checksum.value
    }
}

extension KeptFactsRow {
    /// Reads a row of ``RenditionStore/facts(of:)`` by the indices of its columns.
    ///
    /// GRDB would search for their names in every row. A damaged placeholder is left out, and made again
    /// with the next image.
    ///
    /// - Throws: an error for a damaged row.
    init(_ row: Row) throws {
        let size = PixelSize(
            width: try row.decode(Int.self, atIndex: 4),
            height: try row.decode(Int.self, atIndex: 5))
        self.init(
            original: OriginalVersion(
                try row.decode(String.self, atIndex: 0),
                version: try row.decode(String.self, atIndex: 1)),
            facts: ImageFacts(
                formatName: try row.decode(String.self, atIndex: 2),
                mediaType: try row.decode(String.self, atIndex: 3), pixelSize: size))
        guard try row.decode(Int64.self, atIndex: 6) == checksum, !size.isEmpty else {
            throw Damage()
        }
        guard let bytes = try row.decode(Data?.self, atIndex: 7),
            let placeholder = try? ThumbHash(bytes: Array(bytes)),
            let kept = try? row.decode(Int64.self, atIndex: 8),
            kept == checksum(of: placeholder)
        else { return }
        facts.placeholder = placeholder
    }
}
