// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
public import HTTPTypes
public import ImageLoading
internal import NIOCore
internal import NIOHTTP1

/// Carries requests over AsyncHTTPClient, by HTTP/1.1 or HTTP/2, over TLS where the address says so.
///
/// Who makes one closes it.
public final class AsyncHTTPTransport: HTTPTransport {
    private let client: HTTPClient

    /// - Parameters:
    ///   - connectTimeout: the time until there is a connection.
    ///   - readTimeout: the time in which nothing comes. The loader has its own; this one holds for
    ///     connections that it does not watch.
    public init(connectTimeout: Duration = .seconds(10), readTimeout: Duration = .seconds(60)) {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(
                connect: TimeAmount(connectTimeout), read: TimeAmount(readTimeout)),
            decompression: .disabled)
        configuration.httpVersion = .automatic
        // Trying again is the loader's business.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(
            eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    /// Ends all connections; requests in flight fail.
    public func close() async {
        // It fails only when it has been done before.
        try? await client.shutdown()
    }

    public func send(
        _ request: HTTPRequest
    ) async throws(LoadError) -> HTTPTransportResponse {
        let url =
            "\(request.scheme ?? "http")://\(request.authority ?? "")\(request.path ?? "/")"
        var outgoing = HTTPClientRequest(url: url)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headerFields {
            outgoing.headers.add(name: field.name.rawName, value: field.value)
        }
        let response: HTTPClientResponse
        do {
            response = try await client.execute(outgoing, deadline: .distantFuture)
        } catch {
            throw LoadError(transport: error, url: url)
        }
        var fields = HTTPFields()
        // The type traps beyond so many, and no server of pictures needs a part of them.
        for header in response.headers.prefix(1000) {
            guard let name = HTTPField.Name(header.name) else { continue }
            fields.append(HTTPField(name: name, value: header.value))
        }
        let head = HTTPResponse(
            status: HTTPResponse.Status(code: Int(response.status.code)), headerFields: fields)
        return HTTPTransportResponse(
            head: head, body: TransportBody(url: url, buffers: response.body))
    }
}

/// A body in arrays of bytes and with errors of ours.
private struct TransportBody: AsyncSequence, Sendable {
    let url: String
    let buffers: HTTPClientResponse.Body

    struct AsyncIterator: AsyncIteratorProtocol {
        let url: String
        var buffers: HTTPClientResponse.Body.AsyncIterator

        mutating func next() async throws(LoadError) -> [UInt8]? {
            try await next(isolation: nil)
        }

        mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(LoadError) -> [UInt8]? {
            do {
                return try await buffers.next(isolation: actor).map { [UInt8](buffer: $0) }
            } catch {
                throw LoadError(transport: error, url: url)
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(url: url, buffers: buffers.makeAsyncIterator())
    }
}

extension LoadError {
    /// What an error of the client means to whoever waits for the picture.
    init(transport error: any Error, url: String) {
        if error is CancellationError || Task.isCancelled {
            self = .cancelled
            return
        }
        switch error as? HTTPClientError {
        case .cancelled?: self = .cancelled
        case .connectTimeout?, .readTimeout?, .deadlineExceeded?,
            .getConnectionFromPoolTimeout?, .tlsHandshakeTimeout?, .writeTimeout?:
            self = .timedOut(url: url)
        default: self = .connectionFailed(url: url, reason: "\(error)")
        }
    }
}
