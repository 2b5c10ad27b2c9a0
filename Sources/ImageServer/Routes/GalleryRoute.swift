// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import ServedFiles

/// A file built into the program, with its entity tag.
struct GalleryFile: Sendable {
    let mediaType: String
    let bytes: [UInt8]
    /// Changes with the bytes.
    let tag: String

    /// The files of the gallery page, by name.
    static let all = ServedFile.gallery.mapValues(GalleryFile.init)

    /// The OpenAPI description of the routes.
    static let description = GalleryFile(.apiDescription)

    private init(_ file: ServedFile) {
        mediaType = file.mediaType
        bytes = file.bytes
        var digest = Digest()
        digest.add(bytes)
        tag = digest.text
    }
}

extension ImageResponder {
    /// Scripts, styles and data come from this server alone, no other page may frame this one, and
    /// no text ever becomes markup or code.
    static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'"

    /// `GET /` answers the page, `GET /-/gallery/NAME` a file that it is made of.
    func gallery(_ name: String, _ request: Request) throws -> Response {
        guard let file = GalleryFile.all[name] else { throw ServerError.notFound }
        var answer = answer(file, request)
        if name == "index.html", configuration.usesClientHints,
            let acceptCH = HTTPField.Name("Accept-CH")
        {
            answer.headers[acceptCH] = ClientHints.wantedNames
        }
        return answer
    }

    func answer(_ file: GalleryFile, _ request: Request) -> Response {
        let validators = Validators(tag: file.tag)
        var headers = validators.fields
        headers[.cacheControl] = "no-cache"
        headers[.contentSecurityPolicy] = Self.contentSecurityPolicy
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        headers[.contentType] = file.mediaType
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
    }
}
