// SPDX-License-Identifier: Apache-2.0

#if HTTPS
internal import AsyncHTTPClient
public import HTTPCaching
public import HTTPTypes
public import LoadScheduling
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// An HTTP transport over AsyncHTTPClient: HTTP/1.1 or HTTP/2, with TLS for `https`.
///
/// The creator must call ``close()``.
public final class AsyncHTTPTransport: HTTPTransport {
    /// A client that connects to one IP address for a host name.
    private struct PinnedClient {
        let address: String
        let client: HTTPClient
    }

    private let configuration: HTTPClient.Configuration
    private let client: HTTPClient
    private let addressGuard: AddressGuard?
    /// The clients by host name.
    private let pinned = Mutex<[String: PinnedClient]>([:])

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - connectTimeout: the maximum time to connect.
    ///   - readTimeout: the maximum time without received bytes, for connections that the loader's
    ///     own timeouts do not cover.
    ///   - addressGuard: the allowed IP addresses; `nil` for all. Each host name then has its own
    ///     connections, so that the hosts should be from a fixed list.
    public init(
        connectTimeout: Duration = .seconds(10), readTimeout: Duration = .seconds(60),
        addressGuard: AddressGuard? = nil
    ) {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(
                connect: TimeAmount(connectTimeout), read: TimeAmount(readTimeout)),
            decompression: .disabled)
        configuration.httpVersion = .automatic
        // The loader retries.
        configuration.connectionPool.retryConnectionEstablishment = false
        self.configuration = configuration
        self.addressGuard = addressGuard
        client = HTTPClient(
            eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    /// Closes all connections; requests in flight fail.
    public func close() async {
        // It throws only if the client has been shut down before.
        try? await client.shutdown()
        let clients = pinned.withLock { pinned in
            defer { pinned = [:] }
            return pinned.values.map(\.client)
        }
        for client in clients { try? await client.shutdown() }
    }

    /// Returns the client for a host, which connects to a checked IP address.
    private func client(for host: String, _ url: String) async throws(LoadError) -> HTTPClient {
        guard let addressGuard else { return client }
        let addresses: [String]
        do {
            addresses = try await NIOThreadPool.singleton.runIfActive {
                try addressGuard.addresses(of: host)
            }
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw .connectionFailed(url: url, reason: "\(error)")
        }
        guard let address = addresses.first else {
            throw .addressRefused(
                url: url, reason: "the host resolves to an IP address that is not allowed")
        }
        let (client, old) = pinned.withLock { pinned -> (HTTPClient, HTTPClient?) in
            let known = pinned[host]
            // DNS returns several addresses in a different order each time.
            if let known, addresses.contains(known.address) { return (known.client, nil) }
            var configuration = configuration
            configuration.dnsOverride = [host: address]
            let client = HTTPClient(
                eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
            pinned[host] = PinnedClient(address: address, client: client)
            return (client, known?.client)
        }
        // Requests in flight fail and are retried.
        if let old { try? await old.shutdown() }
        return client
    }

    /// Returns the host without the port.
    private static func host(of authority: String) -> String {
        let name = authority.lastIndex(of: ":").map { authority[..<$0] } ?? authority[...]
        return authority.last == "]" ? authority : String(name)
    }

    /// Sends a request and waits for the head of the response.
    public func send(
        _ request: HTTPRequest
    ) async throws(LoadError) -> HTTPTransportResponse {
        try await send(request, nil)
    }

    /// Sends a request with a body and waits for the head of the response.
    public func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(LoadError) -> HTTPTransportResponse {
        try await send(request, .bytes(ByteBuffer(bytes: body)))
    }

    private func send(
        _ request: HTTPRequest, _ body: HTTPClientRequest.Body?
    ) async throws(LoadError) -> HTTPTransportResponse {
        let url =
            "\(request.scheme ?? "http")://\(request.authority ?? "")\(request.path ?? "/")"
        var outgoing = HTTPClientRequest(url: url)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        outgoing.body = body
        for field in request.headerFields {
            outgoing.headers.add(name: field.name.rawName, value: field.value)
        }
        let host = Self.host(of: request.authority ?? "")
        let client = try await client(for: host, url)
        let response: HTTPClientResponse
        do {
            response = try await client.execute(outgoing, deadline: .distantFuture)
        } catch {
            throw LoadError(transport: error, url: url)
        }
        // `HTTPResponse.Status` traps for other codes.
        guard (100...999).contains(response.status.code) else {
            throw .badResponse(url: url, reason: "invalid status code: \(response.status.code)")
        }
        var fields = HTTPFields()
        // `HTTPFields` traps when it has too many fields; image servers send far fewer.
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

/// A body as byte arrays, with errors of type `LoadError`.
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
    /// Converts an error of the client.
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
#endif
