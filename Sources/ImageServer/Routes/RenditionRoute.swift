// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import HummingbirdCore

/// `GET /house/512x512/1.jpg`: the image fitted into 512×512 pixels, never enlarged.
struct RenditionRoute: Route {
    let renditions: LocalRenditions
    let grammar: OptionGrammar

    var isForSelections: Bool { true }

    func matches(_ request: IncomingRequest) -> Bool {
        guard let path = request.path, !path.endsWithSlash, path.segments.count > 1,
            path.segments.first != "-"
        else { return false }
        return grammar.isSize(path.segments[path.segments.count - 2])
    }

    func response(to request: IncomingRequest) async throws -> Response {
        let names = request.segments
        guard names.count > 1, let options = try grammar.options(names[names.count - 2]) else {
            throw ServerError.notFound
        }
        return try await renditions.response(
            Array(names.dropLast(2) + names.suffix(1)), options, request)
    }
}
