// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A number of bytes as people write it, such as `512MB` or `2GiB`.
///
/// - Parameter text: a whole number, then nothing, `KB`, `MB`, `GB`, `TB` (powers of 1000) or
///   `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024), in any case.
/// - Returns: the bytes.
/// - Throws: `ValidationError`, saying how a number of bytes is written.
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
    throw ValidationError("a number of bytes is written 500MB, 2GB or 2GiB")
}
