// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes
public import LoadScheduling

/// Sends one request to a server and returns the response; ``HTTPLoader`` does everything else.
///
/// A transport does not follow redirects, cache, retry or decode content codings. Cancelling the
/// task ends the wait for the response. The connection is closed when the task is cancelled or the
/// body is released before its end.
public protocol HTTPTransport: Sendable {
    /// Sends a request and waits for the head of the response.
    ///
    /// - Throws: `LoadError.connectionFailed(url:reason:)`, `LoadError.timedOut(url:)`, or
    ///   `LoadError.cancelled`.
    func send(_ request: HTTPRequest) async throws(LoadError) -> HTTPTransportResponse

    /// Sends a request with a body and waits for the head of the response.
    ///
    /// - Throws: as ``send(_:)``; always, unless the transport implements it.
    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(LoadError) -> HTTPTransportResponse
}

extension HTTPTransport {
    /// Fails: a transport that only loads need not send bodies.
    public func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(LoadError) -> HTTPTransportResponse {
        throw .connectionFailed(
            url: "\(request.authority ?? "")\(request.path ?? "")",
            reason: "the transport sends no bodies")
    }
}

/// The head of a response, and its body as an asynchronous sequence.
public struct HTTPTransportResponse: Sendable {
    /// The status and the fields.
    public let head: HTTPResponse
    /// The parts of the body in order; iterated once; throws the errors of
    /// ``HTTPTransport/send(_:)``.
    public let body: any AsyncSequence<[UInt8], LoadError> & Sendable

    /// Creates a response.
    public init(head: HTTPResponse, body: any AsyncSequence<[UInt8], LoadError> & Sendable) {
        self.head = head
        self.body = body
    }
}
