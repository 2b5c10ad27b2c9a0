// SPDX-License-Identifier: Apache-2.0

/// Formats a table with aligned columns.
///
/// - Parameters:
///   - rows: The cells; all rows have the same number.
///   - nameCount: The number of columns that are aligned left; the others are aligned right.
/// - Returns: One line per row.
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
