// SPDX-License-Identifier: Apache-2.0

package import HTTPCaching
package import HTTPTypes
package import LoadScheduling
internal import Synchronization

/// What the server of a ``FakeTransport`` does with one request.
package struct FakeAnswer: Sendable {
    package var status: Int
    package var fields: HTTPFields
    package var body: [UInt8]
    /// Says how long the body is.
    package var hasLength: Bool
    /// The connection breaks after so many bytes of what is sent.
    package var failsAfter: Int?
    /// The connection is closed instead, as if that were all.
    package var endsAfter: Int?
    /// No connection at all.
    package var isUnreachable: Bool
    /// Waits for ``FakeTransport/release(_:)`` before the head.
    package var isHeld: Bool
    /// Waits for ``FakeTransport/release(_:)`` before each piece.
    package var holdsPieces: Bool
    /// A body whose task is cancelled ends as if that were all.
    package var endsWhenCancelled: Bool
    package var pieceByteCount: Int
    /// Answers `Range` if `If-Range` names this validator of the body.
    package var rangeValidator: String?

    package init(
        status: Int = 200, fields: HTTPFields = [:], body: [UInt8] = [], hasLength: Bool = true,
        failsAfter: Int? = nil, endsAfter: Int? = nil, isUnreachable: Bool = false,
        isHeld: Bool = false, holdsPieces: Bool = false, endsWhenCancelled: Bool = false,
        pieceByteCount: Int = 1000, rangeValidator: String? = nil
    ) {
        self.status = status
        self.fields = fields
        self.body = body
        self.hasLength = hasLength
        self.failsAfter = failsAfter
        self.endsAfter = endsAfter
        self.isUnreachable = isUnreachable
        self.isHeld = isHeld
        self.holdsPieces = holdsPieces
        self.endsWhenCancelled = endsWhenCancelled
        self.pieceByteCount = pieceByteCount
        self.rangeValidator = rangeValidator
    }
}

/// A network that does what the test says, and counts.
package final class FakeTransport: HTTPTransport {
    package typealias Handler = @Sendable (HTTPRequest, Int) -> FakeAnswer

    private struct State {
        var requests: [HTTPRequest] = []
        var cancelCounts: [String: Int] = [:]
        /// The requests that are held, by URL.
        var held: [String: [Int: CheckedContinuation<Bool, Never>]] = [:]
        var lastNumber = 0
    }

    private let handler: Handler
    private let state = Mutex(State())

    /// - Parameter handler: answers a request, the number of those for the same address before it
    ///   given.
    package init(_ handler: @escaping Handler) { self.handler = handler }

    package var requests: [HTTPRequest] { state.withLock { $0.requests } }

    package func startCount(_ url: String) -> Int { requests.count { $0.address == url } }
    package func cancelCount(_ url: String) -> Int { state.withLock { $0.cancelCounts[url] ?? 0 } }
    package func heldCount(_ url: String) -> Int { state.withLock { $0.held[url]?.count ?? 0 } }

    /// Resumes all requests that are held for the URL.
    package func release(_ url: String) {
        let released = state.withLock { $0.held.removeValue(forKey: url) ?? [:] }
        for continuation in released.values { continuation.resume(returning: true) }
    }

    package func send(_ request: HTTPRequest) async throws(LoadError) -> HTTPTransportResponse {
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
    package var address: String { "\(scheme ?? "")://\(authority ?? "")\(path ?? "")" }
}
