// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import FoundationEssentials
internal import HTTPTypes
internal import HummingbirdCore
internal import LoadScheduling
internal import NIOCore
internal import ImageLoading

/// What a client is told of an error: a status and a line without a path of the file system.
///
/// This is the one place where errors become statuses.
struct ErrorResponse {
    let status: HTTPResponse.Status
    let message: String
    /// When a client that asked too often may ask again.
    private var retrySeconds = 1
    /// Whether no other request is answered on the connection.
    private var closesConnection = false

    init(_ error: any Error) {
        switch error {
        case let error as ServerError: self.init(error)
        case let error as LoadError: self.init(error)
        case let error as CodecError: self.init(decoding: error)
        case is CancellationError: self.init(LoadError.cancelled)
        default: self.init(status: .internalServerError, message: "the server failed")
        }
    }

    init(_ error: ServerError) {
        let status: HTTPResponse.Status =
            switch error {
            case .notFound: .notFound
            case .malformedRequest: .badRequest
            case .methodNotAllowed: .methodNotAllowed
            case .addressTooLong: .uriTooLong
            case .rangeNotSatisfiable: .rangeNotSatisfiable
            case .changedMeanwhile, .tookTooLong, .tooManyConnections: .serviceUnavailable
            case .badSignature, .forbidden: .forbidden
            case .unauthorized: .unauthorized
            case .expired: .gone
            case .tooManyRequests: .tooManyRequests
            case .misdirected: .misdirectedRequest
            case .addressInUse, .cannotListen, .cannotListenAtSocket, .badCertificate,
                .notAFolder:
                .internalServerError
            }
        self.init(status: status, message: error.description)
        if case .tooManyRequests(let seconds) = error { retrySeconds = seconds }
        closesConnection = error == .tooManyConnections
    }

    init(_ error: LoadError) {
        switch error {
        case .notFound: self.init(ServerError.notFound)
        case .fileChanged: self.init(ServerError.changedMeanwhile)
        case .decodingFailed(_, let error): self.init(decoding: error)
        case .queueFull:
            self.init(status: .serviceUnavailable, message: "too busy; try again")
        case .cancelled:
            self.init(status: .serviceUnavailable, message: "cancelled")
        case .unreadable:
            self.init(status: .internalServerError, message: "the picture cannot be read")
        case .encodingFailed:
            self.init(status: .internalServerError, message: "the picture cannot be written")
        case .memoryBudgetExceeded:
            self.init(status: .unprocessableContent, message: "the picture needs too much memory")
        case .storeFailed:
            self.init(status: .internalServerError, message: "the store of renditions failed")
        case .addressRefused:
            self.init(status: .forbidden, message: "this address is not served")
        case .badStatus(_, let code) where code == 404 || code == 410:
            self.init(ServerError.notFound)
        case .connectionFailed, .badStatus, .badResponse:
            self.init(status: .badGateway, message: "the original could not be had")
        case .timedOut, .notKept:
            self.init(status: .gatewayTimeout, message: "the original could not be had in time")
        }
    }

    private init(decoding error: CodecError) {
        switch error {
        case .unknownFormat, .notBuiltIn:
            self.init(status: .unsupportedMediaType, message: error.description)
        case .sandboxUnavailable, .decoderStopped(.killed):
            self.init(status: .serviceUnavailable, message: "the picture cannot be decoded now")
        case .malformed, .truncated, .unsupported, .limitExceeded, .decoderStopped:
            self.init(status: .unprocessableContent, message: error.description)
        case .cancelled:
            self.init(LoadError.cancelled)
        case .fileChanged:
            self.init(ServerError.changedMeanwhile)
        // These carry the words of the system or of a library, which are not for strangers.
        case .file:
            self.init(status: .internalServerError, message: "the picture cannot be read")
        case .library:
            self.init(status: .internalServerError, message: "the picture cannot be decoded")
        }
    }

    private init(status: HTTPResponse.Status, message: String) {
        self.status = status
        self.message = message
    }

    /// Whether the same request may succeed a moment later.
    var isPassing: Bool { status == .serviceUnavailable }

    /// `{"error": …}`, never kept by a cache.
    var response: Response {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        if isPassing { headers[.retryAfter] = "1" }
        if closesConnection { headers[.connection] = "close" }
        if status == .tooManyRequests { headers[.retryAfter] = "\(retrySeconds)" }
        if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
        return .json(["error": message], status: status, headers: headers)
    }
}

extension Response {
    /// A body of JSON whose keys are sorted, so that equal values are equal bytes.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings, numbers and lists of them can always be encoded.
        let body = (try? encoder.encode(value)) ?? Data()
        var headers = headers
        headers[.contentType] = "application/json"
        let bytes = ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        return Response(status: status, headers: headers, body: bytes)
    }
}
