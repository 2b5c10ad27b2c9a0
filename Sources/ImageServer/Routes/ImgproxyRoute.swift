// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import HTTPTypes
internal import HummingbirdCore

/// `GET /SIGNATURE/rs:fill:300:400/plain/house/1.jpg@webp`: a rendition by imgproxy's syntax.
struct ImgproxyRoute: Route {
    let keys: ImgproxyKeys
    let renditions: LocalRenditions
    let responder: RenditionResponder
    let negotiation: ContentNegotiation
    let grammar: OptionGrammar
    let webSources: WebSources?

    /// With keys, the path contains its own signature.
    var steps: RequestSteps {
        keys.keys.isEmpty ? .standard : RequestSteps.standard.subtracting(.signature)
    }

    func matches(_ request: IncomingRequest) -> Bool {
        request.isRead && ImgproxyPath.matches(request.encodedPath)
    }

    func response(to request: IncomingRequest) async throws -> Response {
        let path = try ImgproxyPath(
            request.encodedPath, maximumSide: grammar.maximumSide, formats: grammar.formats,
            presets: grammar.presets)
        if !keys.keys.isEmpty {
            try PathSignature(keys: keys.keys)
                .check(path.signature, of: path.signed, salt: keys.salt)
        }
        if let expires = path.expires, HTTPDate.now.seconds >= expires {
            throw ServerError.expired
        }
        if path.hasOwnOptions || !path.hasPreset { try grammar.checkOwnOptions() }
        var source = path.source[...]
        if source.hasPrefix("local://") {
            source = source.dropFirst("local://".count).drop { $0 == "/" }
        } else if source.contains("://"), let webSources {
            let url = try webSources.url(of: String(source))
            let (options, varying) = negotiation.negotiated(path.options, request.headers)
            return try await responder.response(url, options, request, varying: varying)
        } else if source.contains("://") || source.hasPrefix("data:") {
            throw ServerError.forbidden(reason: "originals of this URL scheme are not served")
        }
        guard let names = RequestPath.names(String(source)) else { throw ServerError.notFound }
        return try await renditions.response(names, path.options, request)
    }
}
