// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes
public import LoadScheduling

/// Carries one request to a server and its answer back; everything else is done by ``HTTPLoader``.
///
/// It follows no redirect, keeps nothing, repeats nothing and undoes no content coding. Waiting for
/// the answer ends when the task is cancelled. The connection is given up when the task is
/// cancelled or the body is let go before its end.
public protocol HTTPTransport: Sendable {
    /// - Throws: `LoadError.connectionFailed(url:reason:)`, `LoadError.timedOut(url:)`, or
    ///   `LoadError.cancelled`.
    func send(_ request: HTTPRequest) async throws(LoadError) -> HTTPTransportResponse
}

/// The head of an answer, and its body as it comes.
public struct HTTPTransportResponse: Sendable {
    public let head: HTTPResponse
    /// The body's pieces in order, read once; it throws what ``HTTPTransport/send(_:)`` throws.
    public let body: any AsyncSequence<[UInt8], LoadError> & Sendable

    public init(head: HTTPResponse, body: any AsyncSequence<[UInt8], LoadError> & Sendable) {
        self.head = head
        self.body = body
    }
}
