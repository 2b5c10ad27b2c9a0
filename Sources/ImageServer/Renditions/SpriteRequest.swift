// SPDX-License-Identifier: Apache-2.0

internal import Sprites
internal import HTTPTypes

/// The parameters of a sprite sheet.
struct SpriteRequest {
    /// The maximum number of images in a sheet.
    static let maximumCount = 1_000
    private static let maximumPadding = 256

    /// The formats in which the positions of the images are described.
    enum Form: String {
        case json, css, vtt, html
    }

    /// The options of each image.
    let options: RenditionOptions
    /// The names of the folder.
    let folder: [String]
    /// The names of the images in the folder; `nil` for all of them in the order of a listing.
    private(set) var names: [String]?
    private(set) var offset = 0
    private(set) var limit = SpriteRequest.maximumCount
    private(set) var arrangement = SpriteLayout.Arrangement.grid
    /// The space around each image in pixels.
    private(set) var padding = 0
    /// The format of the description; `nil` for the sheet itself.
    private(set) var form: Form?

    /// Parses path, query and body.
    ///
    /// - Throws: ``ServerError``.
    init(
        _ request: IncomingRequest, _ grammar: OptionGrammar, _ negotiation: ContentNegotiation
    ) async throws {
        let segments = request.segments.dropFirst()
        guard let size = segments.first, let options = try grammar.options(size) else {
            throw ServerError.notFound
        }
        guard !options.leavesWidthOpen else {
            throw ServerError.malformedRequest(
                reason: "the images of a sprite sheet need a width or a height")
        }
        guard options.frame.isEmpty, !options.needsOriginalSize else {
            throw ServerError.malformedRequest(
                reason: "a sprite sheet supports no crop, focus, smart, trim, extend, pad or "
                    + "watermark")
        }
        self.options = negotiation.snapped(negotiation.withDefaultQuality(options))
        folder = Array(segments.dropFirst())
        try readQuery(request)
        if grammar.allowsPresetsOnly { try checkDefaults(request) }
        if let text = request.query("as") {
            guard let form = Form(rawValue: String(text)) else {
                throw ServerError.malformedRequest(
                    reason: "invalid description format; expected json, css, vtt or html")
            }
            self.form = form
        }
        if request.method == .post {
            // `null` is no array.
            let sent: [String] = try await request.body("a JSON array of names")
            names = sent
        }
    }

    /// A unique text of all parameters except the images, for entity tags.
    var text: String {
        "\(options.text)-\(arrangement.rawValue)-\(padding)-\(form?.rawValue ?? "sheet")"
    }

    private mutating func readQuery(_ request: IncomingRequest) throws(ServerError) {
        offset = try request.number("offset", 0..., default: 0)
        limit = min(
            try request.number("limit", 1..., default: Self.maximumCount), Self.maximumCount)
        padding = min(try request.number("padding", 0..., default: 0), Self.maximumPadding)
        if let names = request.query("names") {
            self.names = names.split(separator: ",").map(String.init)
        }
        if let text = request.query("arrangement") {
            guard let arrangement = SpriteLayout.Arrangement(rawValue: String(text)) else {
                throw .malformedRequest(reason: "invalid arrangement; expected grid or packed")
            }
            self.arrangement = arrangement
        }
    }

    /// Rejects parameters that would allow any number of different sheets.
    private func checkDefaults(_ request: IncomingRequest) throws(ServerError) {
        guard padding == 0, names == nil, request.method != .post, limit == Self.maximumCount,
            offset.isMultiple(of: Self.maximumCount)
        else {
            throw .forbidden(
                reason: "only sheets of whole folders are allowed, "
                    + "\(Self.maximumCount) images each, without padding")
        }
    }

}
