// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore
internal import MessageDigests
internal import NIOCore

/// `GET /-/login`: the page for the password; `POST /-/login` with `password=…`: the cookie for it.
struct LoginRoute: Route {
    private static let maximumBodyByteCount = 4_096

    let access: AccessControl
    /// Attempts are slow on purpose: five at once, then one in ten seconds by default.
    let attempts: RateLimiter
    /// Hashes one password at a time, which takes memory.
    let queue: FairQueue
    let isSecure: Bool

    let methods: [HTTPRequest.Method] = [.get, .head, .post]
    var steps: RequestSteps { [.connectionLimit, .pageGuard, .pathLength, .deadline] }

    func matches(_ request: IncomingRequest) -> Bool { request.segments == ["-", "login"] }

    func response(to request: IncomingRequest) async throws -> Response {
        guard request.method == .post else {
            return Self.page(isWrong: false, request)
        }
        // A form of another site could log in, but a browser says where it comes from.
        guard !request.isFromOtherSite else {
            throw ServerError.forbidden(reason: "expected a form of this server")
        }
        guard let hash = access.password else { throw ServerError.notFound }
        try attempts.take(request.client.name)
        guard let body = try? await request.http.body.collect(upTo: Self.maximumBodyByteCount),
            let password = Self.password(in: body)
        else { throw ServerError.malformedRequest(reason: "expected password=… as a form") }
        let isRight = try await queue.run(request.client.name) {
            try await onDisk { hash.matches(password) }
        }
        guard isRight else { return Self.page(isWrong: true, request) }
        let duration = AccessControl.loginDuration
        let token = access.token(.everything, expires: HTTPDate.now.seconds + duration)
        return redirect(
            to: "/", cookie: AccessControl.cookie(token, seconds: duration, isSecure: isSecure))
    }

    private static func page(isWrong: Bool, _ request: IncomingRequest) -> Response {
        LoginPage.response(isWrong: isWrong, languages: request.headers[.acceptLanguage])
    }

    private static func password(in body: ByteBuffer) -> String? {
        let fields = body.readableBytesView.split(separator: UInt8(ascii: "&"))
        let prefix = Array("password=".utf8)
        guard let field = fields.first(where: { $0.starts(with: prefix) }) else { return nil }
        let text = String(decoding: field.dropFirst(prefix.count), as: UTF8.self)
            .replacing("+", with: " ")
        return RequestPath.decoded(text[...].utf8)
    }
}

/// `POST /-/logout`: removes the cookie.
struct LogoutRoute: Route {
    let isSecure: Bool

    let methods: [HTTPRequest.Method] = [.post]
    var steps: RequestSteps { [.connectionLimit, .pageGuard, .pathLength] }

    func matches(_ request: IncomingRequest) -> Bool { request.segments == ["-", "logout"] }

    func response(to request: IncomingRequest) -> Response {
        redirect(
            to: "/-/login", cookie: AccessControl.cookie("", seconds: 0, isSecure: isSecure))
    }
}

/// `POST /-/share` with `{"folder": "house", "days": 7}`: the URL of a link to a folder, which
/// `GET /-/share/TOKEN` exchanges for a cookie.
struct ShareRoute: Route {
    private struct Order: Decodable {
        let folder: String
        let days: Int
    }

    private struct Place: Encodable {
        let url: String
    }

    let access: AccessControl
    let directory: ServedDirectory
    /// The first segments of the paths of other routes, which are no folders.
    let prefixes: Set<String>
    let isSecure: Bool

    let methods: [HTTPRequest.Method] = [.get, .head, .post]
    // Only links are open; see the handling of `POST`.
    var steps: RequestSteps { [.connectionLimit, .pageGuard, .pathLength, .deadline] }

    func matches(_ request: IncomingRequest) -> Bool {
        let names = request.segments
        guard names.count >= 2, names[0] == "-", names[1] == "share" else { return false }
        return names.count == (request.method == .post ? 2 : 3)
    }

    func response(to request: IncomingRequest) async throws -> Response {
        guard request.method == .post else { return try open(request) }
        guard access.permission(request.headers) == .everything else {
            throw ServerError.loginRequired
        }
        try request.checkIsOwn()
        let order: Order = try await request.body("folder, a path, and days")
        guard AccessControl.shareDays.contains(order.days) else {
            throw ServerError.malformedRequest(
                reason: "invalid days; expected 1 to \(AccessControl.shareDays.upperBound)")
        }
        guard let names = RequestPath.names(order.folder), let first = names.first,
            first != "-", !prefixes.contains(first),
            let folder = Permission.SharedFolder(names)
        else { throw ServerError.notFound }
        _ = try await onDisk { [directory] in try directory.folder(names) }
        let expires = HTTPDate.now.seconds + order.days * 86_400
        let token = access.token(.folder(folder), expires: expires)
        return .json(
            Place(url: "/-/share/\(token)"), headers: [.cacheControl: "no-store"])
    }

    /// Exchanges a link for a cookie, and shows the folder.
    private func open(_ request: IncomingRequest) throws(ServerError) -> Response {
        let token = request.segments[2]
        guard case .folder(let folder)? = access.permission(ofToken: token) else {
            throw .expired
        }
        let place =
            "/#/" + folder.names.map(\.wrappedValue.percentEncoded).joined(separator: "/") + "/"
        // A user who has logged in stays so.
        guard access.permission(request.headers) != .everything else {
            return redirect(to: place, cookie: nil)
        }
        let duration = AccessControl.shareDays.upperBound * 86_400
        return redirect(
            to: place,
            cookie: AccessControl.cookie(token, seconds: duration, isSecure: isSecure))
    }
}

private func redirect(to place: String, cookie: String?) -> Response {
    var headers: HTTPFields = [.location: place, .cacheControl: "no-store"]
    if let cookie { headers[.setCookie] = cookie }
    return Response(status: .seeOther, headers: headers)
}
