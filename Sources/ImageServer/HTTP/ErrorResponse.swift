// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import EncodedImages
internal import HTTPTypes
internal import HummingbirdCore

/// The response to a failed request: a status and one line of text without file system paths.
///
/// This is the only place where errors are mapped to status codes.
struct ErrorResponse {
    let status: HTTPResponse.Status
    let message: String
    /// The value of `Retry-After` for 429 responses.
    private var retrySeconds = 1
    /// Whether a login is required.
    private var needsLogin = false
    /// Whether the connection is closed after the response.
    private var closesConnection = false
    /// The length of the file for 416 responses.
    private var rangedByteCount: Int?

    init(_ error: any Error) {
        switch error {
        case let error as ServerError: self.init(error)
        case let error as LoadError: self.init(error)
        case let error as CodecError: self.init(decoding: error)
        case is CancellationError: self.init(LoadError.cancelled)
        default: self.init(status: .internalServerError, message: "internal server error")
        }
    }

    init(_ error: ServerError) {
        let status: HTTPResponse.Status =
            switch error {
            case .notFound: .notFound
            case .malformedRequest: .badRequest
            case .methodNotAllowed: .methodNotAllowed
            case .pathTooLong: .uriTooLong
            case .rangeNotSatisfiable: .rangeNotSatisfiable
            case .originalChanged, .deadlineExceeded, .tooManyConnections: .serviceUnavailable
            case .badSignature, .forbidden: .forbidden
            case .unauthorized, .loginRequired: .unauthorized
            case .expired, .linkEnded: .gone
            case .tooManyRequests: .tooManyRequests
            case .misdirected: .misdirectedRequest
            case .addressInUse, .cannotListen, .cannotListenAtSocket, .badCertificate,
                .invalidTemplate, .notAFolder:
                .internalServerError
            }
        self.init(status: status, message: error.description)
        if case .tooManyRequests(let seconds) = error { retrySeconds = seconds }
        if case .rangeNotSatisfiable(let byteCount) = error { rangedByteCount = byteCount }
        closesConnection = error == .tooManyConnections
        needsLogin = error == .loginRequired
    }

    init(_ error: LoadError) {
        switch error {
        case .notFound: self.init(ServerError.notFound)
        case .fileChanged: self.init(ServerError.originalChanged)
        case .decodingFailed(_, let error): self.init(decoding: error)
        case .queueFull:
            self.init(status: .serviceUnavailable, message: "server busy; retry later")
        case .cancelled:
            self.init(status: .serviceUnavailable, message: "request cancelled")
        case .unreadable:
            self.init(status: .internalServerError, message: "cannot read the image")
        case .encodingFailed:
            self.init(status: .internalServerError, message: "cannot encode the image")
        case .memoryBudgetExceeded:
            self.init(
                status: .unprocessableContent, message: "the image exceeds the memory budget")
        case .storeFailed:
            self.init(status: .internalServerError, message: "the rendition store failed")
        case .addressRefused:
            self.init(status: .forbidden, message: "originals of this URL are not served")
        case .badStatus(_, let code) where code == 404 || code == 410:
            self.init(ServerError.notFound)
        case .connectionFailed, .badStatus, .badResponse:
            self.init(status: .badGateway, message: "cannot load the original from its server")
        case .timedOut, .notKept:
            self.init(
                status: .gatewayTimeout, message: "timeout while loading the original")
        }
    }

    private init(decoding error: CodecError) {
        switch error {
        case .unknownFormat, .empty, .notBuiltIn:
            self.init(status: .unsupportedMediaType, message: error.description)
        case .sandboxUnavailable, .decoderStopped(.killed):
            self.init(
                status: .serviceUnavailable, message: "decoder unavailable; retry later")
        case .malformed, .truncated, .unsupported, .limitExceeded, .decoderStopped:
            self.init(status: .unprocessableContent, message: error.description)
        case .cancelled:
            self.init(LoadError.cancelled)
        case .fileChanged:
            self.init(ServerError.originalChanged)
        // The texts of these come from the system or a library and may contain file paths.
        case .file:
            self.init(status: .internalServerError, message: "cannot read the image")
        case .library:
            self.init(status: .internalServerError, message: "cannot decode the image")
        }
    }

    private init(status: HTTPResponse.Status, message: String) {
        self.status = status
        self.message = message
    }

    /// Whether a retry may succeed.
    var isTransient: Bool { status == .serviceUnavailable }

    /// The body is `{"error": …}`; caches must not store it.
    var response: Response {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        if isTransient { headers[.retryAfter] = "1" }
        if closesConnection { headers[.connection] = "close" }
        if status == .tooManyRequests { headers[.retryAfter] = "\(retrySeconds)" }
        // A login with a cookie has no registered scheme; a challenge is required (RFC 9110, 15.5.2).
        if status == .unauthorized {
            headers[.wwwAuthenticate] = needsLogin ? "Cookie" : "Bearer"
        }
        if let rangedByteCount { headers[.contentRange] = "bytes */\(rangedByteCount)" }
        return .json(["error": message], status: status, headers: headers)
    }
}
