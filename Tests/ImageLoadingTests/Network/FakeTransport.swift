// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Synchronization

@testable import ImageLoading

/// What the server of a ``FakeTransport`` does with one request.
struct FakeAnswer: Sendable {
    var status = 200
    var fields: HTTPFields = [:]
    var body: [UInt8] = []
    /// Says how long the body is.
    var hasLength = true
    /// The connection breaks after so many bytes of what is sent.
    var failsAfter: Int?
    /// The connection is closed instead, as if that were all.
    var endsAfter: Int?
    /// No connection at all.
    var isUnreachable = false
    /// Waits for ``FakeTransport/release(_:)`` before the head.
    var isHeld = false
    /// Waits for ``FakeTransport/release(_:)`` before each piece.
    var holdsPieces = false
    /// A body whose task is cancelled ends as if that were all.
    var endsWhenCancelled = false
    var pieceByteCount = 1000
    /// Answers `Range` if `If-Range` names this validator of the body.
    var rangeValidator: String?
}

/// A network that does what the test says, and counts.
final class FakeTransport: HTTPTransport {
    typealias Handler = @Sendable (HTTPRequest, Int) -> FakeAnswer

    private struct State {
        var requests: [HTTPRequest] = []
        var cancelCounts: [String: Int] = [:]
        /// Those who wait at a gate, by address.
        var held: [String: [Int: CheckedContinuation<Bool, Never>]] = [:]
        var lastNumber = 0
    }

    private let handler: Handler
    private let state = Mutex(State())

    /// - Parameter handler: answers a request, the number of those for the same address before it
    ///   given.
    init(_ handler: @escaping Handler) { self.handler = handler }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    func startCount(_ url: String) -> Int { requests.count { $0.address == url } }
    func cancelCount(_ url: String) -> Int { state.withLock { $0.cancelCounts[url] ?? 0 } }
    func heldCount(_ url: String) -> Int { state.withLock { $0.held[url]?.count ?? 0 } }

    /// Lets everyone go on who waits for the address now.
    func release(_ url: String) {
        let released = state.withLock { $0.held.removeValue(forKey: url) ?? [:] }
        for continuation in released.values { continuation.resume(returning: true) }
    }

    func send(_ request: HTTPRequest) async throws(LoadError) -> HTTPTransportResponse {
        let url = request.address
        let index = state.withLock { state in
            defer { state.requests.append(request) }
            return state.requests.count { $0.address == url }
        }
        let answer = handler(request, index)
        if answer.isHeld {
            do throws(LoadError) {
                try await hold(url)
            } catch {
                noteLetGo(url)
                throw error
            }
        }
        if answer.isUnreachable { throw .connectionFailed(url: url, reason: "refused") }
        var head = HTTPResponse(
            status: HTTPResponse.Status(code: answer.status), headerFields: answer.fields)
        var body = answer.body
        if let range = request.headerFields[.range], let validator = answer.rangeValidator,
            request.headerFields[.ifRange] == validator,
            let first = Int(range.dropFirst("bytes=".count).dropLast())
        {
            if first < body.count {
                head.status = .partialContent
                head.headerFields[.contentRange] = "bytes \(first)-\(body.count - 1)/\(body.count)"
                body = Array(body[first...])
            } else {
                head.status = .rangeNotSatisfiable
                head.headerFields[.contentRange] = "bytes */\(body.count)"
                body = []
            }
        }
        if answer.hasLength && head.status.code != 304 {
            head.headerFields[.contentLength] = "\(body.count)"
        }
        let life = BodyLife { self.noteLetGo(url) }
        return HTTPTransportResponse(
            head: head,
            body: FakeBody(transport: self, url: url, answer: answer, bytes: body, life: life))
    }

    fileprivate func hold(_ url: String) async throws(LoadError) {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let isReleased = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.held[url, default: [:]][number] = continuation }
                if Task.isCancelled { giveUp(url, number) }
            }
        } onCancel: {
            giveUp(url, number)
        }
        guard isReleased else { throw .cancelled }
    }

    private func giveUp(_ url: String, _ number: Int) {
        let waiting = state.withLock { $0.held[url]?.removeValue(forKey: number) }
        waiting?.resume(returning: false)
    }

    private func noteLetGo(_ url: String) {
        state.withLock { $0.cancelCounts[url, default: 0] += 1 }
    }
}

/// Ends with the last reference to a body.
private final class BodyLife: Sendable {
    private let hasEnded = Mutex(false)
    private let letGo: @Sendable () -> Void

    init(_ letGo: @escaping @Sendable () -> Void) { self.letGo = letGo }

    deinit { if !hasEnded.withLock({ $0 }) { letGo() } }

    func end() { hasEnded.withLock { $0 = true } }
}

private struct FakeBody: AsyncSequence, Sendable {
    let transport: FakeTransport
    let url: String
    let answer: FakeAnswer
    let bytes: [UInt8]
    let life: BodyLife

    struct AsyncIterator: AsyncIteratorProtocol {
        let body: FakeBody
        var position = 0

        mutating func next() async throws(LoadError) -> [UInt8]? {
            try await next(isolation: nil)
        }

        mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(LoadError) -> [UInt8]? {
            let answer = body.answer
            do throws(LoadError) {
                if Task.isCancelled { throw .cancelled }
                if answer.holdsPieces { try await body.transport.hold(body.url) }
            } catch {
                if answer.endsWhenCancelled { return nil }
                throw error
            }
            var end = Swift.min(body.bytes.count, position + answer.pieceByteCount)
            if let failsAfter = answer.failsAfter {
                if position >= failsAfter {
                    body.life.end()
                    throw .connectionFailed(url: body.url, reason: "reset")
                }
                end = Swift.min(end, failsAfter)
            }
            if let endsAfter = answer.endsAfter { end = Swift.min(end, endsAfter) }
            guard position < end else {
                body.life.end()
                return nil
            }
            defer { position = end }
            return Array(body.bytes[position..<end])
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }
}

extension HTTPRequest {
    var address: String { "\(scheme ?? "")://\(authority ?? "")\(path ?? "")" }
}
