// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import HTTPTypes
internal import LoadScheduling
internal import Logging

extension HTTPLoader {
    typealias Receiver = @Sendable (HTTPLoadEvent) -> Void

    /// The result of a request for one URL.
    private enum Answer {
        case image(LoadedResponse)
        /// A redirect and the end of its freshness.
        case redirect(String, freshUntil: Int)
    }

    /// Follows redirects until the response is an image.
    func image(
        for request: HTTPLoadRequest, _ receive: @escaping Receiver
    ) async throws(LoadError) -> LoadedResponse {
        var hop = request
        addDefaults(to: &hop.fields)
        var freshUntil = Int.max
        for _ in 0...configuration.maximumRedirectCount {
            guard configuration.allows(hop.url) else {
                throw .addressRefused(
                    url: "\(hop.url)", reason: "the configuration does not allow this URL")
            }
            switch try await answer(to: hop, receive) {
            case .image(let response): return response.fresh(until: freshUntil)
            case .redirect(let location, let redirectFreshUntil):
                freshUntil = min(freshUntil, redirectFreshUntil)
                try hop.follow(location)
            }
        }
        throw .badResponse(
            url: "\(request.url)",
            reason: "more than \(configuration.maximumRedirectCount) redirects")
    }

    /// Reads the store, else sends a request and stores the response.
    private func answer(
        to hop: HTTPLoadRequest, _ receive: @escaping Receiver
    ) async throws(LoadError) -> Answer {
        var kept =
            hop.cachePolicy.readsStore ? await store?.response(for: hop.url, hop.fields) : nil
        if let refused = hop.refusedBody, let body = kept?.bytes, contentHash(body) == refused {
            kept = nil
        }
        guard !Task.isCancelled else { throw .cancelled }
        if let kept {
            let now = clock.date()
            if now < kept.freshness.freshUntil { return try answer(to: hop, kept, .store) }
            if hop.cachePolicy == .onlyIfCached, kept.freshness.mayBeStaleOffline {
                return try answer(to: hop, kept, .stale)
            }
            if hop.acceptsStale, kept.status == 200,
                now < kept.freshness.staleWhileRevalidateUntil
            {
                return try answer(to: hop, kept, .stale, needsRevalidation: true)
            }
        }
        guard hop.cachePolicy != .onlyIfCached else { throw .notKept(url: "\(hop.url)") }
        return try await fetchedAnswer(to: hop, revalidating: kept, receive)
    }

    /// Interprets the status of a response.
    private func answer(
        to hop: HTTPLoadRequest, _ response: StoredResponse, _ source: LoadedResponse.Source,
        needsRevalidation: Bool = false
    ) throws(LoadError) -> Answer {
        switch response.status {
        case 200:
            return .image(
                LoadedResponse(
                    url: hop.url, bytes: response.bytes, mediaType: response.mediaType,
                    validator: response.validator, source: source,
                    storability: Storability(
                        // A stored response was allowed to be stored.
                        isAllowed: source == .store || response.variant(of: hop.fields) != nil,
                        freshUntil: response.freshness.freshUntil),
                    needsRevalidation: needsRevalidation, room: response.room))
        case 301, 302, 303, 307, 308:
            guard let location = response.fields[.location] else {
                throw .badResponse(url: "\(hop.url)", reason: "redirect without Location")
            }
            return .redirect(location, freshUntil: response.freshness.freshUntil)
        default: throw .badStatus(url: "\(hop.url)", code: response.status)
        }
    }

    private func fetchedAnswer(
        to hop: HTTPLoadRequest, revalidating kept: StoredResponse?, _ receive: @escaping Receiver
    ) async throws(LoadError) -> Answer {
        let fetched: FetchedResponse
        do throws(LoadError) {
            fetched = try await fetch(hop, conditions: kept?.conditions ?? [:], receive)
        } catch .connectionFailed(let url, let reason) {
            return try staleAnswer(to: hop, kept, .connectionFailed(url: url, reason: reason))
        } catch .timedOut(let url) {
            return try staleAnswer(to: hop, kept, .timedOut(url: url))
        }
        let status = fetched.head.status.code
        var metadata: Logger.Metadata = ["http.url": "\(hop.url)", "http.status": "\(status)"]
        metadata["trace.id"] = hop.trace.map { "\($0.traceID)" }
        logger.debug("fetched", metadata: metadata)
        switch status {
        case 304:
            guard let kept else {
                throw .badResponse(
                    url: "\(hop.url)", reason: "status 304 in response to an unconditional request")
            }
            guard let refreshed = kept.refreshed(by: fetched) else {
                return try await fetchedAnswer(to: hop, revalidating: nil, receive)
            }
            if CacheControl(refreshed.fields[.cacheControl] ?? "").isNoStore {
                await store?.remove(hop.url)
            } else {
                await store?.refresh(refreshed, for: hop.url)
            }
            return try answer(to: hop, refreshed, .revalidated)
        case 500, 502, 503, 504:
            return try staleAnswer(to: hop, kept, .badStatus(url: "\(hop.url)", code: status))
        default:
            var response = StoredResponse(
                status: status, fields: fetched.head.headerFields, bytes: fetched.bytes,
                requestDate: fetched.requestDate, responseDate: fetched.responseDate)
            response.room = fetched.room
            await keep(response, for: hop)
            return try answer(to: hop, response, .network)
        }
    }

    /// Returns the stored response if `stale-if-error` allows it, else throws the error.
    private func staleAnswer(
        to hop: HTTPLoadRequest, _ kept: StoredResponse?, _ error: LoadError
    ) throws(LoadError) -> Answer {
        guard let kept, clock.date() < kept.freshness.staleIfErrorUntil else { throw error }
        return try answer(to: hop, kept, .stale)
    }

    /// Stores a response if that is allowed, else removes the outdated one for the URL.
    private func keep(_ response: StoredResponse, for hop: HTTPLoadRequest) async {
        guard let store, hop.cachePolicy != .noStore else { return }
        let isFresh = clock.date() < response.freshness.freshUntil
        switch response.status {
        case 200: break
        // Not revalidated, and so of use only while they are fresh.
        case 301, 302, 303, 307, 308, 404, 410:
            guard isFresh else { return await store.remove(hop.url) }
        // A status such as 403 depends on the client, not on the image.
        default: return
        }
        guard hop.mayKeep(), let variant = response.variant(of: hop.fields) else {
            return await store.remove(hop.url)
        }
        await store.insert(response, for: hop.url, variant)
    }

    private func addDefaults(to fields: inout HTTPFields) {
        if fields[.accept] == nil { fields[.accept] = "image/*, */*;q=0.5" }
        if fields[.userAgent] == nil { fields[.userAgent] = configuration.userAgent }
        // Images are compressed already, and ranges count encoded bytes.
        fields[.acceptEncoding] = "identity"
        let own = [
            HTTPField.Name.range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince,
            .ifUnmodifiedSince,
        ]
        for name in own { fields[name] = nil }
    }
}

extension LoadedResponse {
    fileprivate func fresh(until date: Int) -> LoadedResponse {
        var storability = storability
        storability.freshUntil = min(storability.freshUntil, date)
        return LoadedResponse(
            url: url, bytes: bytes, mediaType: mediaType, validator: validator, source: source,
            storability: storability, needsRevalidation: needsRevalidation, room: room)
    }
}

extension HTTPLoadRequest.CachePolicy {
    var readsStore: Bool { self == .useProtocol || self == .onlyIfCached }
}

extension HTTPLoadRequest {
    /// Follows a redirect.
    mutating func follow(_ location: String) throws(LoadError) {
        let next = try HTTPURL(location, relativeTo: url)
        guard url.scheme == .http || next.scheme == .https else {
            throw .addressRefused(url: "\(next)", reason: "redirect from https to http")
        }
        if !next.hasSameOrigin(as: url) {
            for name in [HTTPField.Name.authorization, .cookie, .proxyAuthorization] {
                fields[name] = nil
            }
        }
        url = next
    }
}

extension StoredResponse {
    /// The fields of a conditional request.
    fileprivate var conditions: HTTPFields {
        let fields = fields
        var conditions = HTTPFields()
        if let tag = fields[.eTag] { conditions[.ifNoneMatch] = tag }
        if let date = fields[.lastModified] { conditions[.ifModifiedSince] = date }
        return conditions
    }

    /// Returns the response with the fields of a 304 response, `nil` if their entity tags differ.
    fileprivate func refreshed(by fetched: FetchedResponse) -> StoredResponse? {
        let fields = fields
        let newer = fetched.head.headerFields
        if let tag = newer[.eTag], let old = fields[.eTag], tag.opaque != old.opaque { return nil }
        let updated = fields.updated(by: newer)
        var response = self
        response.serializedFields = updated.serialized
        response.freshness = Freshness(
            status: status, fields: updated, requestDate: fetched.requestDate,
            responseDate: fetched.responseDate)
        return response
    }

    /// Returns the variant for the store, `nil` if the response must not be stored.
    func variant(of request: HTTPFields) -> Variant? {
        let fields = fields
        guard !CacheControl(fields[.cacheControl] ?? "").isNoStore else { return nil }
        return Variant(vary: fields[.vary] ?? "", request: request)
    }
}

extension String {
    /// The opaque tag of an entity tag, without the prefix `W/`.
    fileprivate var opaque: Substring { hasPrefix("W/") ? dropFirst(2) : self[...] }
}
