// SPDX-License-Identifier: Apache-2.0

/// The path of an address, taken apart and decoded exactly once.
struct RequestPath {
    /// The names between the slashes; a slash at the end adds none.
    let segments: [String]
    /// Whether it can only be meant for a folder.
    let endsWithSlash: Bool

    /// Fails for an address that no file that is served can have.
    ///
    /// - Parameter path: as it was sent, percent-encoded, from the first slash to before the query.
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

    /// Whether files of this name are served, wherever they stand.
    ///
    /// Hidden ones are not, and so neither are `.` and `..`; nor are names with a character that
    /// separates folders here or on another system, or that ends a name in C.
    static func isServed(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.first != UInt8(ascii: ".")
            && !name.utf8.contains { [0, UInt8(ascii: "/"), UInt8(ascii: "\\")].contains($0) }
    }

    /// The names of a path that is one segment of an address, such as `house/1.jpg`.
    ///
    /// - Returns: `nil` if no file that is served can have it.
    static func names(_ path: String) -> [String]? {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return names.allSatisfy(isServed) ? names : nil
    }

    /// A segment without its percent-encoding, if it is text.
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
