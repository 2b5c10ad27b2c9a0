// SPDX-License-Identifier: Apache-2.0

import HTTPTesting
import HTTPTypes
import Logging
import Synchronization
import Testing

@testable import ImageServer

/// Collects log messages.
private struct LogKeeper: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.debug

    final class Lines: Sendable {
        let all = Mutex<[Logger.Metadata]>([])
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.all.withLock { $0.append(event.metadata ?? [:]) } }
}

@Suite("The trace context of a request", .timeLimit(.minutes(10))) struct TraceTests {
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00-\(id)-00f067aa0ba902b7-01"
    private static let other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private static func headers(_ parent: String, _ state: String = "congo=t61rcWkgMzE")
        -> HTTPFields
    {
        var headers = HTTPFields()
        headers[named: "traceparent"] = parent
        headers[named: "tracestate"] = state
        return headers
    }

    /// The fields of a request received by an origin, in lower case.
    private static func fields(_ request: String, _ name: String) -> [String] {
        request.lowercased().split(separator: "\r\n").map(String.init)
            .filter { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    @Test("is passed to the origin, and does not affect caches") func passedOn()
        async throws
    {
        let answer = ScriptedServer.Answer(
            image: LiveOrigin.image(), ["Cache-Control: max-age=600", "Vary: traceparent"])
        try await LiveOrigin.with({ _, _ in answer }) { origin in
            let first = try await origin.get("/a.png", Self.headers(Self.parent))
            #expect(first.status == 200, "\(first.text.prefix(300))")
            let second = try await origin.get("/a.png", Self.headers(Self.other))
            #expect(second.body == first.body)
            #expect(origin.server.requests.count == 1)
            let request = try #require(origin.server.requests.first)
            #expect(Self.fields(request, "traceparent") == [Self.parent])
            #expect(Self.fields(request, "tracestate") == ["congo=t61rcwkgmze"])
        }
    }

    @Test("is not passed on if it is malformed, too long or missing") func dropped() async throws {
        let answer = ScriptedServer.Answer(image: LiveOrigin.image())
        try await LiveOrigin.with({ _, _ in answer }) { origin in
            let malformed = ["00-\(Self.id)-0000000000000000-01", "00-\(Self.id)", "x"]
            for (index, parent) in malformed.enumerated() {
                #expect(try await origin.get("/\(index)", Self.headers(parent)).status == 200)
            }
            let plain = try await origin.get("/none")
            #expect(plain.status == 200)
            let long = Self.headers(Self.parent, String(repeating: "a=b,", count: 200))
            #expect(try await origin.get("/long", long).status == 200)
            let requests = origin.server.requests
            #expect(requests.count == 5)
            #expect(requests.flatMap { Self.fields($0, "tracestate") }.isEmpty)
            #expect(requests.dropLast().flatMap { Self.fields($0, "traceparent") }.isEmpty)
            #expect(requests.suffix(1).flatMap { Self.fields($0, "traceparent") } == [Self.parent])
        }
    }

    @Test("is logged with rejected requests") func logged() async throws {
        let gallery = try TestGallery()
        let lines = LogKeeper.Lines()
        let server = ImageServer(
            configuration: gallery.configuration, pipeline: gallery.pipeline,
            logger: Logger(label: "test") { _ in LogKeeper(lines: lines) })
        for headers in [Self.headers(Self.parent), Self.headers("x"), [:]] {
            #expect(try await gallery.get("/missing", headers, from: server).status == 404)
        }
        let ids = lines.all.withLock { $0.map { $0["trace.id"]?.description } }
        #expect(ids == [Self.id, nil, nil])
    }
}
