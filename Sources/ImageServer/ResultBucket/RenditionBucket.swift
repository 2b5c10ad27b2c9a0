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
/// With Redis, a server that is about to make a rendition has a lock until the object is written, and other
/// servers wait for it for a bounded time.
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

    /// A rendition that waits to be written.
    private struct Write {
        let object: BucketObject
        let rendition: Rendition
        /// Whether this server has the lock of the rendition.
        let isLocked: Bool
    }

    private enum Lookup {
        case found(Rendition), missing, failed
    }

    private struct State {
        var waiting: [Write] = []
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

    let transport: any HTTPTransport
    let url: HTTPURL
    let limits: Limits
    private let locks: RenditionLocks?
    private let logger: Logger
    let metrics = BucketMetrics()
    private let state = Mutex(State())
    private let clock = ContinuousClock()

    /// Creates a store over a bucket, without a request.
    ///
    /// - Parameters:
    ///   - transport: signs and sends the requests.
    ///   - url: the URL of the bucket, with a prefix of keys if there is one, without a slash at the end.
    ///   - limits: the limits of time and memory.
    ///   - redis: where the servers lock renditions that they make; `nil` for no locks.
    ///   - logger: receives the first of several failures as a warning.
    public init(
        _ transport: any HTTPTransport, url: HTTPURL, limits: Limits = Limits(),
        redis: RedisClient? = nil, logger: Logger
    ) {
        self.transport = transport
        self.url = url
        self.limits = limits
        locks = redis.map { RenditionLocks($0) }
        self.logger = logger
    }

    public func rendition(for key: RenditionKey) async -> Rendition? {
        let object = BucketObject(key)
        switch await lookUp(object) {
        case .found(let rendition): return rendition
        case .failed: return nil
        case .missing: break
        }
        guard let locks, await locks.take(object.name) == .lookUp,
            case .found(let rendition) = await lookUp(object)
        else { return nil }
        return rendition
    }

    private func lookUp(_ object: BucketObject) async -> Lookup {
        guard !isPaused else { return .failed }
        do {
            let found = try await withDeadline(limits.lookupTimeout) { [self] in
                try await self.object(object)
            }
            succeeded()
            if found == nil { metrics.misses.increment() } else { metrics.hits.increment() }
            return found.map { .found($0) } ?? .missing
        } catch {
            if !Task.isCancelled { failed(error) }
            return .failed
        }
    }

    public func endMaking(of key: RenditionKey) {
        let name = BucketObject(key).name
        // Nothing was inserted.
        if let locks, locks.handOver(name) { locks.release(name, isWritten: false) }
    }

    public func insert(_ rendition: Rendition, for key: RenditionKey) {
        let byteCount = rendition.bytes.count
        let object = BucketObject(key)
        let write = Write(
            object: object, rendition: rendition,
            isLocked: locks?.handOver(object.name) ?? false)
        let (isQueued, needsWriter) = state.withLock { state -> (Bool, Bool) in
            guard !isPaused(state), state.reserve(byteCount, of: limits.byteCount) else {
                return (false, false)
            }
            state.waiting.append(write)
            guard state.writerCount < limits.writeCount else { return (true, false) }
            state.writerCount += 1
            return (true, true)
        }
        if !isQueued { drop(write) }
        if needsWriter { Task { await self.write() } }
    }

    /// Writes renditions until none waits.
    private func write() async {
        while let write = next() {
            do {
                try await withDeadline(limits.writeTimeout) { [self] in
                    try await put(write.rendition, write.object)
                }
                succeeded()
                metrics.writes.increment()
                if write.isLocked { locks?.release(write.object.name, isWritten: true) }
            } catch {
                failed(error)
                drop(write)
            }
            state.withLock { $0.byteCount -= write.rendition.bytes.count }
        }
    }

    private func drop(_ write: Write) {
        metrics.drops.increment()
        if write.isLocked { locks?.release(write.object.name, isWritten: false) }
    }

    public func dropWaiting(of name: String) {
        let folder = BucketObject.folder(of: name)
        let dropped = state.withLock { state in
            let dropped = state.waiting.filter { $0.object.name.hasPrefix(folder) }
            state.waiting.removeAll { $0.object.name.hasPrefix(folder) }
            state.byteCount -= dropped.reduce(0) { $0 + $1.rendition.bytes.count }
            return dropped
        }
        dropped.forEach(drop)
    }

    private func next() -> Write? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.writerCount -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    private func object(_ object: BucketObject) async throws(LoadError) -> Rendition? {
        let response = try await transport.send(request(.get, object.name))
        switch response.head.status.code {
        case 200: break
        case 404: return nil
        case 403:
            // S3 answers so, too, if the object does not exist and the servers may not list the bucket.
            metrics.failures.increment()
            return nil
        default: throw failure(object.name, response.head.status)
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
        var request = request(.put, object.name)
        request.headerFields.append(contentsOf: object.fields(of: rendition))
        // Another server may have written the same bytes.
        request.headerFields[.ifNoneMatch] = "*"
        let response = try await transport.send(request, body: rendition.bytes)
        // 412: it exists; 409: another server is writing it.
        guard [200, 201, 204, 409, 412].contains(response.head.status.code) else {
            throw failure(object.name, response.head.status)
        }
    }

    func request(_ method: HTTPRequest.Method, _ name: String) -> HTTPRequest {
        HTTPRequest(
            method: method, scheme: url.scheme.rawValue, authority: url.authority,
            path: "\(url.path)/\(name)")
    }

    func failure(_ name: String, _ status: HTTPResponse.Status) -> LoadError {
        .badResponse(url: "\(url)/\(name)", reason: "status \(status.code)")
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
struct BucketMetrics: Sendable {
    let hits = Counter(label: "calotype.result.bucket.hits")
    let misses = Counter(label: "calotype.result.bucket.misses")
    let failures = Counter(label: "calotype.result.bucket.failures")
    let writes = Counter(label: "calotype.result.bucket.writes")
    let drops = Counter(label: "calotype.result.bucket.drops")
}
