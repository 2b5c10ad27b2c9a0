// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

@Suite("Archives of images", .timeLimit(.minutes(10))) struct DownloadRouteTests {
    private let gallery: TestGallery
    private let handler: RequestHandler

    init() throws {
        gallery = try TestGallery()
        handler = try gallery.server.requestHandler()
    }

    private func order(_ body: String, _ headers: HTTPFields = [.contentType: "application/json"])
        async throws -> Answer
    {
        try await gallery.request(
            .post, "/-/download", headers, body: Array(body.utf8), to: handler)
    }

    private func url(_ body: String) async throws -> String {
        let answer = try await order(body)
        #expect(answer.status == 200, "\(answer.text)")
        return try #require(try answer.json()["url"] as? String)
    }

    @Test("contain the originals, whole and in parts") func originals() async throws {
        var expected: [String: [UInt8]] = [:]
        for (index, path) in ["1.png", "b/ü 2.png", "b/c/3.png"].enumerated() {
            expected[path] = try gallery.image(
                path, PixelSize(width: 40 + 30 * index, height: 30), seed: UInt64(index))
        }
        let names = expected.keys.sorted().map { "\"\($0)\"" }.joined(separator: ",")
        let place = try await url("{\"images\": [\(names)], \"size\": null}")
        let whole = try await gallery.request(.get, place, to: handler)
        #expect(whole.status == 200)
        #expect(
            whole.headers[.contentLength] == nil
                || whole.headers[.contentLength] == "\(whole.body.count)")
        #expect(try filesOfArchive(whole.body) == expected)
        let tag = try #require(whole.headers[.eTag])
        // Parts from random positions, as after a broken connection.
        var random = SeededRandom(seed: 5)
        for _ in 0..<60 {
            let start = Int.random(in: 0..<whole.body.count, using: &random)
            let end = Int.random(in: start..<whole.body.count, using: &random)
            // Another server knows no checksums yet, the selection does.
            let part = try await gallery.request(
                .get, place, [.range: "bytes=\(start)-\(end)", .ifRange: tag], to: handler)
            #expect(part.status == 206)
            #expect(part.body == Array(whole.body[start...end]), "\(start)-\(end)")
        }
        let last = try await url("{\"images\": [\(names)]}")
        let end = try await gallery.request(.get, last, [.range: "bytes=-100"], to: handler)
        #expect(end.body == Array(whole.body.suffix(100)))
        let beyond = try await gallery.request(
            .get, place, [.range: "bytes=\(whole.body.count)-"], to: handler)
        #expect(beyond.status == 416)
    }

    @Test("contain renditions under names of their format; unreadable images are omitted")
    func renditions() async throws {
        try gallery.image("a/1.png", PixelSize(width: 200, height: 100))
        try gallery.image("a/1.webp", PixelSize(width: 100, height: 200))
        try gallery.file(
            "a/broken.png", Array("\u{89}PNG\r\n\u{1A}\n".unicodeScalars.map { UInt8($0.value) }))
        let place = try await url(
            """
            {"images": ["a/1.png", "a/1.webp", "a/broken.png"], "size": "50x50,jpeg"}
            """)
        let answer = try await gallery.request(.get, place, to: handler)
        let files = try filesOfArchive(answer.body)
        #expect(files.keys.sorted() == ["a/1-2.jpg", "a/1.jpg"])
        let sizes = try files.mapValues {
            try ImageSource(EncodedBytes($0), codecs: builtInCodecs).pixelSize
        }
        #expect(sizes["a/1.jpg"] == PixelSize(width: 50, height: 25))
        #expect(sizes["a/1-2.jpg"] == PixelSize(width: 25, height: 50))
    }

    @Test("a file that changes while it is sent ends the response") func changed() async throws {
        try gallery.image("1.png")
        let place = try await url("{\"images\": [\"1.png\"]}")
        try gallery.image("1.png", PixelSize(width: 90, height: 90))
        await #expect(throws: (any Error).self) {
            _ = try await gallery.request(.get, place, to: handler)
        }
    }

    @Test(
        "reject what is no selection",
        arguments: [
            ("[]", 400), ("{\"images\": []}", 400), ("{\"images\": [\"../1.png\"]}", 404),
            ("{\"images\": [\"missing.png\"]}", 404), ("{\"images\": [\"notes.txt\"]}", 404),
            ("{\"images\": [\".hidden.png\"]}", 404),
            ("{\"images\": [\"1.png\"], \"size\": \"x\"}", 400),
            ("{\"images\": [\"1.png\"], \"size\": \"9999999x1\"}", 400), ("{", 400),
        ])
    func rejected(body: String, status: Int) async throws {
        try gallery.image("1.png")
        try gallery.image(".hidden.png")
        try gallery.file("notes.txt", Array("text".utf8))
        #expect(try await order(body).status == status)
    }

    @Test("are not made for forms of other sites, and have names that cannot be guessed")
    func foreign() async throws {
        try gallery.image("1.png")
        let body = "{\"images\": [\"1.png\"]}"
        #expect(try await order(body, [.contentType: "text/plain"]).status == 403)
        #expect(try await order(body, [:]).status == 403)
        var headers: HTTPFields = [.contentType: "application/json"]
        headers[.init("Sec-Fetch-Site")!] = "same-site"
        #expect(try await order(body, headers).status == 403)
        #expect(try await gallery.request(.get, "/-/download/1.zip", to: handler).status == 404)
        let urls = [try await url(body), try await url(body)]
        #expect(urls[0] != urls[1] && urls[0].utf8.count > 30)
    }

    @Test("checksums are those of zlib") func checksum() throws {
        var random = SeededRandom(seed: 9)
        let known: [(String, UInt32)] = [("", 0), ("123456789", 0xCBF4_3926), ("a", 0xE8B7_BE43)]
        for (text, value) in known {
            var sum = CRC32()
            sum.combine(Array(text.utf8).span)
            #expect(sum.value == value)
        }
        // In parts of any length.
        let bytes = (0..<1_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        var whole = CRC32()
        whole.combine(bytes.span)
        for split in [1, 7, 8, 9, 500, 999] {
            var parts = CRC32()
            parts.combine(bytes.span.extracting(first: split))
            parts.combine(bytes.span.extracting(split...))
            #expect(parts.value == whole.value)
        }
    }
}
