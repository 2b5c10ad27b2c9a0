// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import FoundationEssentials
internal import HTTPTypes
internal import HummingbirdCore
internal import LoadScheduling
internal import NIOCore
internal import ImageLoading
internal import Pixels
internal import Sprites

/// Which pictures go into a sheet, and how.
struct SpriteRequest {
    /// So many pictures are put together at most.
    static let maximumCount = 1_000
    /// So that no sheet holds more than some decoded pictures beside itself.
    static let picturesAtOnce = 8

    enum Form: String {
        case json, css, vtt, html
    }

    var options: PictureOptions
    var folder: [String]
    /// The pictures in the folder; `nil` for all of them in the order of a listing.
    var names: [String]?
    var offset = 0
    var limit = SpriteRequest.maximumCount
    var arrangement = SpriteLayout.Arrangement.grid
    var padding = 0
    /// What is said of the sheet; `nil` for the sheet itself.
    var form: Form?
}

/// A sheet that has been laid out but not made.
private struct SpritePlan {
    var identities: [FileIdentity]
    var options: DecodeOptions
    var layout: SpriteLayout
    var index: SpriteIndex
}

/// One of a sheet's pictures, or what there is of one that cannot be read.
private struct SpritePicture: Sendable {
    let number: Int
    let image: PixelBuffer?

    func write(to writer: inout SpriteSheetWriter) {
        guard let image, image.size == writer.layout.places[number].size else { return }
        writer.write(image, at: number)
    }
}

extension ImageResponder {
    /// `GET /sprite/128x128,fill/house` answers many pictures in one, and with `?as=json`, `css`,
    /// `vtt` or `html` where each of them lies.
    ///
    /// The pictures are those of the folder, from `offset` on and at most `limit`, or those named by
    /// `names=1.jpg,2.jpg`, or by a body `["1.jpg", "2.jpg"]`.
    func sprite(_ segments: [String], _ request: Request) async throws -> Response {
        var wanted = try spriteRequest(segments, request)
        if request.method == .post { wanted.names = try await postedNames(request) }
        let (names, identities, version) = try await spriteOriginals(wanted)
        let text = "\(wanted.options.text)-\(wanted.arrangement.rawValue)-\(wanted.padding)"
        let validators = Validators(made: "\(version)-\(text)-\(wanted.form?.rawValue ?? "sheet")")
        var headers = validators.fields
        headers[.cacheControl] = "public, no-cache"
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        limiter?.charge(
            RequestClient.current.name, Double(identities.count) / Self.pictureCountPerToken)
        let plan = try await plan(wanted, names, identities)
        guard let form = wanted.form else {
            return try await slowWork.run(RequestClient.current.name) {
                try await sheet(plan, wanted, headers)
            }
        }
        return describe(plan.index, form, request, headers)
    }

    private func spriteRequest(
        _ segments: [String], _ request: Request
    ) throws -> SpriteRequest {
        guard let first = segments.first,
            let options = try sizeOptions(first)
        else { throw ServerError.notFound }
        guard !options.leavesWidthOpen else {
            throw ServerError.malformedRequest(reason: "the pictures of a sheet need a size")
        }
        var wanted = SpriteRequest(
            options: snapped(withUsualQuality(options)),
            folder: Array(segments.dropFirst()))
        let query = request.uri.queryParameters
        wanted.offset = try number("offset", 0..., default: 0, request)
        wanted.limit = min(
            try number("limit", 1..., default: SpriteRequest.maximumCount, request),
            SpriteRequest.maximumCount)
        wanted.padding = min(try number("padding", 0..., default: 0, request), 256)
        if let names = query["names"] {
            wanted.names = names.split(separator: ",").map(String.init)
        }
        if let text = query["arrangement"] {
            guard let arrangement = SpriteLayout.Arrangement(rawValue: String(text)) else {
                throw ServerError.malformedRequest(reason: "an arrangement is grid or packed")
            }
            wanted.arrangement = arrangement
        }
        if configuration.allowsPresetsOnly {
            let isUsual =
                wanted.padding == 0 && wanted.names == nil && request.method != .post
                && wanted.limit == SpriteRequest.maximumCount
                && wanted.offset.isMultiple(of: SpriteRequest.maximumCount)
            guard isUsual else {
                throw ServerError.forbidden(
                    reason: "only sheets of a folder's pictures are answered, "
                        + "\(SpriteRequest.maximumCount) at a time and without padding")
            }
        }
        if let text = query["as"] {
            guard let form = SpriteRequest.Form(rawValue: String(text)) else {
                throw ServerError.malformedRequest(
                    reason: "a sheet is described as json, css, vtt or html")
            }
            wanted.form = form
        }
        return wanted
    }

    private func postedNames(_ request: Request) async throws -> [String] {
        let body = try? await request.body.collect(upTo: 1 << 20)
        guard let body,
            let names = try? JSONDecoder().decode([String].self, from: Data(body.readableBytesView))
        else {
            throw ServerError.malformedRequest(reason: "the body is a JSON list of names")
        }
        return names
    }

    private func spriteOriginals(
        _ wanted: SpriteRequest
    ) async throws -> (names: [String], identities: [FileIdentity], version: String) {
        guard let names = wanted.names else {
            let contents = try await folderWork.run(RequestClient.current.name) {
                try await disk { [folders] in try folders.recentContents(of: wanted.folder) }
            }
            let start = min(wanted.offset, contents.pictures.count)
            let range = start..<min(start + wanted.limit, contents.pictures.count)
            return (
                Array(contents.pictures[range]), Array(contents.identities[range]),
                "\(contents.revision)-\(range.lowerBound)-\(range.upperBound)"
            )
        }
        guard names.count <= SpriteRequest.maximumCount,
            names.allSatisfy(RequestPath.isServed)
        else {
            throw ServerError.malformedRequest(
                reason: "at most \(SpriteRequest.maximumCount) names of pictures in the folder")
        }
        let identities = try await disk { [photos] in
            try names.map { try photos.original(wanted.folder + [$0]) }
        }
        var digest = Digest()
        for identity in identities {
            digest.add(identity.path)
            digest.add(identity.version)
        }
        return (names, identities, digest.text)
    }

    /// Lays the sheet out by what the headers say; pictures that cannot be read are left out.
    private func plan(
        _ wanted: SpriteRequest, _ names: [String], _ identities: [FileIdentity]
    ) async throws -> SpritePlan {
        let facts = await pipeline.facts(for: identities)
        let readable = facts.indices.filter { (try? facts[$0].get()) != nil }
        guard !readable.isEmpty else { throw ServerError.notFound }
        let options = try wanted.options.request(
            of: .file(""), original: nil, maximumSide: configuration.maximumSide
        ).image.options
        let sizes = readable.map { index in
            options.geometry(
                of: (try? facts[index].get().pixelSize) ?? PixelSize(width: 1, height: 1)
            ).size
        }
        let layout = try SpriteLayout(
            sizes, wanted.arrangement, padding: wanted.padding, limits: pipeline.limits)
        return SpritePlan(
            identities: readable.map { identities[$0] }, options: options, layout: layout,
            index: SpriteIndex(
                size: layout.size,
                sprites: zip(readable, layout.places).map {
                    SpriteIndex.Sprite(names[$0], $1)
                }))
    }

    /// Each picture is decoded once, at its size; one that fails leaves its place empty.
    private func sheet(
        _ plan: SpritePlan, _ wanted: SpriteRequest, _ headers: HTTPFields
    ) async throws -> Response {
        var format = wanted.options.format ?? "jpeg"
        if formatNames[format] == nil { format = "png" }
        let pixels: PixelFormat = format == "jpeg" ? .rgb8 : .rgba8
        let byteCount = PixelBuffer.byteCount(of: plan.layout.size, pixels)
        // First of what all sheets may take, so that their pictures always find room to be decoded.
        let share = try await sheets.reserve(byteCount)
        let memory = try await pipeline.budget.reserve(byteCount)
        defer {
            memory.release()
            share.release()
        }
        var writer = try SpriteSheetWriter(plan.layout, pixels, limits: pipeline.limits)
        let requests = plan.identities.map {
            var request = ImageRequest(
                path: $0.path, options: plan.options, priority: .prefetch)
            request.isReproducible = true
            return request
        }
        try await withThrowingTaskGroup(of: SpritePicture.self) { [self] group in
            for number in requests.indices {
                if number >= SpriteRequest.picturesAtOnce, let done = try await group.next() {
                    done.write(to: &writer)
                }
                let request = requests[number]
                group.addTask { try await self.picture(number, request) }
            }
            while let done = try await group.next() { done.write(to: &writer) }
        }
        let picture = writer.finish()
        let destination = try ImageDestination(
            format: format, codecs: pipeline.codecs, options: wanted.options.encodeOptions)
        let file = try await pipeline.encode(picture, as: destination)
        return Response(
            status: .ok, headers: headers.with(.contentType, destination.format.mediaType),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file)))
    }

    private func picture(
        _ number: Int, _ request: ImageRequest
    ) async throws(LoadError) -> SpritePicture {
        do throws(LoadError) {
            return SpritePicture(
                number: number, image: try await pipeline.image(for: request).image)
        } catch {
            switch error {
            case .cancelled, .queueFull: throw error
            default: return SpritePicture(number: number, image: nil)
            }
        }
    }

    private func describe(
        _ index: SpriteIndex, _ form: SpriteRequest.Form, _ request: Request,
        _ headers: HTTPFields
    ) -> Response {
        let sheet = sheetAddress(request)
        var headers = headers
        let text: String
        switch form {
        case .json: (headers[.contentType], text) = ("application/json", index.json)
        case .css:
            (headers[.contentType], text) = ("text/css; charset=utf-8", index.css(image: sheet))
        case .vtt:
            headers[.contentType] = "text/vtt; charset=utf-8"
            text = index.webVTT(image: sheet, interval: .seconds(1))
        case .html:
            headers[.contentType] = "text/html; charset=utf-8"
            headers[.contentSecurityPolicy] =
                "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'"
            text = ContactSheet.page(index, sheet: sheet)
        }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// The address of the sheet that is described.
    private func sheetAddress(_ request: Request) -> String {
        let query = (request.uri.query ?? "").split(separator: "&")
            .filter { !$0.hasPrefix("as=") }.joined(separator: "&")
        return request.uri.path + (query.isEmpty ? "" : "?\(query)")
    }
}

/// A page for people that shows the pictures of a sheet with their names.
private enum ContactSheet {
    static func page(_ index: SpriteIndex, sheet: String) -> String {
        let cells = index.sprites.map { sprite in
            let place = sprite.place
            return "<li><i style=\"width:\(place.width)px;height:\(place.height)px;"
                + "background-position:-\(place.x)px -\(place.y)px\"></i>"
                + "<span>\(escaped(sprite.name))</span></li>"
        }
        return """
            <!doctype html><html lang="en"><meta charset="utf-8"><title>Contact sheet</title>
            <style>body{font:14px system-ui;margin:1rem;background:Canvas;color:CanvasText;\
            color-scheme:light dark}ul{display:flex;flex-wrap:wrap;gap:1rem;padding:0;margin:0}\
            li{list-style:none;text-align:center}span{display:block;max-width:16rem;\
            overflow-wrap:anywhere}i{display:inline-block;background-image:url('\(escaped(sheet))')}\
            </style><ul>\(cells.joined())</ul></html>

            """
    }

    private static func escaped(_ text: String) -> String {
        // Not characters: a combining mark behind a quote would hide it.
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "%27"
            case "\\": result += "%5C"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
