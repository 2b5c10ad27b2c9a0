// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
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
        guard let key = hotKey(request.head) else {
            return try await answer(identity, options, request, varying)
        }
        if let kept = hot.answer(key, of: identity, lookedAt: time) {
            return kept.validators.isNotModified(request.headers)
                ? .notModified(kept.headers)
                : Response(
                    status: .ok, headers: kept.headers,
                    body: ResponseBody(byteBuffer: kept.body))
        }
        return try await answer(identity, options, request, varying) { validators, headers, body in
            var whole = headers.with(.xContentTypeOptions, "nosniff")
                .with(.contentLength, "\(body.readableBytes)")
            whole[named: "Cross-Origin-Resource-Policy"] = pageGuard.resourcePolicy
            hot.insert(
                .init(original: identity, validators: validators, headers: whole, body: body), key,
                lookedAt: time)
        }
    }

    /// The same without waiting for anything, of a rendition that was sent a moment ago.
    func readyAnswer(
        to request: HTTPRequest, _ now: ContinuousClock.Instant
    ) -> ConnectionHandler.ReadyAnswer? {
        guard let key = hotKey(request), let kept = hot.answer(key, now: now) else { return nil }
        if kept.validators.isNotModified(request.headerFields) {
            return .init(head: Response.notModified(kept.headers).head)
        }
        return .init(head: HTTPResponse(status: .ok, headerFields: kept.headers), body: kept.body)
    }

    /// What an answer depends on; `nil` for a request whose answer is not kept.
    private func hotKey(_ request: HTTPRequest) -> HotRenditions.Key? {
        guard request.method == .get, let address = request.path else { return nil }
        return HotRenditions.Key(
            address: address,
            headers: varyingNames.map { ComparedByBytes(request.headerFields[$0] ?? "-") })
    }

    /// Fills in what the address leaves to the client, and takes the size to a step of the ladder.
    ///
    /// - Returns: also the names of the headers that had a say, for `Vary`.
    func suited(
        _ wanted: PictureOptions, to request: Request
    ) -> (options: PictureOptions, varying: [String]) {
        let (options, varying) = filled(wanted, by: request)
        return (snapped(withUsualQuality(options)), varying)
    }

    /// Takes the size to a step of the ladder.
    func snapped(_ options: PictureOptions) -> PictureOptions {
        configuration.sizes.snapped(
            options, maximumSide: configuration.maximumSide,
            isForDisplay: configuration.isForDisplays(options.format))
    }

    /// What is said of a rendition besides its validators; its size where its bytes may not say it.
    func description(of rendition: Rendition, _ options: PictureOptions) -> HTTPFields {
        var headers: HTTPFields = [.contentType: rendition.mediaType]
        if configuration.isForDisplays(options.format) {
            headers[named: "X-Result-Width"] = "\(rendition.pixelSize.width)"
            headers[named: "X-Result-Height"] = "\(rendition.pixelSize.height)"
        }
        return headers
    }

    /// Fills in how much may be lost, where neither the address nor the client says.
    func withUsualQuality(_ wanted: PictureOptions) -> PictureOptions {
        var options = wanted
        if options.leavesQualityOpen { options.targetSSIM = configuration.targetSSIM }
        return options
    }

    private func filled(
        _ wanted: PictureOptions, by request: Request
    ) -> (options: PictureOptions, varying: [String]) {
        var options = wanted
        var varying: [String] = []
        let negotiated = configuration.negotiatedFormats
        var accepted: AcceptedFormats?
        if wanted.format == nil, !negotiated.isEmpty {
            varying.append("Accept")
            let formats = AcceptedFormats(request.headers[.accept])
            options.format = formats.best(of: negotiated)?.name
            accepted = formats
        }
        options.animationFormat = animationFormat(wanted, accepted)
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
        if wanted.leavesQualityOpen, hints.savesData { options.quality = ClientHints.savingQuality }
        if configuration.usesClientHints {
            if wanted.leavesWidthOpen { varying += ["Sec-CH-Width", "Sec-CH-Viewport-Width"] }
            if wanted.density == nil { varying.append("Sec-CH-DPR") }
            if wanted.density == nil || wanted.leavesQualityOpen {
                varying += ["ECT", "Save-Data"]
            }
        }
        return (options, varying)
    }

    /// The format in which an animation stays one: that of the address if it can, else one that the
    /// client accepts, else GIF, which everybody plays.
    private func animationFormat(
        _ wanted: PictureOptions, _ accepted: AcceptedFormats?
    ) -> String? {
        guard !wanted.isStill else { return nil }
        if let format = wanted.format {
            return configuration.animationFormatNames.contains(format) ? format : nil
        }
        let played = configuration.negotiatedFormats.filter {
            ImageServer.Configuration.playedFormatNames.contains($0.name)
        }
        if let format = accepted?.best(of: played) { return format.name }
        return configuration.animationFormatNames.contains("gif") ? "gif" : nil
    }

    /// A picture as it was asked for to the last, in whichever grammar.
    ///
    /// - Parameters:
    ///   - identity: the original.
    ///   - options: what is wanted.
    ///   - request: the conditions of the client.
    ///   - varying: the names of the headers that had a say in it.
    ///   - more: what else the answer says.
    ///   - keep: gets a whole answer.
    /// - Returns: the picture, or that the client has it already.
    /// - Throws: what ``ErrorResponse`` tells the client.
    func answer(
        _ identity: FileIdentity, _ options: PictureOptions, _ request: Request,
        _ varying: [String] = [], headers more: HTTPFields = [:],
        keep: (Validators, HTTPFields, ByteBuffer) -> Void = { _, _, _ in }
    ) async throws -> Response {
        let validators = Validators(original: identity, made: "\(identity.version)-\(options.text)")
        var headers = pictureHeaders(identity, validators, request)
        headers.append(contentsOf: more)
        if !varying.isEmpty { headers[.vary] = varying.joined(separator: ", ") }
        let isNotModified = validators.isNotModified(request.headers)
        let maximumSide = configuration.maximumSide
        let usualCost = RenditionCost(usual: options, maximumSide: maximumSide)
        // Without the rendition, but only of a picture: nobody learns what else is there.
        let original =
            isNotModified || options.needsOriginalSize || usualCost == nil
            ? try await facts(of: identity).pixelSize : nil
        if isNotModified { return .notModified(headers) }
        let cost =
            try usualCost
            ?? original.map { size throws(ServerError) in
                try RenditionCost(options, of: size, maximumSide: maximumSide)
            }
        try cost?.check(configuration)
        let renditionRequest = try options.request(
            of: .file(identity.path), original: options.needsOriginalSize ? original : nil,
            maximumSide: maximumSide)
        let work = cost?.isHigh == true ? slowWork : usualWork
        let rendition = try await reading(identity) {
            try await work.run(RequestClient.current.name) {
                try await pipeline.rendition(for: renditionRequest)
            }
        }
        // The tag says which original was looked at; the picture must be made from that one.
        guard rendition.original == OriginalVersion(identity) else {
            throw ServerError.changedMeanwhile
        }
        let description = description(of: rendition, options)
        headers.append(contentsOf: description)
        let body = ByteBuffer(bytes: rendition.bytes)
        keep(validators, headers, body)
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}
