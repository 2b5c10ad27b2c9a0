// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Synchronization
import Testing

@testable import ImageServer

@Suite("A path") struct PathSafetyTests {
    let gallery: TestGallery

    init() throws {
        gallery = try TestGallery()
        try gallery.image("house/1.png")
        try gallery.image("house/.hidden.png")
        try gallery.image(".secret/1.png")
        try gallery.image("../outside.png")
        try gallery.image("../photos-too/1.png")
        try link("out.png", to: gallery.outside.appending(path: "outside.png").path)
        try link("out", to: gallery.outside.path)
        try link("too", to: "../photos-too")
        try link("in.png", to: "house/1.png")
        try link("in", to: "house")
        try link("loop.png", to: "loop.png")
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: gallery.folder.appending(path: name).path, withDestinationPath: target)
    }

    static let escapes = [
        "/../outside.png", "/house/../../outside.png", "/house/../house/1.png", "/./house/1.png",
        "/%2e%2e/outside.png", "/%2E%2E/outside.png", "/.%2e/outside.png",
        "/..%2foutside.png", "/house%2f1.png", "/..%5coutside.png", "/..\\outside.png",
        "/house%5c1.png", "/%252e%252e/outside.png", "/%252e%252e%252foutside.png",
        "/..%252foutside.png", "/%c0%ae%c0%ae/outside.png", "/%c0%ae%c0%ae%c0%afoutside.png",
        "/house/1.png%00", "/house/1.png%00.jpg", "/%ff/1.png", "/house/%zz.png", "/house/1.png%",
        "/house/1.png%2", "//etc/passwd", "/%2fetc/passwd", "/etc/passwd", "//house/1.png",
        "/house//1.png", "/house/1.png/", "/house/1.png/x", "/house", "/house/", "/~root",
        "/house/.hidden.png", "/.secret/1.png", "/%2esecret/1.png", "/out.png", "/out/outside.png",
        "/too/1.png", "/loop.png", "/missing.png", "/-", "/-/",
        "/-/unknown", "/healthz/x", "/-/gallery/..%2findex.html", "/-/gallery/a/index.html",
    ]

    @Test("outside of the folder gets the same response as a missing one", arguments: escapes)
    func escape(address: String) async throws {
        let missing = try await gallery.get("/house/missing.png")
        #expect(missing.status == 404)
        #expect(missing.text == #"{"error":"not found"}"#)
        let answer = try await gallery.get(address)
        #expect(answer.status == 404)
        #expect(answer.body == missing.body)
        #expect(answer.headers == missing.headers)
    }

    @Test(
        "outside of the folder has no renditions",
        arguments: [
            "/10x10/../outside.png", "/../10x10/outside.png", "/10x10/..%2foutside.png",
            "/10x10/out.png", "/out/10x10/outside.png", "/house/10x10/.hidden.png",
            "/house/10x10/1.png%00", "/house/10x10%2f1.png", "/10x10/", "/10x10/house",
        ])
    func renditions(address: String) async throws {
        let answer = try await gallery.get(address)
        #expect(answer.status == 404)
        #expect(answer.text == #"{"error":"not found"}"#)
    }

    @Test(
        "outside of the folder is not listed",
        arguments: [
            "/..", "/%2e%2e", "/out", "/too", "/.secret", "/house/..", "//", "/house/1.png",
        ])
    func listings(path: String) async throws {
        let answer = try await gallery.get("/-/listing\(path)")
        #expect(answer.status == 404)
        #expect(answer.text == #"{"error":"not found"}"#)
    }

    @Test("through a link within the folder is served") func linkInside() async throws {
        for address in ["/in.png", "/in/1.png", "/10x10/in.png", "/in/10x10/1.png"] {
            #expect(try await gallery.get(address).status == 200, "\(address)")
        }
        let names = try await gallery.get("/-/listing/").json()
        let images = try #require(names["pictures"] as? [String: Any])
        #expect(images["name"] as? [String] == ["in.png"])
        let folders = try #require(names["folders"] as? [String: Any])
        #expect(folders["name"] as? [String] == ["house", "in"])
        #expect(folders["pictures"] as? [Int] == [1, 1])
    }

    @Test("through a link out of the folder is served if that is configured")
    func linkOutside() async throws {
        var configuration = gallery.configuration
        configuration.followsLinks = true
        let server = ImageServer(
            configuration: configuration, pipeline: gallery.pipeline,
            logger: Logger(label: "test"))
        for path in ["/out.png", "/out/outside.png", "/10x10/out.png", "/too/10x10/1.png"] {
            #expect(try await gallery.get(path, from: server).status == 200, "\(path)")
        }
        for path in ["/loop.png", "/../outside.png", "/.secret/1.png"] {
            #expect(try await gallery.get(path, from: server).status == 404, "\(path)")
        }
        let names = try await gallery.get("/-/listing/", from: server).json()
        let folders = try #require(names["folders"] as? [String: Any])
        #expect(folders["name"] as? [String] == ["house", "in", "out", "too"])
    }

    @Test("of a link out of the folder is logged once") func linkLogged() throws {
        let log = RecordedLog()
        let logger = Logger(label: "test") { _ in log }
        let directory = try ServedDirectory(gallery.folder.path, logger: logger)
        for _ in 0..<3 {
            #expect(throws: ServerError.notFound) { try directory.original(["out.png"]) }
            #expect(throws: ServerError.notFound) { try directory.original(["missing.png"]) }
            #expect(FolderNames(directory.path, in: directory, extensions: ["png"]) != nil)
        }
        #expect(log.links.sorted() == ["out", "out.png", "too"].map { "\(directory.path)/\($0)" })
    }

    @Test("may contain spaces, symbols and letters of any script") func names() async throws {
        try gallery.image("été 2026/100% #1?+&.png")
        let address = "/%C3%A9t%C3%A9%202026/100%25%20%231%3F+%26.png"
        #expect(try await gallery.get(address).status == 200)
        #expect(
            try await gallery.get("/%C3%A9t%C3%A9%202026/10x10/100%25%20%231%3F+%26.png").status
                == 200)
    }

    @Test("of a named pipe is 404, and opening it does not block") func pipe() async throws {
        let path = gallery.folder.appending(path: "pipe.png").path
        #expect(unsafe mkfifo(path, 0o600) == 0)
        #expect(try await gallery.get("/pipe.png").status == 404)
        #expect(try await gallery.get("/10x10/pipe.png").status == 404)
    }
}

/// Records the links in the metadata of messages.
private final class RecordedLog: LogHandler {
    private let recorded = Mutex<[String]>([])

    var links: [String] { recorded.withLock { $0 } }

    var logLevel: Logger.Level {
        get { .warning }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        guard let link = event.metadata?["link"] else { return }
        recorded.withLock { $0.append("\(link)") }
    }
}
