// SPDX-License-Identifier: Apache-2.0

/// The part of a file that a `Range` header requests (RFC 9110, section 14.2).
enum ByteRange: Equatable {
    /// The whole file: the header is missing, invalid, or has several ranges.
    ///
    /// Several ranges are ignored because thousands of them cost a client nothing.
    case whole
    /// One range of bytes.
    case part(Range<Int>)
    /// The range starts at or after the end of the file.
    case unsatisfiable

    /// - Parameters:
    ///   - header: the header's value, such as `bytes=0-99`, `bytes=100-` or, for the last bytes,
    ///     `bytes=-100`.
    ///   - byteCount: the number of bytes of the file.
    init(_ header: String?, byteCount: Int) {
        self = header.flatMap { Self.parse($0, byteCount: byteCount) } ?? .whole
    }

    private static func parse(_ header: String, byteCount: Int) -> ByteRange? {
        let prefix = "bytes="
        guard header.hasPrefix(prefix) else { return nil }
        let bounds = header.dropFirst(prefix.count).split(
            separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2 else { return nil }
        let first = number(bounds[0])
        let last = number(bounds[1])
        switch (first, last) {
        case (let first?, let last?) where first <= last:
            guard first < byteCount else { return .unsatisfiable }
            return .part(first..<min(last, byteCount - 1) + 1)
        case (let first?, nil) where bounds[1].isEmpty:
            return first < byteCount ? .part(first..<byteCount) : .unsatisfiable
        case (nil, let count?) where bounds[0].isEmpty:
            guard count > 0, byteCount > 0 else { return .unsatisfiable }
            return .part(max(0, byteCount - count)..<byteCount)
        default: return nil
        }
    }

    /// Parses digits; a number beyond `Int.max` becomes `Int.max`.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text) ?? .max
    }
}
