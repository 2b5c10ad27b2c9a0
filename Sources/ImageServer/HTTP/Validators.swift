// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import ImageLoading

/// The validators of a response: its entity tag and its modification date (RFC 9110, 8.8).
struct Validators {
    /// The strong entity tag, in its quotes.
    let entityTag: String
    /// The modification date of the original; `nil` for a response made from several files.
    var modified: HTTPDate?

    init(tag: String, modified: HTTPDate? = nil) {
        entityTag = "\"\(tag)\""
        self.modified = modified
    }

    /// The validators of a derived resource, whose bytes may change with the version of Calotype.
    init(made tag: String, modified: HTTPDate? = nil) {
        self.init(tag: "\(tag)-r\(RenditionStore.version)", modified: modified)
    }

    /// Whether the client's copy is current (RFC 9110, section 13.2.2).
    func isNotModified(_ headers: HTTPFields) -> Bool {
        if let tags = headers[.ifNoneMatch] {
            // Tags are quoted and may contain commas; the comparison is weak (RFC 9110, 8.8.3.2).
            let parts = tags.split(separator: "\"", omittingEmptySubsequences: false)
            return parts.indices.contains { index in
                index % 2 == 0
                    ? parts[index].contains("*")
                    : index < parts.count - 1 && "\"\(parts[index])\"" == entityTag
            }
        }
        guard let modified, let known = headers[.ifModifiedSince].flatMap(HTTPDate.init) else {
            return false
        }
        return modified.seconds <= known.seconds
    }

    /// Whether a `Range` header applies: `If-Range` is missing or matches (RFC 9110, 13.1.5).
    func allowsRange(_ headers: HTTPFields) -> Bool {
        guard let condition = headers[.ifRange] else { return true }
        return condition == entityTag || HTTPDate(condition).map { $0 == modified } == true
    }

    /// The `ETag` and `Last-Modified` fields.
    var fields: HTTPFields {
        var fields: HTTPFields = [.eTag: entityTag]
        fields[.lastModified] = modified?.text
        return fields
    }
}
