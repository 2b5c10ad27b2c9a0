// SPDX-License-Identifier: Apache-2.0

#if !HTTPS
public import HTTPCaching
public import HTTPTypes
public import LoadScheduling

/// What takes the place of the transport without the trait `HTTPS`: it fails every request.
public final class AsyncHTTPTransport: HTTPTransport {
    /// Creates a transport; the arguments have no effect.
    ///
    /// - Parameters:
    ///   - connectTimeout: ignored.
    ///   - readTimeout: ignored.
    ///   - addressGuard: ignored.
    public init(
        connectTimeout: Duration = .seconds(10), readTimeout: Duration = .seconds(60),
        addressGuard: AddressGuard? = nil
    ) {}

    /// Does nothing.
    public func close() async {}

    /// Fails.
    ///
    /// - Parameter request: the request, of which the error contains the URL.
    /// - Throws: ``LoadScheduling/LoadError/connectionFailed(url:reason:)``, always.
    /// - Returns: never.
    public func send(_ request: HTTPRequest) async throws(LoadError) -> HTTPTransportResponse {
        throw .connectionFailed(
            url: "\(request.scheme ?? "http")://\(request.authority ?? "")\(request.path ?? "/")",
            reason: "this build does not load over HTTP; build with the trait HTTPS")
    }
}
#endif
