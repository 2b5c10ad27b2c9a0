// SPDX-License-Identifier: Apache-2.0

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
        let token = access.token(.login, expires: HTTPDate.now.seconds + duration)
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

/// A redirection of a page, with a cookie unless it is `nil`.
func redirect(to place: String, cookie: String?) -> Response {
    var headers: HTTPFields = [.location: place, .cacheControl: "no-store"]
    if let cookie { headers[.setCookie] = cookie }
    return Response(status: .seeOther, headers: headers)
}
