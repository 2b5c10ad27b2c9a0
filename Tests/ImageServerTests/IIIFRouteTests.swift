// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageLoading
import ImageTesting
import NIOCore
import Pixels
import Testing

@testable import ImageServer

@Suite("The IIIF Image API") struct IIIFRouteTests {
    let gallery: TestGallery

    init() throws {
        gallery = try TestGallery { $0.publicAddress = "https://pictures.example" }
        try gallery.image("house/1.png", PixelSize(width: 400, height: 300))
    }

    private func get(_ rest: String, version: Int = 3) async throws -> Answer {
        try await gallery.get("/iiif/\(version)/house%2F1.png\(rest)")
    }

    @Test(
        "returns the requested size with a canonical link",
        arguments: [
            ("/full/max/0/default.jpg", 400, 300, "full/max/0/default.jpg"),
            ("/full/200,/0/color.jpg", 200, 150, "full/200,150/0/default.jpg"),
            ("/full/,60/0/default.png", 80, 60, "full/80,60/0/default.png"),
            ("/full/pct:25/90/gray.jpg", 75, 100, "full/100,75/90/gray.jpg"),
            ("/square/!50,70/!0/bitonal.png", 50, 50, "50,0,300,300/50,50/!0/bitonal.png"),
            ("/pct:50,50,100,100/max/0/default.jpg", 200, 150, "200,150,200,150/max/0/default.jpg"),
            ("/390,290,100,100/max/0/default.jpg", 10, 10, "390,290,10,10/max/0/default.jpg"),
            ("/0,0,400,300/400,300/360/default.jpg", 400, 300, "full/max/0/default.jpg"),
            ("/full/^800,/0/default.jpg", 800, 600, "full/^800,600/0/default.jpg"),
            ("/full/20,90/0/default.webp", 20, 90, "full/20,90/0/default.webp"),
        ])
    func sizes(rest: String, width: Int, height: Int, canonical: String) async throws {
        let answer = try await get(rest)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try answer.pixelSize() == PixelSize(width: width, height: height))
        let link = answer.headers[named: "Link"] ?? ""
        let address = "https://pictures.example/iiif/3/house%2F1.png/\(canonical)"
        #expect(link.contains("<\(address)>;rel=\"canonical\""), "\(link)")
        #expect(answer.headers[.accessControlAllowOrigin] == "*")
    }

    @Test(
        "rejects invalid parameters",
        arguments: [
            "/full/0,0/0/default.jpg", "/full/-1,/0/default.jpg", "/full/pct:0/0/default.jpg",
            "/full/pct:100000/0/default.jpg", "/full/^pct:100000/0/default.jpg",
            "/full/800,/0/default.jpg", "/full/max/45/default.jpg", "/full/max/-90/default.jpg",
            "/full/max/0/purple.jpg", "/full/max/0/default.exe", "/full/^9999,/0/default.jpg",
            "/400,0,10,10/max/0/default.jpg", "/0,0,0,10/max/0/default.jpg",
            "/1.5,0,10,10/max/0/default.jpg", "/pct:101,0,10,10/max/0/default.jpg",
            "/0,0,1e9,10/max/0/default.jpg", "/full/NaN,/0/default.jpg", "/full/,/0/default.jpg",
            "/full/99999999999999999999,/0/default.jpg", "/full/full/0/default.jpg",
        ])
    func refused(rest: String) async throws {
        let answer = try await get(rest)
        #expect(answer.status == 400, "\(answer.text)")
        #expect(answer.headers[.cacheControl] == "no-store")
    }

    @Test(
        "finds no missing files and none outside of the folder",
        arguments: [
            "/iiif/3/house%2F2.png/info.json", "/iiif/4/house%2F1.png/info.json",
            "/iiif/3/..%2Fsecret.png/info.json", "/iiif/3/house%2F..%2Fhouse%2F1.png/info.json",
            "/iiif/3/%2Fetc%2Fpasswd/info.json", "/iiif/3/house/1.png/info.json", "/iiif/3",
            "/iiif/3/house%252F1.png/info.json", "/iiif/3/house%2F1.png/full/max/0",
            "/iiif/3/house%2F1.png/full/max/0/default", "/iiif/3/a%00b/info.json",
        ])
    func missing(address: String) async throws {
        #expect(try await gallery.get(address).status == 404)
    }

    @Test("redirects from the base URI to info.json") func description() async throws {
        let base = try await get("")
        #expect(base.status == 303)
        #expect(
            base.headers[.location] == "https://pictures.example/iiif/3/house%2F1.png/info.json")
        let answer = try await get("/info.json")
        let json = try answer.json()
        #expect(json["id"] as? String == "https://pictures.example/iiif/3/house%2F1.png")
        #expect(json["width"] as? Int == 400)
        let tag = try #require(answer.headers[.eTag])
        let again = try await gallery.get(
            "/iiif/3/house%2F1.png/info.json", [.ifNoneMatch: tag])
        #expect(again.status == 304)
        let two = try await get("/info.json", version: 2).json()
        #expect(two["@id"] as? String == "https://pictures.example/iiif/2/house%2F1.png")
    }

    @Test("accepts a size with a caret in version 3 only")
    func enlargement() async throws {
        let path = "/full/^800,/0/default.jpg"
        #expect(try await get(path).status == 200)
        #expect(try await get(path, version: 2).status == 400)
    }

    @Test("returns the announced tiles with the right pixels") func tiles()
        async throws
    {
        let whole = try ImageSource(
            EncodedBytes(try await gallery.get("/house/1.png").body), codecs: builtInCodecs
        ).image()
        let answer = try await get("/256,256,144,44/144,44/0/default.jpg")
        let tile = try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).image()
        let expected = whole.cut(PixelRect(x: 256, y: 256, width: 144, height: 44))
        #expect(PixelComparison(tile, expected).meanDifference < 6)
    }

    @Test("puts no client's Host into public responses") func host() async throws {
        let gallery = try TestGallery()
        try gallery.image("house/1.png", PixelSize(width: 400, height: 300))
        let image = try await gallery.get("/iiif/3/house%2F1.png/full/200,/0/default.jpg")
        let link = image.headers[named: "Link"] ?? ""
        #expect(
            link.contains("</iiif/3/house%2F1.png/full/200,150/0/default.jpg>;rel=\"canonical\""),
            "\(link)")
        #expect(!"\(image.headers)".contains("localhost"))
        let base = try await gallery.get("/iiif/3/house%2F1.png")
        #expect(base.headers[.cacheControl] == "private, no-cache")
        let information = try await gallery.get("/iiif/3/house%2F1.png/info.json")
        #expect(information.text.contains("localhost"))
        #expect(information.headers[.cacheControl] == "private, no-cache")
        #expect(try await get("/info.json").headers[.cacheControl] == "public, no-cache")
    }

    @Test("returns tiles that a pyramid stores as they are, and again from memory")
    func storedTiles() async throws {
        var options = EncodeOptions()
        options.isPyramid = true
        options.quality = 40
        let file = try ImageDestination(format: "tiff", codecs: builtInCodecs, options: options)
            .encode(TestImage.photograph(PixelSize(width: 1024, height: 600)))
        try gallery.file("house/2.tif", file)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        let server = gallery.server
        for (path, x, level) in [
            ("iiif/3/house%2F2.tif/512,0,256,256/256,256/0/default.jpg", 512, 1024),
            ("iiif/2/house%2F2.tif/512,0,512,512/256,/0/default.jpg", 256, 512),
            ("tiles/house/2.tif_files/9/1_0.jpg", 256, 512),
        ] {
            let answer = try await gallery.get("/\(path)", from: server)
            #expect(answer.headers[.contentType] == "image/jpeg")
            let rect = PixelRect(x: x, y: 0, width: 256, height: 256)
            let size = PixelSize(width: level, height: level * 600 / 1024)
            #expect(try source.jpegTile(StoredTile(rect, ofLevel: size)) == answer.body, "\(path)")
            let handler = try server.requestHandler()
            let head = HTTPRequest(
                method: .get, scheme: "http", authority: "localhost", path: "/\(path)")
            let key = try #require(handler.hot.key(for: head))
            let time = ContinuousClock.now
            let identity = try gallery.identity("house/2.tif")
            #expect(handler.hot.response(key, of: identity, checked: time) != nil)
            let ready = try #require(handler.readyResponse(to: head, time))
            #expect(ready.head.headerFields == answer.headers)
            #expect(ready.body.map { Array($0.readableBytesView) } == answer.body)
        }
        // The last column is narrower, and decoded.
        let edge = try await gallery.get("/tiles/house/2.tif_files/10/3_2.jpg", from: server)
        #expect(try edge.pixelSize() == PixelSize(width: 256, height: 88))
    }

    @Test(
        "decodes the tiles that a pyramid stores rotated or in another colour space",
        arguments: [true, false])
    func otherTiles(isRotated: Bool) async throws {
        // A square, whose stored size is that of the upright image.
        let size = PixelSize(width: 768, height: 768)
        var image = MutablePixelBuffer(TestImage.photograph(size))
        if !isRotated { image.colorProfile = .icc(ProfileRouteTests.wide) }
        var options = EncodeOptions()
        options.isPyramid = true
        options.quality = 95
        var file = try ImageDestination(format: "tiff", codecs: builtInCodecs, options: options)
            .encode(image.finish())
        if isRotated {
            // The entry for Orientation in the first directory: one SHORT, 1.
            let entry: [UInt8] = [0x12, 0x01, 3, 0, 1, 0, 0, 0, 1, 0]
            file[try #require(file.firstRange(of: entry)).lowerBound + 8] = 6
        }
        try gallery.file("house/3.tif", file)
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        #expect(source.header.jpegTileSize == PixelSize(width: 256, height: 256))
        let rect = PixelRect(x: 256, y: 0, width: 256, height: 256)
        let stored = try #require(try source.jpegTile(StoredTile(rect, ofLevel: size)))
        let answer = try await gallery.get(
            "/iiif/3/house%2F3.tif/256,0,256,256/256,256/0/default.jpg")
        let tile = try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).image()
        let expected = PixelComparison(tile, try source.image().cut(rect))
        #expect(expected.meanDifference < 3, "\(expected)")
        let plain = try ImageSource(EncodedBytes(stored), codecs: builtInCodecs).image()
        #expect(PixelComparison(tile, plain).meanDifference > 2 * expected.meanDifference)
    }

    @Test("stores an index of a large JPEG instead of a pyramid") func index() async throws {
        let gallery = try TestGallery(keepsRenditions: true)
        let file = try ImageDestination(format: "jpeg", codecs: builtInCodecs)
            .encode(TestImage.photograph(PixelSize(width: 3072, height: 2816)))
        try gallery.file("house/4.jpg", file)
        let answer = try await gallery.get(
            "/iiif/3/house%2F4.jpg/2048,512,256,256/256,256/0/default.jpg")
        let tile = try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).image()
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        var options = DecodeOptions()
        options.region = PixelRect(x: 2048, y: 512, width: 256, height: 256)
        let comparison = PixelComparison(tile, try source.image(options))
        #expect(comparison.meanDifference < 3, "\(comparison)")
        let identity = try gallery.identity("house/4.jpg")
        let store = try #require(gallery.store)
        #expect(
            try store.rendition(for: RenditionKey(OriginalVersion(identity), request: "index"))?
                .bytes == source.makeIndex()?.bytes)
    }

    @Test("keeps no response that depends on the origin of the page") func origins() async throws {
        let gallery = try TestGallery { $0.allowedOrigins = ["https://viewer.example"] }
        try gallery.image("1.png", PixelSize(width: 400, height: 300))
        let server = gallery.server
        let path = "/iiif/3/1.png/full/200,/0/default.jpg"
        let own = try await gallery.get(path, from: server)
        #expect(own.headers[.accessControlAllowOrigin] == nil)
        let other = try await gallery.get(
            path, [.origin: "https://viewer.example"], from: server)
        #expect(other.headers[.accessControlAllowOrigin] == "https://viewer.example")
        #expect(other.headers[.vary] == "Origin")
    }

    @Test("responds to CORS preflight requests") func preflight() async throws {
        let answer = try await gallery.request(.options, "/iiif/3/house%2F1.png/info.json")
        #expect(answer.status == 204)
        #expect(answer.headers[.accessControlAllowOrigin] == "*")
        #expect(try await gallery.request(.options, "/house/1.png").status == 405)
    }
}
