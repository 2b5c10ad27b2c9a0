// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import HTTPTypes

/// An answer as a ``ResponseStore`` keeps it: a whole one, or the start of one.
struct StoredResponse: Sendable {
    /// The row it was read from.
    var id: Int64?
    var status: Int
    /// As ``HTTPFields/serialized``, because a hit needs none of them; `nil` for what a program put
    /// there itself.
    var serializedFields: [UInt8]?
    var mediaType: String?
    var validator: String
    var freshness: Freshness
    /// The start of the body if it is the start of an answer.
    var bytes: [UInt8]
    /// The bytes in the account of bodies, if they have just come.
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

    /// An answer that has just come.
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
    /// Tells this version of the content from others: by `ETag`, `Last-Modified`, or its bytes.
    func validator(of bytes: [UInt8]) -> String {
        if let tag = self[.eTag] { return "etag \(tag)" }
        if let date = self[.lastModified] { return "modified \(date)" }
        return "bytes \(String(contentHash(bytes), radix: 36)) \(bytes.count)"
    }
}

/// Which of several answers to one address: the fields of the request that chose it.
///
/// - SeeAlso: RFC 9111, section 4.1.
struct Variant: Equatable, Sendable {
    /// In lower case and in order, with commas between.
    let names: String
    /// What the request said in them.
    let values: String

    /// Fails if the answer is to no other request than that one.
    ///
    /// - Parameters:
    ///   - vary: the answer's field of that name.
    ///   - request: the fields that it answers.
    init?(vary: String, request: HTTPFields) {
        let names = Set(vary.split(separator: ",").map { trimmed($0).lowercased() })
        guard !names.contains("*") else { return nil }
        self.init(names: names.filter { !$0.isEmpty }.sorted().joined(separator: ","), request)
    }

    /// What a store has kept.
    init(names: String, values: String) {
        self.names = names
        self.values = values
    }

    init(names: String, _ request: HTTPFields) {
        self.names = names
        var values = names.split(separator: ",").map { name in
            let value = HTTPField.Name(String(name)).flatMap { request[$0] }
            // Hashed, because what a user sends does not belong on a disk.
            return "\(name) \(value.map(Self.hashed) ?? "none")"
        }
        // Never shown to somebody else, whatever the server says that it varies by.
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
