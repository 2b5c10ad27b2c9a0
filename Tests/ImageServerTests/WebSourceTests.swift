// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPCaching
import HTTPTypes
import ImageCodecs
import ImageTesting
import LoadScheduling
import Pixels
import Synchronization
import Testing

@testable import ImageServer

/// A transport with a few URLs that records requests.
private final class StubWeb: HTTPTransport {
    struct Page {
        var status = 200
        var fields: HTTPFields = [:]
        var body: [UInt8] = []
    }

    private let pages: [String: Page]
    private let asked = Mutex<[String]>([])

    init(_ pages: [String: Page]) { self.pages = pages }

    var requests: [String] { asked.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(LoadError) -> HTTPTransportResponse {
        let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        asked.withLock { $0.append(url) }
        let page = pages[url] ?? Page(status: 404)
        return HTTPTransportResponse(
            head: HTTPResponse(status: .init(code: page.status), headerFields: page.fields),
            body: StubBody(pieces: [page.body]))
    }
}

private struct StubBody: AsyncSequence, Sendable {
    let pieces: [[UInt8]]

    struct AsyncIterator: AsyncIteratorProtocol {
        var pieces: ArraySlice<[UInt8]>

        mutating func next() async throws(LoadError) -> [UInt8]? { pieces.popFirst() }
        mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(LoadError) -> [UInt8]? { pieces.popFirst() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: pieces[...]) }
}

@Suite("A remote original") struct WebSourceTests {
    private func gallery(_ pages: [String: StubWeb.Page]) throws -> (TestGallery, StubWeb) {
        let web = StubWeb(pages)
        let store = ObjectStore(
            endpoint: try HTTPURL("http://store.example:9000"), buckets: ["photos"])
        let gallery = try TestGallery(web: web) {
            $0.imgproxy = ImgproxyKeys()
            $0.webSources = WebSources(hosts: ["good.example", "*.cdn.example"])
            $0.webSources?.objectStore = store
        }
        return (gallery, web)
    }

    private static func png() throws -> [UInt8] {
        try ImageDestination(format: "png", codecs: builtInCodecs)
            .encode(TestImage.photograph(PixelSize(width: 40, height: 30), seed: 1))
    }

    private func page(_ body: [UInt8], _ fields: HTTPFields = [:]) -> StubWeb.Page {
        var fields = fields
        fields[.contentType] = "image/png"
        return .init(fields: fields, body: body)
    }

    @Test("is served in any size, and loaded once for consecutive sizes")
    func served() async throws {
        let file = try Self.png()
        let (gallery, web) = try gallery([
            "https://good.example/a.png": page(file, [.cacheControl: "max-age=600"]),
            "https://eu.cdn.example/b.png": page(file),
        ])
        let answer = try await gallery.get("/_/w:20/plain/https://good.example/a.png@webp")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.headers[.contentType] == "image/webp")
        #expect(try answer.pixelSize() == PixelSize(width: 20, height: 15))
        let tag = try #require(answer.headers[.eTag])
        let again = try await gallery.get(
            "/_/w:20/plain/https://good.example/a.png@webp", [.ifNoneMatch: tag])
        #expect(again.status == 304)
        #expect(
            try await gallery.get("/_/w:10/plain/https:%2F%2Feu.cdn.example%2Fb.png").status == 200)
        #expect(web.requests.contains("https://eu.cdn.example/b.png"))
    }

    @Test(
        "is found in a bucket by its key",
        arguments: [
            ("s3://photos/a.png", "photos/a.png"), ("S3://photos/a.png", "photos/a.png"),
            ("s3://photos/summer%252F%20é/a+b.png", "photos/summer%252F%20%C3%A9/a%2Bb.png"),
            ("s3://photos//a%3Fb.png", "photos//a%3Fb.png"),
        ])
    func object(source: String, path: String) async throws {
        let url = "http://store.example:9000/\(path)"
        let (gallery, web) = try gallery([url: page(try Self.png())])
        let answer = try await gallery.get("/_/w:20/plain/\(source)")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(web.requests == [url])
    }

    @Test(
        "is rejected in an unlisted bucket, and without an object key",
        arguments: [
            "s3://secrets/a.png", "s3://photos.evil/a.png", "s3://photos", "s3://photos/",
            "s3://photos/../secrets/a.png", "s3://photos/%2E%2E/secrets/a.png", "s3:///a.png",
            "http://store.example:9000/secrets/a.png", "http://store.example:9000/",
            "http://store.example:9000/photos", "http://store.example:9000/photos/",
            "http://store.example:9000/photos/%3Flist-type=2",
            "https://store.example:9000/photos/a.png",
        ])
    func noObject(source: String) async throws {
        let (gallery, web) = try gallery([:])
        let answer = try await gallery.get("/_/w:20/plain/\(source)")
        #expect(answer.status == 403, "\(answer.text)")
        #expect(web.requests.isEmpty)
    }

    @Test(
        "is rejected without a request unless its host is listed",
        arguments: [
            "https://evil.example/a.png", "http://good.example/a.png",
            "https://good.example@evil.example/a.png", "https://good.example.evil.example/a.png",
            "https://evil.example/%23good.example", "https://good.example:8443/a.png",
            "https://good.example./a.png", "https://cdn.example/a.png",
            "https://.cdn.example/a.png",
            "https://evilcdn.example/a.png", "https://good%00.example/a.png",
            "https://good.example%09.evil.example/a.png", "https://good.example\\@evil.example/",
            "https:%2F%2Fgood.example%5C.evil.example/a.png", "https://goodXexample/a.png",
            "https://127.0.0.1/a.png", "https://[::1]/a.png", "https://2130706433/a.png",
            "https://１２７.0.0.1/a.png", "https://%31%32%37.0.0.1/a.png", "ftp://good.example/a.png",
            "file:///etc/passwd", "gopher://good.example/", "data:image/png;base64,AAAA",
            "s3://bucket/a.png", "javascript:alert(1)", "//good.example/a.png",
        ])
    func refused(source: String) async throws {
        let (gallery, web) = try gallery([:])
        let answer = try await gallery.get("/_/w:20/plain/\(source)")
        #expect([400, 403, 404].contains(answer.status), "\(answer.status) \(answer.text)")
        #expect(web.requests.isEmpty)
    }

    @Test("follows a limited number of redirects to listed hosts") func redirects() async throws {
        let file = try Self.png()
        func moved(_ place: String) -> StubWeb.Page {
            .init(status: 302, fields: [.location: place])
        }
        let (gallery, web) = try gallery([
            "https://good.example/ok": moved("/a.png"), "https://good.example/a.png": page(file),
            "https://good.example/private": moved("http://169.254.169.254/latest"),
            "https://good.example/file": moved("file:///etc/passwd"),
            "https://good.example/loop": moved("https://good.example/loop"),
            "https://good.example/empty": moved(""),
        ])
        #expect(try await gallery.get("/_/w:20/plain/https://good.example/ok").status == 200)
        for name in ["private", "file", "loop", "empty"] {
            let answer = try await gallery.get("/_/w:20/plain/https://good.example/\(name)")
            #expect([403, 502].contains(answer.status), "\(name): \(answer.status)")
        }
        #expect(web.requests.allSatisfy { $0.hasPrefix("https://good.example/") })
        #expect(web.requests.count < 20)
    }

    @Test("does not depend on the Host header of the request") func forwarded()
        async throws
    {
        let (gallery, web) = try gallery(["https://good.example/a.png": page(try Self.png())])
        let plain = try await gallery.get("/_/w:20/plain/https://good.example/a.png")
        for name in ["X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-For", "X-Original-URL"] {
            var headers = HTTPFields()
            headers[named: name] = "evil.example"
            let answer = try await gallery.get(
                "/_/w:20/plain/https://good.example/a.png", headers)
            #expect(answer.body == plain.body)
            #expect(answer.headers[.vary] == plain.headers[.vary])
        }
        #expect(web.requests.allSatisfy { $0 == "https://good.example/a.png" })
    }

    @Test("that is not an image differs from a missing one") func broken() async throws {
        let (gallery, _) = try gallery([
            "https://good.example/page": page(Array("<html>".utf8)),
            "https://good.example/large": page(Array(repeating: 0, count: 2 << 20)),
            "https://good.example/partial": .init(
                status: 206, fields: [.contentType: "image/png"], body: try Self.png()),
            "https://good.example/sick": .init(status: 500),
        ])
        for (name, statuses) in [
            ("missing", [404]), ("page", [415, 422, 502]), ("large", [422, 502]),
            ("partial", [502]),
            ("sick", [502]),
        ] {
            let answer = try await gallery.get("/_/w:20/plain/https://good.example/\(name)")
            #expect(statuses.contains(answer.status), "\(name): \(answer.status) \(answer.text)")
            #expect(answer.headers[.cacheControl] == "no-store")
        }
    }
}
