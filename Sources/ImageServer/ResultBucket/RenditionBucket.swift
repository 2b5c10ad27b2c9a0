// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
public import HTTPCaching
internal import HTTPTypes
public import ImageLoading
public import Logging
internal import LoadScheduling
internal import Synchronization

/// The renditions of several servers in a bucket of an S3-compatible object store.
///
/// A rendition is one object with its media type, so that other programs can use it. Its key is derived
/// from the path and the version of the original and from the request: servers share renditions if
/// they serve the same files under the same paths. The object store evicts by its lifecycle rules.
///
/// Lookups are limited in time, and pause while the store fails. Writes wait in a bounded queue;
/// what does not fit is dropped. Every object contains a digest, so that a damaged, truncated or exchanged
/// object is not a rendition.
///
/// Lock: every operation is short and never awaits.
public final class RenditionBucket: SharedRenditionStoring {
    /// The limits of a bucket.
    public struct Limits: Sendable {
        /// The maximum time of a lookup, after which the rendition is made.
        public var lookupTimeout = Duration.milliseconds(150)
        /// The maximum time of a write.
        public var writeTimeout = Duration.seconds(30)
        /// The maximum number of bytes of all renditions that are being read, and that wait to be written or
        /// are being written.
        public var byteCount = 32 << 20
        /// The maximum number of concurrent writes.
        public var writeCount = 4
        /// The number of failures in succession after which lookups and writes pause.
        public var failureCount = 3
        /// The time without lookups and writes after failures.
        public var pause = Duration.seconds(10)

        /// The default limits.
        public init() {}
    }

    private struct State {
        var waiting: [(RenditionKey, Rendition)] = []
        /// The number of bytes that are being read, or wait to be written or are being written.
        var byteCount = 0
        var writerCount = 0
        /// Failures in succession.
        var failureCount = 0
        var pausedUntil: ContinuousClock.Instant?

        /// Counts bytes; returns `false`, and counts none, if there would be more than `limit`.
        mutating func reserve(_ count: Int, of limit: Int) -> Bool {
            guard byteCount + count <= limit else { return false }
            byteCount += count
            return true
        }
    }

    private let transport: any HTTPTransport
    private let url: HTTPURL
    private let limits: Limits
    private let logger: Logger
    private let metrics = BucketMetrics()
    private let state = Mutex(State())
    private let clock = ContinuousClock()

    /// Creates a store over a bucket, without a request.
    ///
    /// - Parameters:
    ///   - transport: signs and sends the requests.
    ///   - url: the URL of the bucket, with a prefix of keys if there is one, without a slash at the end.
    ///   - limits: the limits of time and memory.
    ///   - logger: receives the first of several failures as a warning.
    public init(
        _ transport: any HTTPTransport, url: HTTPURL, limits: Limits = Limits(), logger: Logger
    ) {
        self.transport = transport
        self.url = url
        self.limits = limits
        self.logger = logger
    }

    public func rendition(for key: RenditionKey) async -> Rendition? {
        guard !isPaused else { return nil }
        let object = BucketObject(key)
        do {
            let found = try await withDeadline(limits.lookupTimeout) { [self] in
                try await self.object(object)
            }
            succeeded()
            if found == nil { metrics.misses.increment() } else { metrics.hits.increment() }
            return found
        } catch {
            if !Task.isCancelled { failed(error) }
            return nil
        }
    }

    public func insert(_ rendition: Rendition, for key: RenditionKey) {
        let byteCount = rendition.bytes.count
        let (isQueued, needsWriter) = state.withLock { state -> (Bool, Bool) in
            guard !isPaused(state), state.reserve(byteCount, of: limits.byteCount) else {
                return (false, false)
            }
            state.waiting.append((key, rendition))
            guard state.writerCount < limits.writeCount else { return (true, false) }
            state.writerCount += 1
            return (true, true)
        }
        if !isQueued { metrics.drops.increment() }
        if needsWriter { Task { await write() } }
    }

    /// Writes renditions until none waits.
    private func write() async {
        while let (key, rendition) = next() {
            do {
                let object = BucketObject(key)
                try await withDeadline(limits.writeTimeout) { [self] in
                    try await put(rendition, object)
                }
                succeeded()
                metrics.writes.increment()
            } catch {
                failed(error)
                metrics.drops.increment()
            }
            state.withLock { $0.byteCount -= rendition.bytes.count }
        }
    }

    private func next() -> (RenditionKey, Rendition)? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.writerCount -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    private func object(_ object: BucketObject) async throws(LoadError) -> Rendition? {
        let response = try await transport.send(request(.get, object))
        switch response.head.status.code {
        case 200: break
        case 404: return nil
        case 403:
            // S3 answers so, too, if the object does not exist and the servers may not list the bucket.
            metrics.failures.increment()
            return nil
        default: throw failure(object, response.head.status)
        }
        var bytes: [UInt8] = []
        var reserved = 0
        defer { state.withLock { $0.byteCount -= reserved } }
        var iterator = response.body.makeAsyncIterator()
        while let part = try await iterator.next(isolation: nil) {
            guard state.withLock({ $0.reserve(part.count, of: limits.byteCount) }) else {
                throw .badResponse(
                    url: "\(url)/\(object.name)", reason: "the memory for objects is used up")
            }
            reserved += part.count
            bytes += part
        }
        guard let rendition = object.rendition(bytes, response.head.headerFields) else {
            throw .badResponse(
                url: "\(url)/\(object.name)", reason: "the object is not the rendition of its key")
        }
        return rendition
    }

    private func put(_ rendition: Rendition, _ object: BucketObject) async throws(LoadError) {
        var request = request(.put, object)
        request.headerFields.append(contentsOf: object.fields(of: rendition))
        // Another server may have written the same bytes.
        request.headerFields[.ifNoneMatch] = "*"
        let response = try await transport.send(request, body: rendition.bytes)
        // 412: it exists; 409: another server is writing it.
        guard [200, 201, 204, 409, 412].contains(response.head.status.code) else {
            throw failure(object, response.head.status)
        }
    }

    private func request(_ method: HTTPRequest.Method, _ object: BucketObject) -> HTTPRequest {
        HTTPRequest(
            method: method, scheme: url.scheme.rawValue, authority: url.authority,
            path: "\(url.path)/\(object.name)")
    }

    private func failure(_ object: BucketObject, _ status: HTTPResponse.Status) -> LoadError {
        .badResponse(url: "\(url)/\(object.name)", reason: "status \(status.code)")
    }

    private var isPaused: Bool { state.withLock { isPaused($0) } }

    private func isPaused(_ state: borrowing State) -> Bool {
        state.pausedUntil.map { clock.now < $0 } ?? false
    }

    private func succeeded() {
        state.withLock { state in
            state.failureCount = 0
            state.pausedUntil = nil
        }
    }

    private func failed(_ error: any Error) {
        metrics.failures.increment()
        let pauses = state.withLock { state in
            state.failureCount += 1
            guard state.failureCount >= limits.failureCount else { return false }
            state.pausedUntil = clock.now + limits.pause
            return true
        }
        logger.log(
            level: pauses ? .warning : .debug,
            pauses ? "the result bucket fails; renditions are made" : "the result bucket failed",
            metadata: ["error": "\(error)"])
    }
}

/// The counters of a bucket.
private struct BucketMetrics: Sendable {
    let hits = Counter(label: "calotype.result.bucket.hits")
    let misses = Counter(label: "calotype.result.bucket.misses")
    let failures = Counter(label: "calotype.result.bucket.failures")
    let writes = Counter(label: "calotype.result.bucket.writes")
    let drops = Counter(label: "calotype.result.bucket.drops")
}
