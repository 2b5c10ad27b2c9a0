// SPDX-License-Identifier: Apache-2.0

/// Lays out a table whose columns stand below each other.
///
/// - Parameters:
///   - rows: the cells, as many in each row.
///   - nameCount: so many columns begin at the left, as words do; the rest end at the right, as
///     numbers do.
/// - Returns: a line a row.
func tableLines(_ rows: [[String]], nameCount: Int) -> [String] {
    let widths = (rows.first ?? []).indices.map { column in
        rows.map { $0[column].count }.max() ?? 0
    }
    return rows.map { row in
        row.indices.map { column in
            let gap = String(repeating: " ", count: widths[column] - row[column].count)
            return column < nameCount ? row[column] + gap : gap + row[column]
        }.joined(separator: "  ")
    }
}
