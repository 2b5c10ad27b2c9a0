// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import Hummingbird
internal import ImageLoading
internal import Pixels

extension ImageResponder {
    /// `GET /house/512x512/1.jpg` answers the picture fitted into 512×512 pixels, never enlarged.
    func rendition(
        _ segments: [String], _ wanted: PictureOptions, _ request: Request
    ) async throws -> Response {
        let (options, varying) = suited(wanted, to: request)
        let time = ContinuousClock.now
        let identity = try await disk { [photos] in try photos.original(segments) }
        hot.note(identity, segments, lookedAt: time)
        return try await answer(identity, options, request, varying)
    }

    /// The same without waiting for anything, of a rendition that was sent a moment ago.
    func hotRendition(_ request: Request) throws -> Response? {
        guard request.method == .get, let path = RequestPath(request.uri.path), !path.endsWithSlash,
            case let names = path.segments, names.count > 1,
            case let original = Array(names.dropLast(2) + names.suffix(1)),
            let identity = hot.original(original),
            let wanted = try sizeOptions(names[names.count - 2])
        else { return nil }
        let (options, varying) = suited(wanted, to: request)
        let validators = Validators(original: identity, tag: "\(identity.version)-\(options.text)")
        guard
            let entry = hot.entry(.init(path: identity.path, entityTag: validators.entityTag))
        else { return nil }
        var headers = pictureHeaders(identity, validators, request)
        if !varying.isEmpty { headers[.vary] = varying.joined(separator: ", ") }
        if validators.isNotModified(request.headers) { return .notModified(headers) }
        headers[.contentType] = entry.mediaType
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: entry.body))
    }

    /// Fills in what the address leaves to the client, and takes the size to a step of the ladder.
    ///
    /// - Returns: also the names of the headers that had a say, for `Vary`.
    func suited(
        _ wanted: PictureOptions, to request: Request
    ) -> (options: PictureOptions, varying: [String]) {
        var (options, varying) = filled(wanted, by: request)
        options = configuration.sizes.snapped(
            options, maximumSide: configuration.maximumSide)
        return (options, varying)
    }

    private func filled(
        _ wanted: PictureOptions, by request: Request
    ) -> (options: PictureOptions, varying: [String]) {
        var options = wanted
        var varying: [String] = []
        let negotiated = configuration.negotiatedFormats
        if wanted.format == nil, !negotiated.isEmpty {
            varying.append("Accept")
            options.format = AcceptedFormats(request.headers[.accept]).best(of: negotiated)?.name
        }
        // Without a word on hints nothing is read: most answers are ones that were there already.
        guard configuration.usesClientHints || wanted.leavesWidthOpen else {
            return (options, varying)
        }
        let hints = ClientHints(configuration.usesClientHints ? request.headers : [:])
        if wanted.leavesWidthOpen {
            options.leavesWidthOpen = false
            options.width = hints.width(atMost: configuration.maximumSide)
        } else if wanted.density == nil {
            options.density = hints.savesData ? 1 : hints.density
        }
        if wanted.quality == nil, hints.savesData { options.quality = ClientHints.savingQuality }
        if configuration.usesClientHints {
            if wanted.leavesWidthOpen { varying += ["Sec-CH-Width", "Sec-CH-Viewport-Width"] }
            if wanted.density == nil { varying.append("Sec-CH-DPR") }
            if wanted.density == nil || wanted.quality == nil { varying += ["ECT", "Save-Data"] }
        }
        return (options, varying)
    }

    /// A picture as it was asked for to the last, in whichever grammar.
    ///
    /// `varying` are the names of the headers that had a say in it, and `more` is what else the
    /// answer says.
    func answer(
        _ identity: FileIdentity, _ options: PictureOptions, _ request: Request,
        _ varying: [String] = [], headers more: HTTPFields = [:]
    ) async throws -> Response {
        let validators = Validators(original: identity, tag: "\(identity.version)-\(options.text)")
        var headers = pictureHeaders(identity, validators, request)
        headers.append(contentsOf: more)
        if !varying.isEmpty { headers[.vary] = varying.joined(separator: ", ") }
        let isNotModified = validators.isNotModified(request.headers)
        // Without the rendition, but only of a picture: nobody learns what else is there.
        let original =
            isNotModified || options.needsOriginalSize
            ? try await facts(of: identity).pixelSize : nil
        if isNotModified { return .notModified(headers) }
        let rendition = try await pipeline.rendition(
            for: options.request(
                of: .file(identity.path), original: original,
                maximumSide: configuration.maximumSide))
        // The tag says which original was looked at; the picture must be made from that one.
        guard rendition.original == OriginalVersion(identity) else {
            throw ServerError.changedMeanwhile
        }
        headers[.contentType] = rendition.mediaType
        let body = ByteBuffer(bytes: rendition.bytes)
        hot.insert(
            .init(body: body, mediaType: rendition.mediaType),
            .init(path: identity.path, entityTag: validators.entityTag))
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}
