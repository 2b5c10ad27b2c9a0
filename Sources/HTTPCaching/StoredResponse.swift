// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import HTTPTypes

/// A response in a ``ResponseCache``: complete, or the start of an interrupted download.
struct StoredResponse: Sendable {
    /// The row that it was read from.
    var id: Int64?
    var status: Int
    /// The fields in the form of ``HTTPFields/serialized``, because a hit does not read them; `nil`
    /// for a body that the program has inserted.
    var serializedFields: [UInt8]?
    var mediaType: String?
    var validator: String
    var freshness: Freshness
    /// The body, or its start.
    var bytes: [UInt8]
    /// The reservation in the body budget, if the body was just received.
    var room: BodyRoom?

    var fields: HTTPFields { HTTPFields(serialized: serializedFields ?? []) }

    init(
        id: Int64? = nil, status: Int, serializedFields: [UInt8]?, mediaType: String?,
        validator: String, freshness: Freshness, bytes: [UInt8]
    ) {
        self.id = id
        self.status = status
        self.serializedFields = serializedFields
        self.mediaType = mediaType
        self.validator = validator
        self.freshness = freshness
        self.bytes = bytes
    }

    /// Creates a response that was just received.
    init(status: Int, fields: HTTPFields, bytes: [UInt8], requestDate: Int, responseDate: Int) {
        let fields = fields.storable
        self.init(
            status: status, serializedFields: fields.serialized, mediaType: fields.mediaType,
            validator: fields.validator(of: bytes),
            freshness: Freshness(
                status: status, fields: fields, requestDate: requestDate,
                responseDate: responseDate),
            bytes: bytes)
    }
}

extension HTTPFields {
    /// Identifies this version of the content by `ETag`, `Last-Modified`, or a hash of the bytes.
    func validator(of bytes: [UInt8]) -> String {
        if let tag = self[.eTag] { return "etag \(tag)" }
        if let date = self[.lastModified] { return "modified \(date)" }
        return "bytes \(String(contentHash(bytes), radix: 36)) \(bytes.count)"
    }
}

/// The request fields by which the server selected one of several responses for a URL.
///
/// - SeeAlso: RFC 9111, section 4.1.
struct Variant: Equatable, Sendable {
    /// The field names in lower case, sorted and separated by commas.
    let names: String
    /// The values of these fields in the request.
    let values: String

    /// Creates a variant; returns `nil` if the response matches no other request (`Vary: *`).
    ///
    /// - Parameters:
    ///   - vary: the value of the response's `Vary` field.
    ///   - request: the fields of the request.
    init?(vary: String, request: HTTPFields) {
        let names = Set(vary.split(separator: ",").map { trimmed($0).lowercased() })
        guard !names.contains("*") else { return nil }
        self.init(names: names.filter { !$0.isEmpty }.sorted().joined(separator: ","), request)
    }

    /// Creates a variant from the columns of a row.
    init(names: String, values: String) {
        self.names = names
        self.values = values
    }

    init(names: String, _ request: HTTPFields) {
        self.names = names
        var values = names.split(separator: ",").map { name in
            let value = HTTPField.Name(String(name)).flatMap { request[$0] }
            // Hashed, so that the values that a user sends are not written to disk.
            return "\(name) \(value.map(Self.hashed) ?? "none")"
        }
        // Responses to authorized requests are never shared, whatever `Vary` contains.
        for name in [HTTPField.Name.authorization, .cookie] {
            if let value = request[name] {
                values.append("\(name.canonicalName) \(Self.hashed(value))")
            }
        }
        self.values = values.joined(separator: "\n")
    }

    private static func hashed(_ value: String) -> String {
        String(contentHash(Array(value.utf8)), radix: 36)
    }
}
