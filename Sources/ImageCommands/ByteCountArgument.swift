// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// Parses a byte count such as `512MB` or `2GiB`.
///
/// - Parameter text: A whole number, optionally followed by `B`, `KB`, `MB`, `GB`, `TB` (powers of
///   1000) or `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024), in upper or lower case.
/// - Returns: The number of bytes.
/// - Throws: `ValidationError` for any other text, or a count over `Int.max`.
package func parseByteCount(_ text: String) throws -> Int {
    let units = [
        "": 1, "B": 1, "KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
        "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
    ]
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    if let number = Int(digits), let unit = units[text.dropFirst(digits.count).uppercased()] {
        let (byteCount, overflow) = number.multipliedReportingOverflow(by: unit)
        if !overflow { return byteCount }
    }
    throw ValidationError(
        "invalid byte count: \(text); use a number and a unit, such as 500MB or 2GiB")
}
