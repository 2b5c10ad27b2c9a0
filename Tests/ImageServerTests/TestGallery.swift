// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPCaching
import HTTPTypes
import HummingbirdCore
import ImageCodecs
import ImageLoading
import ImageTesting
import Logging
import NIOCore
import PhotoLibrary
import Pixels
import Synchronization
import Testing

@testable import ImageServer

/// A folder of images for one test, removed with the last reference, and a server for it without a
/// network.
final class TestGallery: Sendable {
    /// The folder around the served folder.
    let outside: URL
    let folder: URL
    let pipeline: ImagePipeline
    let gate = GateCodec()
    let store: RenditionStore?
    private let changes: @Sendable (inout ImageServer.Configuration) -> Void

    // Stores are outside of the served folder; the clock is for remote originals.
    init(
        keepsRenditions: Bool = false, codecs: CodecSet = builtInCodecs,
        web transport: (any HTTPTransport)? = nil,
        clock: FakeClock? = nil,
        changing changes: @escaping @Sendable (inout ImageServer.Configuration) -> Void = { _ in },
        changingPipeline change: (inout ImagePipeline.Configuration) -> Void = { _ in },
        changingLoader changeLoader: (inout HTTPLoader.Configuration) -> Void = { _ in }
    ) throws {
        self.changes = changes
        outside = FileManager.default.temporaryDirectory
            .appending(path: "calotype-\(UUID().uuidString)")
        folder = outside.appending(path: "photos")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var configuration = ImagePipeline.Configuration()
        let date: @Sendable () -> Int = { clock?.date ?? HTTPLoader.systemDate() }
        if keepsRenditions {
            store = try RenditionStore(
                directory: outside.appending(path: "store").path, byteLimit: 1 << 20,
                logger: Logger(label: "test"), date: date)
            configuration.store = store
        } else {
            store = nil
        }
        if let transport {
            var loading = HTTPLoader.Configuration()
            loading.maximumRetryCount = 0
            loading.maximumBodyByteCount = 1 << 20
            var server = ImageServer.Configuration(directory: folder.path, codecs: builtInCodecs)
            changes(&server)
            let sources = server.webSources
            loading.allows = { sources?.allows($0) == true }
            changeLoader(&loading)
            let answers: ResponseCache? =
                if keepsRenditions {
                    try ResponseCache(
                        directory: outside.appending(path: "web").path, byteLimit: 1 << 20,
                        logger: Logger(label: "test"))
                } else {
                    nil
                }
            let time: any Clock<Duration> = if let clock { clock } else { ContinuousClock() }
            configuration.web = HTTPLoader(
                transport: transport, store: answers, codecs: builtInCodecs,
                configuration: loading, logger: Logger(label: "test"), clock: time, date: date)
        }
        change(&configuration)
        pipeline = ImagePipeline(
            codecs: codecs.adding([gate]), configuration: configuration,
            logger: Logger(label: "test"))
    }

    deinit { try? FileManager.default.removeItem(at: outside) }

    var configuration: ImageServer.Configuration {
        var configuration = ImageServer.Configuration(
            directory: folder.path, codecs: builtInCodecs.adding([gate]))
        configuration.port = 0
        configuration.sizes = .exact
        // Tests share their threads with others that compute for minutes.
        configuration.requestTimeout = .seconds(3600)
        changes(&configuration)
        return configuration
    }

    var server: ImageServer {
        ImageServer(
            configuration: configuration, pipeline: pipeline, logger: Logger(label: "test"))
    }

    /// Calls `body` with a handler of requests after all `count` images of the library were indexed.
    func whileLibraryRuns(
        imageCount count: Int, _ body: @Sendable @escaping (RequestHandler) async throws -> Void
    ) async throws {
        let server = server
        let parts = try server.parts()
        let library = try #require(parts.library)
        library.start()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await library.run() }
            defer { group.cancelAll() }
            await eventually { library.status.isComplete && library.status.foundCount == count }
            try await body(server.requestHandler(parts))
        }
    }

    /// Writes an image; creates folders on the way.
    @discardableResult
    func image(
        _ path: String, _ size: PixelSize = PixelSize(width: 40, height: 30), seed: UInt64 = 1
    ) throws -> [UInt8] {
        let bytes = try ImageDestination(format: "png", codecs: builtInCodecs)
            .encode(TestImage.photograph(size, seed: seed))
        try file(path, bytes)
        return bytes
    }

    /// Writes a file below the served folder.
    func file(_ path: String, _ bytes: [UInt8]) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }

    func identity(_ path: String) throws -> FileIdentity {
        // Resolved as by the server: the temporary folder may be behind a link.
        let root = try ServedDirectory(folder.path).path
        return try FileIdentity(path: "\(root)/\(path)")
    }

    /// The response of `other`, or of a new server for the folder.
    func get(
        _ address: String, _ headers: HTTPFields = [:], from other: ImageServer? = nil
    ) async throws -> Answer {
        try await request(.get, address, headers, from: other)
    }

    func request(
        _ method: HTTPRequest.Method, _ address: String, _ headers: HTTPFields = [:],
        body: [UInt8] = [], from other: ImageServer? = nil
    ) async throws -> Answer {
        try await self.request(
            method, address, headers, body: body, to: (other ?? server).requestHandler())
    }

    func request(
        _ method: HTTPRequest.Method, _ address: String, _ headers: HTTPFields = [:],
        body: [UInt8] = [], to handler: RequestHandler
    ) async throws -> Answer {
        let request = Request(
            head: HTTPRequest(
                method: method, scheme: "http", authority: "localhost", path: address,
                headerFields: headers),
            body: RequestBody(buffer: ByteBuffer(bytes: body)))
        let response = await handler.respond(to: request, over: nil)
        let collector = BodyCollector()
        try await response.body.write(collector)
        return Answer(
            status: response.status.code, headers: response.headers,
            body: collector.bytes.withLock { $0 })
    }
}

/// A response with its body.
struct Answer: Sendable {
    let status: Int
    let headers: HTTPFields
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The object in a JSON body.
    func json() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] ?? [:]
    }

    /// The size of the image in the body.
    func pixelSize() throws -> PixelSize {
        try ImageSource(EncodedBytes(body), codecs: builtInCodecs).pixelSize
    }
}
