// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import LoadScheduling
internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// What every request passes, from its head to the last byte of its response.
///
/// The functions are in the order in which they run. Hummingbird's router is not used: URL paths are
/// file paths, decoded once by ``RequestPath``, with the size in the second last segment.
struct RequestHandler: Sendable {
    let routes: RouteTable
    let admission: RequestAdmission
    let connections: OpenConnections
    let limiter: ClientRateLimit?
    /// The maximum time until a response begins.
    let timeout: Duration
    let hot: HotRenditions
    let outgoing: OutgoingBytes
    let logger: Logger
    let metrics = ServerMetrics()

    // MARK: On the connection's event loop

    /// Returns the function that finds cached responses for the requests of one connection.
    ///
    /// It runs on the event loop before any task is created.
    func readyResponses() -> (HTTPRequest) -> ConnectionHandler.ReadyResponse? {
        var date = ConnectionHandler.DateField(.now)
        return { request in
            let start = ContinuousClock.now
            guard let response = readyResponse(to: request, start),
                (try? admission.check(request)) != nil
            else { return nil }
            let now = HTTPDate.now
            if now != date.date { date = ConnectionHandler.DateField(now) }
            var ready = response
            ready.date = date
            if let count = ready.body?.readableBytes, count > OutgoingBytes.freeByteCount {
                guard let hold = outgoing.hold(count) else { return nil }
                ready.hold = hold
            }
            metrics.record(ready.head.status.code, start.duration(to: .now))
            return ready
        }
    }

    /// Returns a fresh cached response, without waiting.
    func readyResponse(
        to request: HTTPRequest, _ now: ContinuousClock.Instant
    ) -> ConnectionHandler.ReadyResponse? {
        guard let key = hot.key(for: request), let cached = hot.response(key, now: now) else {
            return nil
        }
        if cached.validators.isNotModified(request.headerFields) {
            return .init(head: Response.notModified(cached.headers).head)
        }
        return .init(
            head: HTTPResponse(status: .ok, headerFields: cached.headers),
            encodedHead: cached.encodedHead, body: cached.body)
    }

    // MARK: In a task

    /// The function that responds to the requests of all connections: `Date`, unsent bytes.
    var responder: HTTPChannelHandler.Responder {
        { request, writer, channel in
            var response = await respond(to: request, over: channel)
            // Originals are sent in pieces, few of which are in memory.
            let isOriginal = response.headers[.acceptRanges] != nil
            let byteCount = isOriginal ? 0 : response.body.contentLength ?? 0
            var hold: OutgoingBytes.Hold?
            if byteCount > OutgoingBytes.freeByteCount {
                hold = outgoing.hold(byteCount)
                if hold == nil { response = ErrorResponse(LoadError.queueFull).response }
            }
            response.headers[.date] = HTTPDate.now.text
            let closes = response.headers[.connection] == "close"
            // HTTP/2 has no such field (RFC 9113, 8.2.2); the stream belongs to a connection.
            if channel.parent?.parent != nil { response.headers[.connection] = nil }
            try await writer.write(response: response.head, body: response.body)
            if let hold { channel.whenSent { withExtendedLifetime(hold) {} } }
            if closes {
                try await channel.untilSent()
                throw ServerError.tooManyConnections
            }
        }
    }

    /// Records metrics, and cancels the work on a request when its client hangs up.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - channel: the connection or HTTP/2 stream; `nil` for requests without a network.
    /// - Returns: the response, also for errors.
    func respond(to request: Request, over channel: (any Channel)?) async -> Response {
        let start = ContinuousClock.now
        let incoming = IncomingRequest(request, from: RequestClient(channel: channel))
        let response: Response
        if let channel {
            response = await withCancellationOnHangUp(of: channel) { await respond(to: incoming) }
        } else {
            response = await respond(to: incoming)
        }
        metrics.record(response.status.code, start.duration(to: .now))
        return response
    }

    /// Maps errors to responses, logs them, adds common headers, and removes the body for `HEAD`.
    private func respond(to request: IncomingRequest) async -> Response {
        var response: Response
        do {
            response = try await route(request)
        } catch {
            response = ErrorResponse(error).response
            if response.status == .methodNotAllowed {
                response.headers[.allow] = routes.allowedMethods(for: request)
            }
            var metadata: Logger.Metadata = [
                "http.path": "\(request.encodedPath)", "error": "\(error)",
            ]
            metadata["trace.id"] = TraceContext(request.headers).map { "\($0.traceID)" }
            logger.debug("rejected request", metadata: metadata)
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[named: "Cross-Origin-Resource-Policy"] =
            admission.pageGuard.resourcePolicy
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Finds the route, and passes the request through the route's steps.
    private func route(_ request: IncomingRequest) async throws -> Response {
        var request = request
        let head = request.http.head
        let route = routes.route(for: request)
        let steps = route?.steps ?? RouteTable.stepsWithoutRoute(request)
        if steps.contains(.connectionLimit), let channel = request.client.channel,
            connections.isSpare(channel)
        {
            throw ServerError.tooManyConnections
        }
        if steps.contains(.pageGuard) { try admission.pageGuard.check(head) }
        if steps.contains(.pathLength) { try admission.checkLength(head) }
        if steps.contains(.signature) { try admission.checkSignature(head) }
        guard let route else { throw routes.error(for: request) }
        if steps.contains(.access) {
            request.permission = try await admission.permission(
                request.headers, for: request.segments, isPage: request.encodedPath == "/",
                isForSelections: route.isForSelections)
        }
        if steps.contains(.cors), request.method == .options {
            return withCORSHeaders(.corsPreflight, head)
        }
        if steps.contains(.rateLimit) { try await limiter?.take(request.client.name) }
        var response: Response
        if steps.contains(.deadline) {
            response = try await withDeadline(timeout) { [request] in
                try await run(route, for: request, steps)
            }
        } else {
            response = try await run(route, for: request, steps)
        }
        if admission.access != nil { response.headers.excludeSharedCaches() }
        return steps.contains(.cors) ? withCORSHeaders(response, head) : response
    }

    /// Runs the route, and a second time if an original changed while it was read.
    func run(
        _ route: any Route, for request: IncomingRequest, _ steps: RequestSteps
    ) async throws -> Response {
        guard steps.contains(.retry) else { return try await route.response(to: request) }
        // The body of a POST request has been consumed by the first run.
        return try await retryingIfChanged(isRepeatable: request.method != .post) {
            try await route.response(to: request)
        }
    }

    /// Adds the headers that allow pages of other origins to read the response.
    private func withCORSHeaders(_ response: Response, _ request: HTTPRequest) -> Response {
        var response = response
        admission.pageGuard.addCORSHeaders(to: &response.headers, request)
        return response
    }
}

extension Response {
    /// The response to a preflight request.
    fileprivate static var corsPreflight: Response {
        Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: "GET, HEAD, OPTIONS",
                .accessControlAllowHeaders: "Accept, If-None-Match",
                .accessControlMaxAge: "86400",
            ])
    }
}
