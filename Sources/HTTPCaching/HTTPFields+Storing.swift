// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

extension HTTPFields {
    /// The fields as in a message; the bytes of values are kept whatever their encoding.
    var serialized: [UInt8] {
        var bytes: [UInt8] = []
        for field in self {
            bytes += Array(field.name.rawName.utf8)
            bytes += Array(": ".utf8)
            unsafe field.withUnsafeBytesOfValue { value in bytes += unsafe Array(value) }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// Parses ``serialized``; invalid lines are skipped.
    init(serialized bytes: [UInt8]) {
        self.init()
        // `HTTPFields` traps when it has too many fields.
        for line in bytes.split(separator: UInt8(ascii: "\n")).prefix(1000) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            else { continue }
            append(HTTPField(name: name, value: line[(colon + 1)...]))
        }
    }

    /// The fields of the response without those of the connection (RFC 9111, section 3.1).
    var storable: HTTPFields {
        var names: Set<String> = [
            "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info",
            "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding",
            "upgrade",
            // Private, and of no use for images.
            "set-cookie", "set-cookie2",
        ]
        for name in (self[.connection] ?? "").split(separator: ",") {
            names.insert(trimmed(name).lowercased())
        }
        return filtered { !names.contains($0.name.canonicalName) }
    }

    /// Returns the fields, replaced by those of a newer response for the same content.
    ///
    /// - SeeAlso: RFC 9111, section 3.2.
    func updated(by newer: HTTPFields) -> HTTPFields {
        // These describe the stored body, not the empty body of the newer response.
        let kept: Set = [
            HTTPField.Name.contentEncoding, .contentLength, .contentRange, .contentType,
        ]
        let newer = newer.storable.filtered { !kept.contains($0.name) }
        let replaced = Set(newer.map(\.name))
        var result = filtered { !replaced.contains($0.name) }
        for field in newer { result.append(field) }
        return result
    }

    /// Returns the strong validator: a strong `ETag`, else `Last-Modified` if the content cannot
    /// have changed twice in that second.
    ///
    /// - SeeAlso: RFC 9110, section 8.8.
    func strongValidator(responseDate: Int) -> String? {
        if let tag = self[.eTag] { return tag.hasPrefix("\"") ? tag : nil }
        guard let text = self[.lastModified], let modified = HTTPDate.seconds(text) else {
            return nil
        }
        let date = self[.date].flatMap(HTTPDate.seconds) ?? responseDate
        return modified < date ? text : nil
    }

    /// The length of the body by `Content-Length`.
    var contentByteCount: Int? {
        // Repeated fields with equal values are allowed.
        let values = Set((self[.contentLength] ?? "").split(separator: ",").map { trimmed($0) })
        guard values.count == 1, let value = values.first,
            value.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(value)
    }

    /// The media type in lower case and without parameters.
    var mediaType: String? {
        self[.contentType].map { trimmed($0.prefix { $0 != ";" }).lowercased() }
            .flatMap { $0.isEmpty ? nil : $0 }
    }

    private func filtered(_ isIncluded: (HTTPField) -> Bool) -> HTTPFields {
        var result = HTTPFields()
        for field in self where isIncluded(field) { result.append(field) }
        return result
    }
}

/// The value of `Content-Range` in a response with status 206.
///
/// - SeeAlso: RFC 9110, section 14.4.
struct ContentRange: Equatable {
    let first: Int
    let last: Int
    /// The length of the whole body, `nil` if the server does not specify it.
    let wholeByteCount: Int?

    /// Parses a value such as `bytes 11397-22788/22789`.
    init?(_ value: String) {
        let words = value.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/")
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int(ends[0]), let last = Int(ends[1]),
            first >= 0, last >= first
        else { return nil }
        self.first = first
        self.last = last
        wholeByteCount = Int(parts[1])
        guard wholeByteCount.map({ $0 > last }) ?? (parts[1] == "*") else { return nil }
    }
}
