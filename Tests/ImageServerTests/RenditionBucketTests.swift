// SPDX-License-Identifier: Apache-2.0

import HTTPCaching
import HTTPTypes
import ImageLoading
import ImageTesting
import LoadScheduling
import Logging
import Pixels
import Synchronization
import Testing

@testable import ImageServer

/// An object store in memory that can fail, be slow and lie.
private final class MemoryBucket: HTTPTransport {
    struct Object {
        var fields: HTTPFields
        var bytes: [UInt8]
    }

    struct State {
        var objects: [String: Object] = [:]
        var requests: [HTTPRequest] = []
        /// The status of every response, unless it is 0.
        var status = 0
        /// Requests wait until their task is cancelled.
        var isStuck = false
    }

    let state = Mutex(State())

    var requests: [HTTPRequest] { state.withLock { $0.requests } }
    var objects: [String: Object] { state.withLock { $0.objects } }

    func send(_ request: HTTPRequest) async throws(LoadError) -> HTTPTransportResponse {
        let path = request.path ?? ""
        if let list = path.firstRange(of: "?list-type=2&prefix=") {
            let prefix = path[list.upperBound...].replacing("%2F", with: "/")
            let keys = objects.keys.filter { $0.hasPrefix("/results/\(prefix)") }
                .prefix(1_000).map { "<Contents><Key>\($0.dropFirst(9))</Key></Contents>" }
            return try await respond(request) { _ in
                (200, [:], Array("<ListBucketResult>\(keys.joined())</ListBucketResult>".utf8))
            }
        }
        return try await respond(request) { object in
            if request.method == .delete {
                object = nil
                return (204, [:], [])
            }
            guard let object else { return (404, [:], []) }
            return (200, object.fields, object.bytes)
        }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(LoadError) -> HTTPTransportResponse {
        try await respond(request) { object in
            if object != nil { return (412, [:], []) }
            object = Object(fields: request.headerFields, bytes: body)
            return (200, [:], [])
        }
    }

    private func respond(
        _ request: HTTPRequest,
        _ answer: (inout Object?) -> (status: Int, fields: HTTPFields, body: [UInt8])
    ) async throws(LoadError) -> HTTPTransportResponse {
        let isStuck = state.withLock { state in
            state.requests.append(request)
            return state.isStuck
        }
        if isStuck {
            try? await Task.sleep(for: .seconds(600))
            throw .cancelled
        }
        let (status, fields, body) = state.withLock { state in
            if state.status != 0 { return (state.status, HTTPFields(), [UInt8]()) }
            return answer(&state.objects[request.path ?? ""])
        }
        return HTTPTransportResponse(
            head: HTTPResponse(status: .init(code: status), headerFields: fields),
            body: Parts(bytes: body))
    }

    /// A body in one part.
    private struct Parts: AsyncSequence, Sendable {
        let bytes: [UInt8]

        struct AsyncIterator: AsyncIteratorProtocol {
            var bytes: [UInt8]?

            mutating func next() async throws(LoadError) -> [UInt8]? { bytes.take() }
            mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(LoadError) -> [UInt8]? { bytes.take() }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes) }
    }
}

@Suite("The bucket of renditions", .timeLimit(.minutes(2))) struct RenditionBucketTests {
    private let store = MemoryBucket()
    private let original = OriginalVersion("/photos/été.jpg", version: "3")

    private func bucket(
        redis: RedisClient? = nil, _ change: (inout RenditionBucket.Limits) -> Void = { _ in }
    ) throws -> RenditionBucket {
        var limits = RenditionBucket.Limits()
        // No test depends on the time of the machine, except where it waits for a timeout.
        limits.lookupTimeout = .seconds(100)
        change(&limits)
        return RenditionBucket(
            store, url: try HTTPURL("https://s3.example/results/renditions"), limits: limits,
            redis: redis, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func key(_ request: String = "box=400x400") -> RenditionKey {
        RenditionKey(original, request: request)
    }

    private func rendition(_ byteCount: Int = 100) -> Rendition {
        Rendition(
            bytes: (0..<byteCount).map { UInt8(truncatingIfNeeded: $0) }, mediaType: "image/webp",
            pixelSize: PixelSize(width: 400, height: 300), original: original)
    }

    /// Writes the rendition and waits until it is stored.
    private func fill(_ bucket: RenditionBucket) async -> String {
        bucket.insert(rendition(), for: key())
        while store.objects.isEmpty { await Task.yield() }
        return store.objects.keys.first ?? ""
    }

    @Test("returns what another server has written, as an object of its media type")
    func sharing() async throws {
        let path = await fill(try bucket())
        #expect(path.hasPrefix("/results/renditions/v\(RenditionStore.version)/"))
        #expect(store.objects[path]?.fields[.contentType] == "image/webp")
        #expect(store.requests.last?.headerFields[.ifNoneMatch] == "*")
        #expect(try await bucket().rendition(for: key()) == rendition())
    }

    @Test("has nothing for another request, another version or another name of the original")
    func otherKeys() async throws {
        _ = await fill(try bucket())
        let keys = [
            key("box=401x400"),
            RenditionKey(OriginalVersion("/photos/été.jpg", version: "4"), request: "box=400x400"),
            // The same name to a reader, in other bytes.
            RenditionKey(
                OriginalVersion("/photos/e\u{301}te\u{301}.jpg", version: "3"),
                request: "box=400x400"),
        ]
        for key in keys { #expect(try await bucket().rendition(for: key) == nil) }
        #expect(Set(store.requests.map(\.path)).count == 4)
    }

    @Test(
        "returns no damaged, truncated or exchanged object",
        arguments: ["a byte", "the end", "the type", "the size", "the key"])
    func lies(what: String) async throws {
        let path = await fill(try bucket())
        let wanted = what == "the key" ? key("box=800x800") : key()
        store.state.withLock { state in
            guard var object = state.objects[path] else { return }
            switch what {
            case "a byte": object.bytes[50] ^= 1
            case "the end": object.bytes.removeLast()
            case "the type": object.fields[.contentType] = "text/html"
            case "the size":
                for field in object.fields where field.value == "400x300" {
                    object.fields[field.name] = "300x400"
                }
            default:
                let other = BucketObject(wanted).name
                state.objects["/results/renditions/\(other)"] = object
            }
            state.objects[path] = object
        }
        #expect(try await bucket().rendition(for: wanted) == nil)
        if what == "the key" { #expect(try await bucket().rendition(for: key()) == rendition()) }
    }

    @Test("is not waited for beyond its time limit") func slow() async throws {
        store.state.withLock { $0.isStuck = true }
        let bucket = try bucket { $0.lookupTimeout = .milliseconds(1) }
        #expect(await bucket.rendition(for: key()) == nil)
    }

    @Test("is left alone after failures in succession", arguments: [500, 503])
    func failures(status: Int) async throws {
        store.state.withLock { $0.status = status }
        let bucket = try bucket { $0.pause = .seconds(600) }
        for _ in 0..<10 { #expect(await bucket.rendition(for: key()) == nil) }
        bucket.insert(rendition(), for: key())
        #expect(store.requests.count == 3)
    }

    @Test("is asked for the next object after one that it forbids, which may be missing")
    func forbidden() async throws {
        store.state.withLock { $0.status = 403 }
        let bucket = try bucket { $0.pause = .seconds(600) }
        for _ in 0..<5 { #expect(await bucket.rendition(for: key()) == nil) }
        #expect(store.requests.count == 5)
    }

    @Test("is asked again after the pause") func recovery() async throws {
        _ = await fill(try bucket())
        store.state.withLock { $0.status = 503 }
        let bucket = try bucket { $0.pause = .zero }
        for _ in 0..<5 { #expect(await bucket.rendition(for: key()) == nil) }
        store.state.withLock { $0.status = 0 }
        #expect(await bucket.rendition(for: key()) == rendition())
    }

    @Test("drops what does not fit into its queue") func fullQueue() async throws {
        store.state.withLock { $0.isStuck = true }
        let bucket = try bucket {
            $0.byteCount = 250
            $0.writeTimeout = .seconds(600)
        }
        for number in 0..<5 { bucket.insert(rendition(), for: key("\(number)")) }
        while store.requests.count < 2 { await Task.yield() }
        #expect(store.requests.count == 2)
    }

    @Test("has nothing of an original that has been purged, and everything of others")
    func removal() async throws {
        let bucket = try bucket()
        let other = RenditionKey(OriginalVersion("/photos/a.jpg", version: "3"), request: "")
        for number in 0..<3 { bucket.insert(rendition(), for: key("\(number)")) }
        bucket.insert(rendition(), for: other)
        await eventually { store.objects.count == 4 }
        try await bucket.removeAll(of: "/photos/été.jpg")
        #expect(store.objects.count == 1)
        #expect(store.requests.contains { $0.path?.hasPrefix("/results?list-type=2") == true })
        #expect(await bucket.rendition(for: other)?.bytes == rendition().bytes)
        #expect(await bucket.rendition(for: key("0")) == nil)
    }

    @Test("reports a purge that the store refuses", arguments: [403, 500])
    func refusedRemoval(status: Int) async throws {
        let bucket = try bucket { $0.pause = .seconds(600) }
        _ = await fill(bucket)
        store.state.withLock { $0.status = status }
        for _ in 0..<3 {
            await #expect(throws: LoadError.self) {
                try await bucket.removeAll(of: "/photos/été.jpg")
            }
        }
        store.state.withLock { $0.status = 0 }
        #expect(store.objects.count == 1)
        // Lookups do not pause.
        #expect(await bucket.rendition(for: key()) == rendition())
    }

    @Test("does not write what waits when its original is purged") func droppedWrites() async throws
    {
        store.state.withLock { $0.isStuck = true }
        let bucket = try bucket {
            $0.writeCount = 1
            $0.writeTimeout = .milliseconds(200)
            $0.byteCount = 250
        }
        // The first is being written, until its timeout.
        bucket.insert(rendition(), for: key("0"))
        await eventually { store.requests.count == 1 }
        bucket.insert(rendition(), for: key("1"))
        bucket.dropWaiting(of: "/photos/été.jpg")
        store.state.withLock { $0.isStuck = false }
        // There is room again.
        let other = RenditionKey(OriginalVersion("/photos/a.jpg", version: "3"), request: "")
        bucket.insert(rendition(), for: other)
        await eventually { !store.objects.isEmpty }
        #expect(
            store.objects.keys.first == "/results/renditions/\(BucketObject(other).name)")
    }

    @Test("returns what another server is making, once that has been written")
    func waiting() async throws {
        let locks = FakeLocks()
        let server = try await FakeRedis { $0[0] == "EVAL" ? locks.answer($0) : .reply("") }
        try await server.withClient { first in
            try await server.withClient { second in
                await eventually { first.isConnected && second.isConnected }
                let (one, other) = (try bucket(redis: first), try bucket(redis: second))
                #expect(await one.rendition(for: key()) == nil)
                async let found = other.rendition(for: key())
                await eventually { server.commands.count { $0[0] == "EVAL" } > 5 }
                one.insert(rendition(), for: key())
                one.endMaking(of: key())
                #expect(await found == rendition())
                other.endMaking(of: key())
                #expect(Array(locks.values.values) == ["written"])
            }
        }
        try await server.close()
    }

    @Test("lets another server make what one has not made", arguments: [true, false])
    func givingUp(isDropped: Bool) async throws {
        let locks = FakeLocks()
        let server = try await FakeRedis { $0[0] == "EVAL" ? locks.answer($0) : .reply("") }
        try await server.withClient { first in
            try await server.withClient { second in
                await eventually { first.isConnected && second.isConnected }
                let one = try bucket(redis: first) { $0.byteCount = isDropped ? 1 : 250 }
                let other = try bucket(redis: second)
                #expect(await one.rendition(for: key()) == nil)
                async let found = other.rendition(for: key())
                await eventually { server.commands.count { $0[0] == "EVAL" } > 5 }
                if isDropped { one.insert(rendition(), for: key()) }
                one.endMaking(of: key())
                #expect(await found == nil)
                #expect(Array(locks.values.values) == [second.token])
                other.endMaking(of: key())
                await eventually { locks.values.isEmpty }
            }
        }
        try await server.close()
    }
}
