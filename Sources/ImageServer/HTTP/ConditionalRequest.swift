// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading

/// What a client's copy of an answer is compared by.
struct Validators {
    /// The strong entity tag, in its quotes.
    let entityTag: String
    /// When the original was last written to; `nil` for an answer that has no such moment.
    var modified: HTTPDate?

    init(tag: String, modified: HTTPDate? = nil) {
        entityTag = "\"\(tag)\""
        self.modified = modified
    }

    /// Those of something that is made of originals: another version may make other bytes.
    init(made tag: String, modified: HTTPDate? = nil) {
        self.init(tag: "\(tag)-r\(RenditionStore.version)", modified: modified)
    }

    /// Whether the client has what it would get (RFC 9110, section 13.2.2).
    func isNotModified(_ headers: HTTPFields) -> Bool {
        if let tags = headers[.ifNoneMatch] {
            // Tags stand between quotes and may contain commas; weak ones count as strong ones do.
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

    /// Whether a `Range` header counts: without `If-Range`, or when that names what is there now.
    func allowsRange(_ headers: HTTPFields) -> Bool {
        guard let condition = headers[.ifRange] else { return true }
        return condition == entityTag || HTTPDate(condition).map { $0 == modified } == true
    }

    var fields: HTTPFields {
        var fields: HTTPFields = [.eTag: entityTag]
        fields[.lastModified] = modified?.text
        return fields
    }
}

extension Response {
    /// “You have it already”, with the headers that the whole answer would have.
    static func notModified(_ headers: HTTPFields) -> Response {
        var response = Response(status: .notModified, headers: headers)
        // Both are of the body that is not sent.
        response.headers[.contentLength] = nil
        response.headers[.contentType] = nil
        return response
    }
}
