// SPDX-License-Identifier: Apache-2.0

public import LoadScheduling

/// A normalized `http` or `https` URL.
///
/// Scheme and host are in lower case, the default port and the fragment are removed, dot segments
/// are resolved, and characters that a URL must not contain are percent-encoded. URLs with user
/// information are rejected, because it mostly disguises the host.
/// - SeeAlso: RFC 3986.
public struct HTTPURL: Hashable, Sendable {
    /// The scheme of a URL.
    public enum Scheme: String, Hashable, Sendable { case http, https }

    /// The scheme.
    public let scheme: Scheme
    /// The host name or IP address, an IPv6 address in brackets.
    public let host: String
    /// The port, `nil` for the default port of the scheme.
    public let port: Int?
    /// The path, at least `/`, with the query.
    public let path: String

    /// The host, with the port unless it is the default port.
    public var authority: String { port.map { "\(host):\($0)" } ?? host }

    /// Returns whether scheme, host and port are the same.
    public func hasSameOrigin(as other: HTTPURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// - Throws: `LoadError.addressRefused(url:reason:)`.
    public init(_ text: String) throws(LoadError) {
        guard let colon = text.firstIndex(of: ":"),
            text[text.index(after: colon)...].hasPrefix("//")
        else { throw .addressRefused(url: text, reason: "not an absolute URL") }
        guard let scheme = Scheme(rawValue: text[..<colon].lowercased()) else {
            throw .addressRefused(url: text, reason: "the scheme is neither http nor https")
        }
        try self.init(scheme, text[colon...].dropFirst(3), text)
    }

    /// Resolves a reference, such as the value of `Location`, against a base URL (RFC 3986, section
    /// 5).
    ///
    /// - Throws: `LoadError.addressRefused(url:reason:)`.
    public init(_ reference: String, relativeTo base: HTTPURL) throws(LoadError) {
        if reference.hasPrefix("//") {
            try self.init(base.scheme, reference.dropFirst(2), reference)
            return
        }
        let scheme = reference.prefix { !":/?#".contains($0) }
        if scheme.endIndex < reference.endIndex, reference[scheme.endIndex] == ":" {
            try self.init(reference)
            return
        }
        let basePath = base.path.prefix { $0 != "?" }
        let relative = Substring(reference.utf8.prefix { $0 != UInt8(ascii: "#") })
        let joined: String =
            switch relative.first {
            case nil: base.path
            case "/": String(relative)
            case "?": String(basePath + relative)
            default:
                String(basePath[...(basePath.lastIndex(of: "/") ?? basePath.startIndex)] + relative)
            }
        self.init(base, path: normalized(path: joined[...].utf8))
    }

    private init(_ base: HTTPURL, path: String) {
        scheme = base.scheme
        host = base.host
        port = base.port
        self.path = path
    }

    private init(_ scheme: Scheme, _ rest: Substring, _ text: String) throws(LoadError) {
        let authority = rest.prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else {
            throw .addressRefused(url: text, reason: "user information is not allowed in a URL")
        }
        let colon = authority.lastIndex(of: ":").flatMap { colon in
            authority[colon...].contains("]") ? nil : colon
        }
        let host = authority[..<(colon ?? authority.endIndex)].lowercased()
        guard isValid(host: host) else {
            throw .addressRefused(url: text, reason: "invalid host")
        }
        var port: Int?
        if let colon {
            let digits = authority[authority.index(after: colon)...]
            port = digits.utf8.allSatisfy(isDigit) ? Int(digits) : nil
            guard digits.isEmpty || port.map({ (1...65535).contains($0) }) == true else {
                throw .addressRefused(url: text, reason: "invalid port")
            }
        }
        self.scheme = scheme
        self.host = host
        self.port = port == (scheme == .http ? 80 : 443) ? nil : port
        let path = rest[authority.endIndex...].utf8.prefix { $0 != UInt8(ascii: "#") }
        self.path = normalized(path: path)
    }
}

extension HTTPURL {
    /// Whether percent-decoding the path, once or twice, yields a dot segment.
    ///
    /// Servers that decode a path before they resolve dot segments would serve another path. Dot
    /// segments that are not encoded have been resolved.
    public var hasEscapedDotSegments: Bool {
        var bytes = Array(path.prefix { $0 != "?" }.utf8)
        for _ in 0..<2 {
            bytes = unescaped(bytes)
            let segments = bytes.split(omittingEmptySubsequences: false) {
                $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\")
            }
            if segments.contains(where: {
                [Array(".".utf8)[...], Array("..".utf8)[...]].contains($0)
            }) {
                return true
            }
        }
        return false
    }
}

/// Returns the percent-decoded bytes; invalid escapes stay as they are.
private func unescaped(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
        let digits = rest.prefix(2)
        if byte == UInt8(ascii: "%"), digits.count == 2, digits.first != UInt8(ascii: "+"),
            digits.first != UInt8(ascii: "-"),
            let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
        {
            result.append(value)
            rest = rest.dropFirst(2)
        } else {
            result.append(byte)
        }
    }
    return result
}

extension HTTPURL: CustomStringConvertible {
    /// The URL as text.
    public var description: String { "\(scheme.rawValue)://\(authority)\(path)" }
}

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

/// Returns whether a host is a name of letters, digits, dots, hyphens and underscores, or an IPv6
/// address in brackets.
///
/// Internationalized names must be in their ASCII form (RFC 5891).
private func isValid(host: String) -> Bool {
    let bytes = Array(host.utf8)
    if bytes.first == UInt8(ascii: "[") {
        return bytes.count > 2 && bytes.last == UInt8(ascii: "]")
            && bytes[1..<(bytes.count - 1)].allSatisfy {
                isDigit($0) || (0x61...0x66).contains($0) || $0 == UInt8(ascii: ":")
                    || $0 == UInt8(ascii: ".")
            }
    }
    return !bytes.isEmpty && bytes.count <= 253
        && bytes.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0) || "-._".utf8.contains($0) }
}

/// Returns path and query with dot segments removed and other characters percent-encoded.
///
/// The path is split by bytes: a combining mark forms one character with a slash or question mark.
private func normalized(path: Substring.UTF8View) -> String {
    let query = path.firstIndex(of: UInt8(ascii: "?")) ?? path.endIndex
    var segments: [Substring] = []
    let parts = path[..<query].split(
        separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
    ).map { Substring($0) }
    // The first part, before the leading slash, is empty.
    for (index, part) in parts.enumerated().dropFirst() {
        let isLast = index == parts.count - 1
        switch part {
        case ".": if isLast { segments.append("") }
        case "..":
            segments = segments.dropLast()
            if isLast { segments.append("") }
        default: segments.append(part)
        }
    }
    return escaped("/" + segments.joined(separator: "/") + String(Substring(path[query...])))
}

private func escaped(_ text: String) -> String {
    text.percentEncoded { (0x21...0x7E).contains($0) && !"\"<>\\^`{|}".utf8.contains($0) }
}

extension StringProtocol {
    /// The text with all bytes percent-encoded except unreserved characters (RFC 3986, section 2.3).
    package var percentEncoded: String {
        percentEncoded { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~".utf8.contains(byte)
            }
        }
    }

    fileprivate func percentEncoded(except isKept: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in utf8 {
            if isKept(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
