// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
public import HTTPCaching
public import HTTPTypes
public import LoadScheduling
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// Carries requests over AsyncHTTPClient, by HTTP/1.1 or HTTP/2, over TLS where the address says so.
///
/// Who makes one closes it.
public final class AsyncHTTPTransport: HTTPTransport {
    /// A client that connects to one number whenever it is asked for a name.
    private struct PinnedClient {
        let address: String
        let client: HTTPClient
    }

    private let configuration: HTTPClient.Configuration
    private let client: HTTPClient
    private let addressGuard: AddressGuard?
    /// By the names of hosts.
    private let pinned = Mutex<[String: PinnedClient]>([:])

    /// - Parameters:
    ///   - connectTimeout: the time until there is a connection.
    ///   - readTimeout: the time in which nothing comes. The loader has its own; this one holds for
    ///     connections that it does not watch.
    ///   - addressGuard: which machines may be asked; `nil` for all. Each name of a host then has
    ///     connections of its own, so there should be a list of those that are asked.
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
        // Trying again is the loader's business.
        configuration.connectionPool.retryConnectionEstablishment = false
        self.configuration = configuration
        self.addressGuard = addressGuard
        client = HTTPClient(
            eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    /// Ends all connections; requests in flight fail.
    public func close() async {
        // It fails only when it has been done before.
        try? await client.shutdown()
        let clients = pinned.withLock { pinned in
            defer { pinned = [:] }
            return pinned.values.map(\.client)
        }
        for client in clients { try? await client.shutdown() }
    }

    /// The client for a host: one that connects to a number that has been checked.
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
            throw .addressRefused(url: url, reason: "its host is on a network that is not asked")
        }
        let (client, old) = pinned.withLock { pinned -> (HTTPClient, HTTPClient?) in
            let known = pinned[host]
            // Names of several numbers are answered in another order each time.
            if let known, addresses.contains(known.address) { return (known.client, nil) }
            var configuration = configuration
            configuration.dnsOverride = [host: address]
            let client = HTTPClient(
                eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
            pinned[host] = PinnedClient(address: address, client: client)
            return (client, known?.client)
        }
        // Who is still served by it tries again.
        if let old { try? await old.shutdown() }
        return client
    }

    /// The name without the port.
    private static func host(of authority: String) -> String {
        let name = authority.lastIndex(of: ":").map { authority[..<$0] } ?? authority[...]
        return authority.last == "]" ? authority : String(name)
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
        let host = Self.host(of: request.authority ?? "")
        let client = try await client(for: host, url)
        let response: HTTPClientResponse
        do {
            response = try await client.execute(outgoing, deadline: .distantFuture)
        } catch {
            throw LoadError(transport: error, url: url)
        }
        // The type traps beyond these.
        guard (100...999).contains(response.status.code) else {
            throw .badResponse(url: url, reason: "a status of \(response.status.code)")
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
