// SPDX-License-Identifier: Apache-2.0

/// The segments of a URL path, percent-decoded exactly once.
struct RequestPath {
    /// The decoded segments; a trailing slash adds none.
    let segments: [String]
    /// Whether the path ends with a slash.
    let endsWithSlash: Bool

    /// Parses a path; fails for one that no served file can have.
    ///
    /// - Parameter path: the percent-encoded path without the query.
    init?(_ path: String) {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        var parts = path.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        endsWithSlash = parts.last?.isEmpty == true
        if endsWithSlash { parts.removeLast() }
        var segments: [String] = []
        for part in parts {
            guard let segment = Self.decoded(part), Self.isServed(segment) else { return nil }
            segments.append(segment)
        }
        self.segments = segments
    }

    /// Whether files and folders of this name are served.
    ///
    /// Hidden names, `.` and `..` are not, nor are names with a path separator of any system or NUL.
    static func isServed(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.first != UInt8(ascii: ".")
            && !name.utf8.contains { [0, UInt8(ascii: "/"), UInt8(ascii: "\\")].contains($0) }
    }

    /// Splits a decoded path, such as `house/1.jpg`, into names.
    ///
    /// - Returns: `nil` if no served file can have the path.
    static func names(_ path: String) -> [String]? {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return names.allSatisfy(isServed) ? names : nil
    }

    /// Percent-decodes a segment; returns `nil` for invalid encoding or UTF-8.
    static func decoded(_ part: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = part[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimalDigit),
                let low = rest.popFirst().flatMap(hexadecimalDigit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
