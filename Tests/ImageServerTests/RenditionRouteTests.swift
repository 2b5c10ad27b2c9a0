// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageLoading
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

@Suite("A rendition") struct RenditionRouteTests {
    let gallery: TestGallery

    init() throws {
        gallery = try TestGallery()
        try gallery.image("house/1.png", PixelSize(width: 40, height: 30))
    }

    @Test(
        "fits into the box and is never enlarged",
        arguments: [("20x20", 20, 15), ("8000x10", 13, 10), ("512x512", 40, 30), ("1x1", 1, 1)])
    func size(box: String, width: Int, height: Int) async throws {
        let answer = try await gallery.get("/house/\(box)/1.png")
        #expect(answer.status == 200)
        #expect(try answer.pixelSize() == PixelSize(width: width, height: height))
        #expect(answer.headers[.contentType]?.hasPrefix("image/") == true)
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
    }

    @Test("takes precedence over a folder with the name of the size") func folder() async throws {
        try gallery.image("house/20x20/1.png", PixelSize(width: 10, height: 10))
        let answer = try await gallery.get("/house/20x20/1.png")
        #expect(try answer.pixelSize() == PixelSize(width: 20, height: 15))
        let inside = try await gallery.get("/house/20x20/5x5/1.png")
        #expect(try inside.pixelSize() == PixelSize(width: 5, height: 5))
    }

    @Test("is available for originals in the served folder itself") func top() async throws {
        try gallery.image("2.png")
        #expect(try await gallery.get("/20x20/2.png").status == 200)
    }

    @Test(
        "of an invalid size is rejected",
        arguments: [
            "0x10", "10x0", "8193x1", "1x8193", "99999999999999999999x1", "010x10", "00x1",
        ])
    func badSize(size: String) async throws {
        let answer = try await gallery.get("/house/\(size)/1.png")
        #expect(answer.status == 400)
        #expect(answer.headers[.contentType] == "application/json")
        #expect(try answer.json()["error"] as? String != nil)
    }

    @Test(
        "requires a size in digits; other names are folders",
        arguments: [
            "-1x5", "1.5x2", "x", "x10", "__x", "10x10x10", "10X10", "NaNxNaN", "1e9x1", "x5",
        ])
    func noSize(segment: String) async throws {
        #expect(try await gallery.get("/house/\(segment)/1.png").status == 404)
    }

    @Test(
        "is made according to its options",
        arguments: [
            ("20x", 20, 15), ("_x15", 20, 15), ("10x10,fill", 10, 10), ("10x30,stretch", 10, 30),
            ("80x60", 40, 30), ("80x60,up", 80, 60), ("10x10@2x", 20, 15),
            ("10x10@1.5x,fill", 15, 15), ("20x20,gray,q30,jpg", 20, 15), ("8x,fit,blur2", 8, 6),
        ])
    func options(segment: String, width: Int, height: Int) async throws {
        let answer = try await gallery.get("/house/\(segment)/1.png")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try answer.pixelSize() == PixelSize(width: width, height: height))
    }

    @Test(
        "has the format in its URL",
        arguments: [
            ("png", "image/png"), ("jpg", "image/jpeg"), ("jpeg", "image/jpeg"),
            ("webp", "image/webp"), ("gif", "image/gif"),
        ])
    func format(name: String, mediaType: String) async throws {
        let answer = try await gallery.get("/house/20x20,\(name)/1.png")
        #expect(answer.headers[.contentType] == mediaType)
        #expect(
            try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).format.mediaType
                == mediaType)
    }

    @Test(
        "with an unknown or duplicate option is rejected by name",
        arguments: [
            "10x10,foo", "10x10,", "10x10,,fit", "10x10,fit,fill", "10x10,q0", "10x10,q101",
            "10x10,q07", "10x10,q5.5", "10x10@0.5x", "10x10@9x", "10x10@2", "10x10@2.000x",
            "10x10@1e1x", "10x10,blur0", "10x10,blur1000", "10x10,FIT", "10x10,png,webp",
            "10x10,ssim0.49", "10x10,ssim1", "10x10,ssim0.950", "10x10,ssim0.9999", "10x10,ssim.9",
            "10x10,q50,ssim0.9", "10x10,lossless,ssim0.9",
        ])
    func badOption(segment: String) async throws {
        let answer = try await gallery.get("/house/\(segment)/1.png")
        #expect(answer.status == 400)
        #expect(try answer.json()["error"] as? String != nil)
    }

    @Test("reaches the target SSIM of its URL or of the configuration")
    func targetSSIM() async throws {
        let strict = try TestGallery {
            $0.targetSSIM = 0.9
            $0.imgproxy = ImgproxyKeys()
        }
        try strict.image("1.png", PixelSize(width: 400, height: 300))
        func body(_ address: String) async throws -> [UInt8] {
            let answer = try await strict.get(address)
            #expect(answer.status == 200, "\(answer.text)")
            return answer.body
        }
        let wanted = try await body("/200x150,ssim0.9,jpg/1.png")
        #expect(try await body("/200x150,jpg/1.png") == wanted)
        #expect(try await body("/_/rs:fit:200:150/plain/1.png@jpg") == wanted)
        #expect(try await body("/_/rs:fit:200:150/aq:ssim:0.9/plain/1.png@jpg") == wanted)
        #expect(try await body("/iiif/3/1.png/full/200,150/0/default.jpg") == wanted)
        #expect(try await body("/200x150,ssim0.999,jpg/1.png").count > wanted.count)
        let usual = try await body("/200x150,q80,jpg/1.png")
        #expect(usual != wanted)
        #expect(try await body("/_/rs:fit:200:150/aq:none/plain/1.png@jpg") == usual)
        let tags = try await (
            strict.get("/200x150,ssim0.999,jpg/1.png").headers[.eTag],
            strict.get("/200x150,ssim0.9,jpg/1.png").headers[.eTag]
        )
        #expect(tags.0 != tags.1)
    }

    @Test("with ten thousand options is rejected at once") func manyOptions() async throws {
        let segment = "10x10" + String(repeating: ",q50", count: 2_000)
        #expect(try await gallery.get("/house/\(segment)/1.png").status == 400)
    }

    @Test("keeps the edge of its anchor") func anchored() async throws {
        let whole = try ImageSource(
            EncodedBytes(try await gallery.get("/house/1.png").body), codecs: builtInCodecs
        ).image()
        let answer = try await gallery.get("/house/30x30,fill,right,png/1.png")
        let part = try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).image()
        let expected = whole.cut(PixelRect(x: 10, y: 0, width: 30, height: 30))
        #expect(PixelComparison(part, expected).maximumDifference == 0)
    }

    @Test("has an entity tag for each size, and gets 304 for it")
    func notModified() async throws {
        let small = try await gallery.get("/house/10x10/1.png")
        let large = try await gallery.get("/house/20x20/1.png")
        let tag = try #require(small.headers[.eTag])
        #expect(tag != large.headers[.eTag])
        let again = try await gallery.get("/house/10x10/1.png", [.ifNoneMatch: tag])
        #expect(again.status == 304)
        #expect(again.body.isEmpty)
        #expect(try await gallery.get("/house/20x20/1.png", [.ifNoneMatch: tag]).status == 200)
        #expect(again.headers[.lastModified] == small.headers[.lastModified])
    }

    @Test("is compared with lists of tags, weak tags and tags with commas") func tags()
        async throws
    {
        let tag = try #require(
            try await gallery.get("/house/20x20,fill,q70/1.png").headers[.eTag])
        #expect(tag.contains(","))
        for known in [tag, "W/\(tag)", "\"x\", \(tag)", "\(tag),W/\"x,y\"", "*"] {
            let answer = try await gallery.get(
                "/house/20x20,fill,q70/1.png", [.ifNoneMatch: known])
            #expect(answer.status == 304, "\(known)")
        }
        for other in [
            "", "\"\"", "\"x\(tag)", String(tag.dropLast()), String(tag.dropFirst()), "x",
        ] {
            let answer = try await gallery.get(
                "/house/20x20,fill,q70/1.png", [.ifNoneMatch: other])
            #expect(answer.status == 200, "\(other)")
        }
    }

    @Test("gets another entity tag when its original changes") func changed() async throws {
        let before = try await gallery.get("/house/10x10/1.png")
        try gallery.image("house/1.png", PixelSize(width: 50, height: 30), seed: 2)
        let tag = try #require(before.headers[.eTag])
        let after = try await gallery.get("/house/10x10/1.png", [.ifNoneMatch: tag])
        #expect(after.status == 200)
        #expect(after.headers[.eTag] != tag)
        #expect(try after.pixelSize() == PixelSize(width: 10, height: 6))
    }

    @Test("is immutable under a URL with the version") func immutable() async throws {
        let version = try gallery.identity("house/1.png").version
        let answer = try await gallery.get("/house/10x10/1.png?v=\(version)")
        #expect(answer.headers[.cacheControl] == "public, max-age=31536000, immutable")
    }

    @Test("has the same headers for HEAD, without a body") func head() async throws {
        let whole = try await gallery.get("/house/10x10/1.png")
        let answer = try await gallery.request(.head, "/house/10x10/1.png")
        #expect(answer.status == 200)
        #expect(answer.body.isEmpty)
        #expect(answer.headers[.contentLength] == "\(whole.body.count)")
    }

    @Test("of a damaged image or another file is rejected with the reason")
    func damaged() async throws {
        var bytes = try gallery.image("whole.png")
        bytes[bytes.count / 2] ^= 0xFF
        try gallery.file("damaged.png", bytes)
        let damaged = try await gallery.get("/10x10/damaged.png")
        #expect(damaged.status == 422)
        #expect(damaged.headers[.cacheControl] == "no-store")
        #expect(!damaged.text.contains(gallery.folder.path))
        try gallery.file("page.png", Array("<html>".utf8))
        #expect(try await gallery.get("/10x10/page.png").status == 415)
    }
}
