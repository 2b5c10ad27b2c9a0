// SPDX-License-Identifier: Apache-2.0

/// The name that an ICC profile gives itself, such as `Display P3`; `nil` if it cannot be read.
///
/// - SeeAlso: ICC.1:2022, sections 7.3 (tag table) and 10.15 (`mluc`); ICC.1:2001-04, section
///   6.5.17 (`desc`).
func iccProfileDescription(_ profile: [UInt8]) -> String? {
    guard let tagCount = number(profile, at: 128) else { return nil }
    for index in 0..<min(tagCount, 100) {
        let entry = 132 + index * 12
        guard let signature = text(profile, at: entry, count: 4) else { return nil }
        guard signature == "desc" else { continue }
        guard let start = number(profile, at: entry + 4),
            let type = text(profile, at: start, count: 4)
        else { return nil }
        return type == "mluc" ? localized(profile, at: start) : ascii(profile, at: start)
    }
    return nil
}

/// The first of the translations; profiles for general use have only one.
private func localized(_ profile: [UInt8], at start: Int) -> String? {
    guard let count = number(profile, at: start + 20), let offset = number(profile, at: start + 24),
        count % 2 == 0, let bytes = slice(profile, at: start + offset, count: count)
    else { return nil }
    let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
        UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
    return String(decoding: units.prefix { $0 != 0 }, as: UTF16.self)
}

private func ascii(_ profile: [UInt8], at start: Int) -> String? {
    guard let count = number(profile, at: start + 8) else { return nil }
    return text(profile, at: start + 12, count: count)
}

private func text(_ profile: [UInt8], at start: Int, count: Int) -> String? {
    slice(profile, at: start, count: count).map {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
}

/// A big-endian number of 32 bits.
private func number(_ profile: [UInt8], at start: Int) -> Int? {
    slice(profile, at: start, count: 4)?.reduce(0) { $0 << 8 | Int($1) }
}

private func slice(_ profile: [UInt8], at start: Int, count: Int) -> ArraySlice<UInt8>? {
    guard start <= profile.count, count <= profile.count - start else { return nil }
    return profile[start..<start + count]
}
