// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import ImageLoading
internal import MessageDigests
internal import Pixels

/// The object in a bucket that holds the rendition of a key.
struct BucketObject: Sendable {
    /// The key of the object: digests of the path, and of the version and the request, so that all
    /// renditions of an original have a common prefix.
    let name: String
    /// What the key consists of; the digest of the object begins with it.
    private let text: String
    private let original: OriginalVersion

    init(_ key: RenditionKey) {
        let version = "\(RenditionStore.version)"
        text = [version, key.original.name, key.original.version, key.request]
            .joined(separator: "\0")
        original = key.original
        name =
            Self.folder(of: key.original.name)
            + MessageDigest(sha256: Array(text.utf8)).hexadecimal
    }

    /// Returns the common prefix of the keys of all renditions of an original, with a slash at the end.
    static func folder(of name: String) -> String {
        let digest = MessageDigest(sha256: Array(name.utf8)).hexadecimal.prefix(32)
        return "v\(RenditionStore.version)/\(digest)/"
    }

    /// Returns the headers of the object of a rendition: its media type, its size and its digest.
    func fields(of rendition: Rendition) -> HTTPFields {
        var fields: HTTPFields = [.contentType: rendition.mediaType]
        let size = rendition.pixelSize
        fields[.calotypeSize] = "\(size.width)x\(size.height)"
        fields[.calotypeDigest] = digest(rendition.bytes, rendition.mediaType, size)
        return fields
    }

    /// Returns the rendition of an object, or `nil` unless it has the digest of this key and these bytes.
    func rendition(_ bytes: [UInt8], _ fields: HTTPFields) -> Rendition? {
        let sides = (fields[.calotypeSize] ?? "").split(separator: "x").map { Int($0) ?? 0 }
        guard sides.count == 2, let mediaType = fields[.contentType] else { return nil }
        let size = PixelSize(width: sides[0], height: sides[1])
        guard fields[.calotypeDigest] == digest(bytes, mediaType, size) else { return nil }
        return Rendition(bytes: bytes, mediaType: mediaType, pixelSize: size, original: original)
    }

    private func digest(_ bytes: [UInt8], _ mediaType: String, _ size: PixelSize) -> String {
        let head = "\(text)\0\(mediaType)\0\(size.width)x\(size.height)\0"
        return MessageDigest(sha256: Array(head.utf8) + bytes).hexadecimal
    }
}

extension HTTPField.Name {
    fileprivate static let calotypeSize = metadata("size")
    fileprivate static let calotypeDigest = metadata("digest")

    private static func metadata(_ name: String) -> Self {
        guard let name = Self("x-amz-meta-calotype-\(name)") else {
            preconditionFailure("an invalid header name")
        }
        return name
    }
}
