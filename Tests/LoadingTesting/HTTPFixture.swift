// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
package import HTTPCaching
package import HTTPTypes
package import ImageTesting
package import LoadScheduling
internal import Synchronization

/// A loader between a network that a test rules and a store.
package struct HTTPFixture: Sendable {
    /// Where the image of most tests is.
    package static let address = "https://example.org/picture.fake"
    /// No byte of it like the next, and as long as the download that once broke off.
    package static let image: [UInt8] =
        Array("FAKE".utf8) + (4..<22_789).map { UInt8(truncatingIfNeeded: $0 * 7) }

    package let transport: FakeTransport
    package let clock: FakeClock
    package let folder: TestFolder
    package let store: ResponseCache
    package let loader: HTTPLoader

    package init(
        byteLimit: Int = 1 << 20, _ change: (inout HTTPLoader.Configuration) -> Void = { _ in },
        _ handler: @escaping FakeTransport.Handler
    ) throws {
        try self.init(
            folder: TestFolder(), clock: FakeClock(), byteLimit: byteLimit, change, handler)
    }

    package init(
        folder: TestFolder, clock: FakeClock, byteLimit: Int = 1 << 20,
        _ change: (inout HTTPLoader.Configuration) -> Void = { _ in },
        _ handler: @escaping FakeTransport.Handler
    ) throws {
        transport = FakeTransport(handler)
        self.clock = clock
        self.folder = folder
        store = try ResponseCache(
            directory: folder.storeDirectory, byteLimit: byteLimit, logger: .silent)
        var configuration = HTTPLoader.Configuration()
        configuration.maximumRetryCount = 0
        change(&configuration)
        loader = HTTPLoader(
            transport: transport, store: store, codecs: CodecSet([FakeCodec()]),
            configuration: configuration, logger: .silent, clock: clock, date: { clock.date })
    }

    package func load(
        _ address: String = HTTPFixture.address, fields: HTTPFields = [:],
        _ policy: HTTPLoadRequest.CachePolicy = .useProtocol, events: EventLog = EventLog()
    ) async throws(LoadError) -> LoadedResponse {
        let request = HTTPLoadRequest(
            url: try HTTPURL(address), fields: fields, cachePolicy: policy)
        return try await loader.load(request) { events.append($0) }
    }

    package func load(_ policy: HTTPLoadRequest.CachePolicy) async throws(LoadError)
        -> LoadedResponse
    {
        try await load(Self.address, policy)
    }

    /// The fields of the latest request.
    package var lastFields: HTTPFields { transport.requests.last?.headerFields ?? [:] }
    package var requestCount: Int { transport.requests.count }

    package func advance(seconds: Int) { clock.advance(by: .seconds(seconds)) }
}

/// What happened, in order.
package final class Log<Item: Sendable>: Sendable {
    private let log = Mutex<[Item]>([])

    package init() {}

    package var items: [Item] { log.withLock { $0 } }

    package func append(_ item: Item) { log.withLock { $0.append(item) } }
}

/// What a consumer was told.
package typealias EventLog = Log<HTTPLoadEvent>

extension EventLog {
    package var events: [HTTPLoadEvent] { items }
    /// What the pieces make since the body last began.
    package var bytes: [UInt8] {
        events.reduce(into: []) { bytes, event in
            switch event {
            case .bytes(let piece): bytes += piece
            case .restart: bytes = []
            case .progress: break
            }
        }
    }
    package var receivedByteCounts: [Int] {
        events.compactMap { event in
            if case .progress(let count, _) = event { count } else { nil }
        }
    }
    package var expectedByteCounts: [Int?] {
        events.compactMap { event in
            if case .progress(_, let count) = event { .some(count) } else { nil }
        }
    }
}

/// `seconds` after the start of a ``FakeClock``, as HTTP writes a date of that day.
package func httpDate(_ seconds: Int = 0) -> String {
    let second = (seconds + 8 * 3600 + 49 * 60 + 37)
    let parts = [second / 3600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return "Sun, 06 Nov 1994 \(parts.joined(separator: ":")) GMT"
}

extension HTTPFields {
    /// The values of a field, byte by byte.
    package func rawValues(_ name: HTTPField.Name) -> [[UInt8]] {
        self[fields: name].map { field in
            unsafe field.withUnsafeBytesOfValue { bytes in unsafe Array(bytes) }
        }
    }
}
