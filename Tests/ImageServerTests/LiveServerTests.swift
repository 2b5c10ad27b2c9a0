// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageLoading
import ImageTesting
import LoadScheduling
import Logging
import Pixels
import ServiceLifecycle
import Testing

@testable import ImageServer

@Suite("A listening server", .serialized, .timeLimit(.minutes(10)))
struct LiveServerTests {
    let gallery: TestGallery

    init() throws { gallery = try TestGallery { $0.allowedOrigins = ["*"] } }

    /// Runs the server while `body` runs, then stops it as SIGTERM would.
    private func withServer(
        stopTimeout: Duration = .seconds(30), socketPath: String? = nil,
        maximumConnectionCount: Int = 1_024,
        _ body: @escaping @Sendable (_ address: String, _ group: ServiceGroup) async throws -> Void
    ) async throws {
        let (addresses, sink) = AsyncStream<String>.makeStream()
        var configuration = gallery.configuration
        configuration.stopTimeout = stopTimeout
        configuration.socketPath = socketPath
        configuration.maximumConnectionCount = maximumConnectionCount
        let server = ImageServer(
            configuration: configuration, pipeline: gallery.pipeline,
            logger: .init(label: "test"))
        let services = try server.serviceGroup(stoppingOn: []) { sink.yield($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { sink.finish() }
                try await server.run(services)
            }
            var iterator = addresses.makeAsyncIterator()
            let address = try #require(await iterator.next())
            try await body(address, services)
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }

    @Test("responds to several requests on one connection") func keepAlive() async throws {
        let original = try gallery.image("house/1.png", PixelSize(width: 40, height: 30))
        try await withServer { address, _ in
            #expect(address.hasPrefix("http://127.0.0.1:"))
            try await HTTPConnection.with(address) { connection in
                try await connection.send("GET /house/20x20/1.png HTTP/1.1")
                let rendition = try await connection.answer()
                #expect(rendition.head.hasPrefix("HTTP/1.1 200"))
                let answer = Answer(status: 200, headers: [:], body: rendition.body)
                #expect(try answer.pixelSize() == PixelSize(width: 20, height: 15))

                try await connection.send("HEAD /house/1.png HTTP/1.1")
                let head = try await connection.answer(hasBody: false)
                #expect(head.head.contains("\(original.count)\r\n"))

                try await connection.send("GET /house/1.png HTTP/1.1\r\nIf-None-Match: *")
                #expect(try await connection.answer().head.hasPrefix("HTTP/1.1 304"))

                try await connection.send("GET /house/1.png HTTP/1.1")
                #expect(try await connection.answer().body == original)

                try await connection.send("GET /..%2f HTTP/1.1\r\nConnection: close")
                #expect(try await connection.answer().head.hasPrefix("HTTP/1.1 404"))
                #expect(try await connection.isAtEnd())
            }
        }
    }

    @Test("listens on a Unix domain socket, replaces an old one, and removes it")
    func socket() async throws {
        try gallery.image("1.png", PixelSize(width: 40, height: 30))
        // The path of a Unix domain socket has at most about 100 bytes.
        let path = "/tmp/calotype-\(UInt32.random(in: 0...(.max))).sock"
        #expect(mkSocket(path))
        try await withServer(socketPath: path) { address, _ in
            #expect(address == "unix:\(path)")
            for _ in 0..<2 {
                try await HTTPConnection.with(address) { connection in
                    try await connection.send("GET /20x20/1.png HTTP/1.1")
                    #expect(try await connection.answer().head.hasPrefix("HTTP/1.1 200"))
                }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    /// Creates a socket file without a listener.
    private func mkSocket(_ path: String) -> Bool {
        unsafe mknod(path, S_IFSOCK | 0o600, 0) == 0
    }

    @Test("responds to health checks at the connection limit, and to images below it")
    func connections() async throws {
        try gallery.image("1.png")
        try await withServer(maximumConnectionCount: 1) { address, _ in
            try await HTTPConnection.with(address) { first in
                try await first.send("GET /1.png HTTP/1.1")
                #expect(try await first.answer().head.hasPrefix("HTTP/1.1 200"))
                // More than the limit of spare connections: older ones are closed.
                for _ in 0..<(OpenConnections.spareLimit + 4) {
                    try await HTTPConnection.with(address) { connection in
                        try await connection.send("GET /healthz HTTP/1.1")
                        #expect(try await connection.answer().head.hasPrefix("HTTP/1.1 200"))
                        try await connection.send("GET /1.png HTTP/1.1")
                        let refused = try await connection.answer()
                        #expect(refused.head.hasPrefix("HTTP/1.1 503"))
                        #expect(refused.head.lowercased().contains("connection: close"))
                        #expect(try await connection.isAtEnd())
                    }
                }
                try await first.send("GET /20x20/1.png HTTP/1.1\r\nConnection: close")
                #expect(try await first.answer().head.hasPrefix("HTTP/1.1 200"))
                #expect(try await first.isAtEnd())
            }
            var status = ""
            while !status.hasPrefix("HTTP/1.1 200") {
                status = try await HTTPConnection.with(address) { connection in
                    try await connection.send("GET /1.png HTTP/1.1")
                    return try await connection.answer().head
                }
            }
        }
    }

    @Test("sends an original in pieces, also a range of it") func pieces() async throws {
        // The bytes after the image belong to the file.
        let image = try gallery.image("1.png")
        let original = image + (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try gallery.file("1.png", original)
        try await withServer { address, _ in
            try await HTTPConnection.with(address) { connection in
                try await connection.send("GET /1.png HTTP/1.1")
                #expect(try await connection.answer().body == original)
                try await connection.send("GET /1.png HTTP/1.1\r\nRange: bytes=5-600004")
                #expect(try await connection.answer().body == Array(original[5...600_004]))
            }
        }
    }

    @Test("reports why it cannot listen on a socket") func noSocket() async throws {
        var configuration = gallery.configuration
        let path = gallery.outside.appending(path: "missing/a.sock").path
        configuration.socketPath = path
        let server = ImageServer(
            configuration: configuration, pipeline: gallery.pipeline,
            logger: .init(label: "test"))
        let error = await #expect(throws: ServerError.self) {
            try await server.run(server.serviceGroup(stoppingOn: []))
        }
        #expect(error?.description.hasPrefix("cannot listen at ") == true)
    }

    @Test("completes requests in flight on shutdown, and accepts no more") func stop() async throws
    {
        try gallery.file("slow.gate", Array("GATE".utf8))
        try gallery.image("1.png")
        try await withServer { [gallery] address, services in
            try await HTTPConnection.with(address) { connection in
                try await connection.send("GET /2x2/slow.gate HTTP/1.1")
                #expect(await gallery.gate.nextEvent() == .began)
                await services.triggerGracefulShutdown()
                // Connections succeed until the listening socket is closed.
                var isListening = true
                while isListening {
                    do {
                        try await HTTPConnection.with(address) { _ in }
                        await Task.yield()
                    } catch {
                        isListening = false
                    }
                }
                gallery.gate.open()
                let answer = try await connection.answer()
                #expect(answer.head.hasPrefix("HTTP/1.1 200"))
                #expect(!answer.body.isEmpty)
                #expect(try await connection.isAtEnd())
            }
        }
        await #expect(throws: LoadError.self) {
            try await gallery.pipeline.image(
                for: ImageRequest(
                    path: gallery.identity("1.png").path, options: .init(), priority: .visible))
        }
    }

    @Test("cancels requests that exceed the stop timeout")
    func stopTimeout() async throws {
        try gallery.file("long.gate", Array("GATELONG".utf8))
        try await withServer(stopTimeout: .milliseconds(50)) { [gallery] address, services in
            try await HTTPConnection.with(address) { connection in
                try await connection.send("GET /6000x6000/long.gate HTTP/1.1")
                #expect(await gallery.gate.nextEvent() == .began)
                await services.triggerGracefulShutdown()
                #expect(await gallery.gate.nextEvent() == .cancelled)
            }
        }
    }

    @Test("cancels the work for a client that hangs up") func hangUp() async throws {
        try gallery.file("long.gate", Array("GATELONG".utf8))
        try await withServer { [gallery] address, _ in
            try await HTTPConnection.with(address) { connection in
                try await connection.send("GET /6000x6000/long.gate HTTP/1.1")
                #expect(await gallery.gate.nextEvent() == .began)
            }
            #expect(await gallery.gate.nextEvent() == .cancelled)
        }
    }

    @Test(
        "passes the validator of the IIIF Image API at level 2",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: ["3", "2"])
    func iiif(version: String) async throws {
        let python = try #require(PeerTool.python)
        let place =
            "import iiif_validator, os; print(os.path.dirname(iiif_validator.__file__), end='')"
        let found = try PeerTool.run(python, ["-c", place])
        let package = String(decoding: try #require(found), as: UTF8.self)
        let image = try Data(contentsOf: URL(filePath: "\(package)/validation_image.png"))
        try gallery.file("validation.png", Array(image))
        try await withServer { address, _ in
            let script = SampleFiles.packageDirectory
                .appending(path: "Tests/Peers/iiif_validate.py").path
            // Waiting for a process must not block a thread that the server needs.
            let process = Process()
            let output = Pipe()
            process.executableURL = python
            process.arguments = [script, "\(address)iiif/\(version)", version, "validation.png"]
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            let status = await withCheckedContinuation { continuation in
                process.terminationHandler = {
                    continuation.resume(returning: $0.terminationStatus)
                }
                do { try process.run() } catch { continuation.resume(returning: -1) }
            }
            let text = String(
                decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            #expect(status == 0, "\(text)")
        }
    }

    @Test("reports that its port is in use") func portTaken() async throws {
        try await withServer { [gallery] address, _ in
            var configuration = gallery.configuration
            configuration.port = HTTPConnection.port(of: address)
            let second = ImageServer(
                configuration: configuration, pipeline: gallery.pipeline,
                logger: .init(label: "test"))
            let error = await #expect(throws: ServerError.self) {
                try await second.run(second.serviceGroup(stoppingOn: []))
            }
            #expect(
                error?.description
                    == "port \(configuration.port) on 127.0.0.1 is already in use; "
                    + "choose another with --port")
        }
    }
}
