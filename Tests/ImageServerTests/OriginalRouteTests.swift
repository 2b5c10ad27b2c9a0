// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ImageLoading
import Pixels
import Testing

@testable import ImageServer

@Suite("An original") struct OriginalRouteTests {
    let gallery: TestGallery
    let bytes: [UInt8]

    init() throws {
        gallery = try TestGallery()
        bytes = try gallery.image("house/1.png")
    }

    @Test("is returned byte for byte with its media type and validators") func whole() async throws
    {
        let answer = try await gallery.get("/house/1.png")
        let identity = try gallery.identity("house/1.png")
        #expect(answer.status == 200)
        #expect(answer.body == bytes)
        #expect(answer.headers[.contentType] == "image/png")
        #expect(answer.headers[.contentLength] == "\(bytes.count)")
        #expect(answer.headers[.acceptRanges] == "bytes")
        #expect(answer.headers[.eTag] == "\"\(identity.version)\"")
        #expect(answer.headers[.lastModified]?.hasSuffix(" GMT") == true)
        #expect(answer.headers[.cacheControl] == "public, no-cache")
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
    }

    @Test("larger than one piece is returned whole") func large() async throws {
        let bytes = try gallery.image("large.png", .init(width: 400, height: 400))
        try #require(bytes.count > 2 * (128 << 10))
        #expect(try await gallery.get("/large.png").body == bytes)
    }

    @Test("has the media type of its bytes, whatever its name") func typeOfBytes() async throws {
        try gallery.image("picture.jpg")
        try gallery.image("nameless")
        #expect(try await gallery.get("/picture.jpg").headers[.contentType] == "image/png")
        #expect(try await gallery.get("/nameless").headers[.contentType] == "image/png")
    }

    @Test("is immutable under a URL with its current version only")
    func immutable() async throws {
        let version = try gallery.identity("house/1.png").version
        let own = try await gallery.get("/house/1.png?v=\(version)")
        #expect(own.headers[.cacheControl] == "public, max-age=31536000, immutable")
        let other = try await gallery.get("/house/1.png?v=\(version)0")
        #expect(other.status == 200)
        #expect(other.headers[.cacheControl] == "public, no-cache")
    }

    @Test(
        "is returned in ranges",
        arguments: [("0-9", 0, 9), ("10-", 10, -1), ("-10", -10, -1), ("5-999999", 5, -1)])
    func part(range: String, first: Int, last: Int) async throws {
        let count = bytes.count
        let (first, last) = (first < 0 ? count + first : first, last < 0 ? count + last : last)
        let answer = try await gallery.get("/house/1.png", [.range: "bytes=\(range)"])
        #expect(answer.status == 206)
        #expect(answer.headers[.contentRange] == "bytes \(first)-\(last)/\(count)")
        #expect(answer.headers[.contentLength] == "\(last - first + 1)")
        #expect(answer.body == Array(bytes[first...last]))
    }

    @Test("is returned whole for several or invalid ranges")
    func oddRange() async throws {
        for range in ["bytes=0-1,3-4", "bytes=5-1", "bytes=x", "lines=1-2", "bytes=-", "bytes"] {
            let answer = try await gallery.get("/house/1.png", [.range: range])
            #expect(answer.status == 200, "\(range)")
            #expect(answer.body == bytes, "\(range)")
        }
    }

    @Test("has no range after its end") func unsatisfiable() async throws {
        for range in ["bytes=999999-", "bytes=99999999999999999999-", "bytes=-0"] {
            let answer = try await gallery.get("/house/1.png", [.range: range])
            #expect(answer.status == 416, "\(range)")
            #expect(answer.headers[.contentRange] == "bytes */\(bytes.count)", "\(range)")
        }
    }

    @Test("is returned in ranges only if If-Range matches") func ifRange() async throws {
        let whole = try await gallery.get("/house/1.png")
        for condition in [whole.headers[.eTag], whole.headers[.lastModified]] {
            let headers: HTTPFields = [.range: "bytes=0-9", .ifRange: try #require(condition)]
            #expect(try await gallery.get("/house/1.png", headers).status == 206)
        }
        let stale: HTTPFields = [.range: "bytes=0-9", .ifRange: "\"old\""]
        #expect(try await gallery.get("/house/1.png", stale).status == 200)
    }

    @Test("is not sent again to a client with a current copy") func notModified() async throws {
        let whole = try await gallery.get("/house/1.png")
        let tag = try #require(whole.headers[.eTag])
        let date = try #require(whole.headers[.lastModified])
        for headers: HTTPFields in [
            [.ifNoneMatch: tag], [.ifNoneMatch: "\"x\", W/\(tag)"], [.ifNoneMatch: "*"],
            [.ifModifiedSince: date],
        ] {
            let answer = try await gallery.get("/house/1.png", headers)
            #expect(answer.status == 304, "\(headers)")
            #expect(answer.body.isEmpty)
            #expect(answer.headers[.eTag] == tag)
        }
        for headers: HTTPFields in [
            [.ifNoneMatch: "\"x\""], [.ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"],
            [.ifNoneMatch: "\"x\"", .ifModifiedSince: date],
        ] {
            #expect(try await gallery.get("/house/1.png", headers).status == 200, "\(headers)")
        }
    }

    @Test("has the same headers for HEAD, without a body") func head() async throws {
        let answer = try await gallery.request(.head, "/house/1.png")
        #expect(answer.status == 200)
        #expect(answer.body.isEmpty)
        #expect(answer.headers[.contentLength] == "\(bytes.count)")
    }

    @Test("that is not an image is 404, also with a guessed entity tag")
    func noImage() async throws {
        try gallery.file("letter.txt", Array("Dear reader".utf8))
        try gallery.file("empty.png", [])
        let missing = try await gallery.get("/missing")
        for headers: HTTPFields in [[:], [.ifNoneMatch: "*"], [.range: "bytes=99-"]] {
            for address in ["/letter.txt", "/empty.png"] {
                let answer = try await gallery.get(address, headers)
                #expect(answer.status == 404)
                #expect(answer.body == missing.body)
            }
        }
    }
}
