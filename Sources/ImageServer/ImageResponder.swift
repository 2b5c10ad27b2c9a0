// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import HTTPTypes
internal import HummingbirdCore
internal import ImageLoading
internal import LoadScheduling
internal import Logging
internal import NIOCore
internal import NIOPosix

/// The first name in the addresses of what is made of a picture other than another picture.
enum Derivative: String {
    case tiles, info, placeholder, sprite
}

/// From a request to an answer.
///
/// Not Hummingbird's router: an address here is a path of the disk, decoded once and by our own
/// rules, with a size in the place before the last.
struct ImageResponder {
    static let maximumAddressByteCount = 8_192

    let photos: PhotoDirectory
    let folders: FolderReader
    let pipeline: ImagePipeline
    let tileImages: TileImages
    let configuration: ImageServer.Configuration
    /// The names of formats that can be written, by what addresses call them.
    let formatNames: [String: String]
    /// What the names of presets stand for.
    let presets: [String: PictureOptions]
    /// The part of the pipeline's memory that sprite sheets may take.
    let sheets: MemoryBudget
    let limiter: ClientLimiter?
    let hot: HotRenditions
    /// The headers that may have a say in what a rendition is.
    let varyingNames: [HTTPField.Name]
    let logger: Logger
    let pageGuard: PageGuard
    let connections: OpenConnections
    let outgoing: OutgoingBytes
    /// The work that takes a second and more.
    let slowWork: FairQueue
    /// The work of making all other renditions.
    let usualWork: FairQueue
    /// The work of reading folders.
    let folderWork: FairQueue
    let metrics = ServerMetrics()

    /// The answer to a request, which stops to be worked on when the client hangs up.
    ///
    /// - Parameters:
    ///   - request: from its head on.
    ///   - channel: where it came from; `nil` for a request that came over no network.
    /// - Returns: an answer, of errors too.
    func respond(to request: Request, over channel: (any Channel)?) async -> Response {
        let start = ContinuousClock.now
        let response: Response
        if let channel {
            response = await RequestClient.$current.withValue(RequestClient(channel: channel)) {
                await withCancellationOnHangUp(of: channel) { await answer(request) }
            }
        } else {
            response = await answer(request)
        }
        metrics.record(response.status.code, start.duration(to: .now))
        return response
    }

    /// What finds answers that are there already, for the requests of one connection.
    func readyAnswers() -> (HTTPRequest) -> ConnectionHandler.ReadyAnswer? {
        var date = HTTPDate.now
        var dateText = date.text
        return { request in
            let start = ContinuousClock.now
            guard let answer = readyAnswer(to: request, start),
                (try? admit(request)) != nil
            else { return nil }
            let now = HTTPDate.now
            if now != date { (date, dateText) = (now, now.text) }
            var ready = answer
            if let count = ready.body?.readableBytes, count > OutgoingBytes.freeByteCount {
                guard let hold = outgoing.hold(count) else { return nil }
                ready.hold = hold
            }
            ready.head.headerFields[.date] = dateText
            metrics.record(ready.head.status.code, start.duration(to: .now))
            return ready
        }
    }

    /// Refuses requests of other sites' pages, and addresses that are too long or not signed.
    private func admit(_ request: HTTPRequest) throws(ServerError) {
        try pageGuard.check(request)
        let address = request.path ?? ""
        guard address.utf8.count <= Self.maximumAddressByteCount else { throw .addressTooLong }
        // Who may purge has a token of its own.
        if request.method == .delete { return }
        if !configuration.signatureKeys.isEmpty {
            try AddressSignature(keys: configuration.signatureKeys).check(address, now: Self.now)
        } else if configuration.imgproxy?.keys.isEmpty == false, !configuration.allowsUnsigned {
            throw .forbidden(
                reason: "only signed addresses in the form of imgproxy are answered")
        }
    }

    private func answer(_ request: Request) async -> Response {
        var response: Response
        do {
            response = try await route(request)
        } catch {
            let answer = ErrorResponse(error)
            response = answer.response
            if case ServerError.rangeNotSatisfiable(let byteCount) = error {
                response.headers[.contentRange] = "bytes */\(byteCount)"
            }
            if response.status == .methodNotAllowed {
                response.headers[.allow] = allowedMethods(request)
            }
            var metadata: Logger.Metadata = [
                "http.path": "\(request.uri.path)", "error": "\(error)",
            ]
            metadata["trace.id"] = TraceContext(request.headers).map { "\($0.traceID)" }
            logger.debug("refused request", metadata: metadata)
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[named: "Cross-Origin-Resource-Policy"] = pageGuard.resourcePolicy
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func route(_ request: Request) async throws -> Response {
        let isRead = request.method == .get || request.method == .head
        if isRead, let answer = try health(request) { return answer }
        if let channel = RequestClient.current.channel, connections.isSpare(channel) {
            throw ServerError.tooManyConnections
        }
        try pageGuard.check(request.head)
        if isRead, let answer = status(request) { return answer }
        let client = RequestClient.current.name
        if let keys = configuration.imgproxy, isRead, ImgproxyAddress.isOne(request.uri.path),
            request.uri.string.utf8.count <= Self.maximumAddressByteCount
        {
            // Without signatures of that form's own, those of all addresses hold.
            if keys.keys.isEmpty { try admit(request.head) }
            try limiter?.take(client)
            return try await withDeadline(configuration.requestTimeout) {
                try await onceMoreIfChanged(request) { try await imgproxy(keys, request) }
            }
        }
        try admit(request.head)
        let parts = request.uri.path.utf8.dropFirst()
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map(Substring.init)
        if parts.first == "iiif" {
            return try await withCORS(request) {
                try limiter?.take(client)
                return try await withDeadline(configuration.requestTimeout) {
                    try await onceMoreIfChanged(request) {
                        try await iiif(parts.dropFirst().map(\.utf8)[...], request)
                    }
                }
            }
        }
        guard let path = RequestPath(request.uri.path) else { throw ServerError.notFound }
        var names = path.segments[...]
        let first = names.popFirst()
        if request.method == .delete, isPurged(path.segments, request) {
            return try await purge(path.segments, request)
        }
        guard isRead || (request.method == .post && first == "sprite") else {
            throw ServerError.methodNotAllowed
        }
        switch first {
        case nil: return try gallery("index.html", request)
        case "-":
            switch names.popFirst() {
            case "listing":
                try limiter?.take(client)
                return try await withDeadline(configuration.requestTimeout) { [names] in
                    try await folderWork.run(client) { try await listing(Array(names), request) }
                }
            case "gallery" where names.count == 1: return try gallery(names.joined(), request)
            default: throw ServerError.notFound
            }
        default:
            guard !path.endsWithSlash || first == "sprite" else { throw ServerError.notFound }
            try limiter?.take(client)
            return try await withDeadline(configuration.requestTimeout) { [names] in
                try await onceMoreIfChanged(request) {
                    if let answer = try await derived(first ?? "", Array(names), request) {
                        return answer
                    }
                    return try await picture(path.segments, request)
                }
            }
        }
    }

    /// The answers to health checks, which every client gets at all times.
    private func health(_ request: Request) throws -> Response? {
        switch request.uri.path {
        case "/healthz":
            return .json(["status": "ok"], headers: [.cacheControl: "no-store"])
        case "/readyz":
            guard pipeline.takesWork else { throw LoadError.queueFull }
            return .json(["status": "ok"], headers: [.cacheControl: "no-store"])
        default: return nil
        }
    }

    /// What is answered without looking at a picture, and without a signature.
    private func status(_ request: Request) -> Response? {
        switch request.uri.path {
        case "/-/openapi.json":
            return answer(GalleryFile.description, request)
        case "/metrics":
            guard let metrics = configuration.metrics else { return nil }
            return Response(
                status: .ok,
                headers: [
                    .cacheControl: "no-store", .contentType: "text/plain; version=0.0.4",
                ], body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text)))
        default: return nil
        }
    }

    /// What is made of a picture other than another picture of it.
    private func derived(
        _ kind: String, _ names: [String], _ request: Request
    ) async throws -> Response? {
        guard !names.isEmpty, let kind = Derivative(rawValue: kind) else { return nil }
        switch kind {
        case .tiles: return try await tiles(names, request)
        case .info: return try await information(names, request)
        case .placeholder: return try await placeholder(names, request)
        case .sprite: return try await sprite(names, request)
        }
    }

    /// Lets pages of other servers read the answer, as the viewers of IIIF are.
    private func withCORS(
        _ request: Request, _ answer: () async throws -> Response
    ) async throws -> Response {
        var response: Response
        switch request.method {
        case .get, .head: response = try await answer()
        case .options:
            response = Response(status: .noContent)
            response.headers[.accessControlAllowMethods] = "GET, HEAD, OPTIONS"
            response.headers[.accessControlAllowHeaders] = "Accept, If-None-Match"
            response.headers[.accessControlMaxAge] = "86400"
        default: throw ServerError.methodNotAllowed
        }
        if pageGuard.variesByOrigin {
            response.headers[.vary] =
                response.headers[.vary].map { "\($0), Origin" } ?? "Origin"
        }
        guard let origin = pageGuard.allowedOrigin(request.head) else { return response }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = "ETag, Link"
        return response
    }

    /// An original, or its rendition if the name before the last one is a size.
    private func picture(_ names: [String], _ request: Request) async throws -> Response {
        if names.count > 1, let options = try sizeOptions(names[names.count - 2]) {
            let original = Array(names.dropLast(2) + names.suffix(1))
            return try await rendition(original, options, request)
        }
        return try await original(names, request)
    }

    /// What a segment asks for if it is a size or the name of a preset.
    func sizeOptions(_ segment: String) throws(ServerError) -> PictureOptions? {
        if let preset = presets[segment] { return preset }
        let size = try SizeSegment(
            segment, maximumSide: configuration.maximumSide, formats: formatNames,
            devices: configuration.devices)
        if size != nil { try checkOwnOptions() }
        return size?.options
    }

    /// Refuses what an address asks for by itself where presets alone are answered.
    func checkOwnOptions() throws(ServerError) {
        guard !configuration.allowsPresetsOnly else {
            throw .forbidden(reason: "only presets are answered")
        }
    }

    /// Throws ``ServerError/changedMeanwhile`` in place of what reading an original throws if the
    /// original has changed since it was looked at.
    func reading<Result>(
        _ identity: FileIdentity, _ work: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await work()
        } catch {
            let now = try? await disk { try FileIdentity(path: identity.path) }
            guard let now, now != identity else { throw error }
            throw ServerError.changedMeanwhile
        }
    }

    /// Does what waits for the disk on a thread that may wait.
    func disk<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await NIOThreadPool.singleton.runIfActive(work)
    }
}

extension HTTPFields {
    /// The value of a field that the library has no name for.
    subscript(named name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set {
            if let name = HTTPField.Name(name) { self[name] = newValue }
        }
    }

    func with(_ name: HTTPField.Name, _ value: String) -> HTTPFields {
        var fields = self
        fields[name] = value
        return fields
    }
}
