// SPDX-License-Identifier: Apache-2.0

internal import Drawing
internal import HummingbirdCore

/// `GET /card/article?title=…`: a card drawn from the template of that name.
///
/// Parameters are the placeholders of the template, `scale` and `format`.
struct CardRoute: Route {
    let cards: CardResponder

    var prefix: String? { "card" }

    func response(to request: IncomingRequest) async throws -> Response {
        guard request.segments.count == 2,
            let card = cards.templates.entries[request.segments[1]]
        else { throw ServerError.notFound }
        return try await cards.response(card, request)
    }
}

/// `GET /avatar/Ada%20Lovelace?size=64`: initials in a circle whose colour follows from the name, or the
/// image of `image=house/1.jpg` in a circle.
struct AvatarRoute: Route {
    /// The sides in pixels that `size` may request.
    private static let sides = 16...512
    private static let defaultSide = 128

    let cards: CardResponder

    var prefix: String? { "avatar" }

    func response(to request: IncomingRequest) async throws -> Response {
        guard request.segments.count == 2 else { throw ServerError.notFound }
        let side = try request.number("size", Self.sides.lowerBound..., default: Self.defaultSide)
        guard side <= Self.sides.upperBound else {
            throw ServerError.malformedRequest(
                reason: "invalid size; expected an integer up to \(Self.sides.upperBound)")
        }
        if request.query("size") != nil { try cards.grammar.checkOwnOptions() }
        let text = """
            {"size": [\(side), \(side)], "values": {"image": ""},
             "layers": [{"type": "avatar", "box": [0, 0, \(side), \(side)],
               "source": "{image}", "initials": "{initials}"}]}
            """
        let template = try Template(parsing: text)
        return try await cards.response(
            CardTemplates.Entry(text: text, template: template),
            values: ["initials": request.segments[1]], parameters: ["size"], request)
    }
}
