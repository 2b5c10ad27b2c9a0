// SPDX-License-Identifier: Apache-2.0

/// Which part of a file a `Range` header asks for.
enum ByteRange: Equatable {
    /// All of it: there is no range, it makes no sense, or it has several parts, which are never
    /// answered in parts because thousands of them cost nothing to ask for.
    case whole
    case part(Range<Int>)
    /// It starts behind the end.
    case unsatisfiable

    /// - Parameters:
    ///   - header: such as `bytes=0-99`, `bytes=100-` or, for the last bytes, `bytes=-100`.
    ///   - byteCount: the bytes of the whole file.
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

    /// Digits only; a number that no file reaches stands for any such number.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text) ?? .max
    }
}
