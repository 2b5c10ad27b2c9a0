// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageLoading
import ImageTesting
import Pixels
import Placeholders
import Sprites
import Testing

@testable import ImageServer

@Suite("Resources derived from an image") struct DerivativeRouteTests {
    let gallery: TestGallery

    init() throws {
        gallery = try TestGallery()
        try gallery.image("house/1.png", PixelSize(width: 600, height: 300), seed: 1)
        try gallery.image("house/2.png", PixelSize(width: 100, height: 200), seed: 2)
        try gallery.file("house/3.png", Array("no picture".utf8))
    }

    private func image(_ answer: Answer) throws -> PixelBuffer {
        try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).image()
    }

    @Test("include a Deep Zoom pyramid") func deepZoom() async throws {
        let xml = try await gallery.get("/tiles/house/1.png.dzi")
        #expect(xml.headers[.contentType] == "application/xml")
        #expect(xml.text.contains("Width=\"600\" Height=\"300\""))
        let json = try await gallery.get("/tiles/house/1.png.json").json()
        #expect(json["levels"] as? Int == 11)
        #expect(json["tileSize"] as? Int == 256)
        let whole = try image(try await gallery.get("/house/1.png"))
        let tile = try image(try await gallery.get("/tiles/house/1.png_files/10/2_1.jpg"))
        let expected = whole.cut(PixelRect(x: 512, y: 256, width: 88, height: 44))
        #expect(PixelComparison(tile, expected).meanDifference < 6)
        let top = try await gallery.get("/tiles/house/1.png_files/0/0_0.jpg")
        #expect(try top.pixelSize() == PixelSize(width: 1, height: 1))
    }

    @Test(
        "include no tiles outside of the pyramid",
        arguments: [
            "11/0_0.jpg", "-1/0_0.jpg", "10/3_0.jpg", "10/0_2.jpg", "10/-1_0.jpg", "10/0_0.exe",
            "10/0.jpg", "10/0_0_0.jpg", "x/0_0.jpg", "99999999999999999999/0_0.jpg",
            "10/99999999999999999999_0.jpg", "10/+0_0.jpg",
        ])
    func noTile(rest: String) async throws {
        #expect(try await gallery.get("/tiles/house/1.png_files/\(rest)").status == 404)
    }

    @Test("include metadata without the GPS position") func information() async throws {
        let json = try await gallery.get("/info/house/1.png").json()
        #expect(json["width"] as? Int == 600)
        #expect(json["format"] as? String == "png")
        #expect(json["name"] as? String == "1.png")
        #expect(json["camera"] == nil)
        #expect(try await gallery.get("/info/house/3.png").status == 415)
        #expect(try await gallery.get("/info/house/4.png").status == 404)
        #expect(try await gallery.get("/info/../secret").status == 404)
    }

    @Test("include a ThumbHash") func placeholder() async throws {
        let bytes = try await gallery.get("/placeholder/house/1.png").body
        let hash = try ThumbHash(bytes: bytes)
        #expect(abs(hash.aspectRatio - 2) < 0.3)
        let json = try await gallery.get("/placeholder/house/1.png?format=json").json()
        #expect(json["thumbhash"] as? String == hash.base64)
        #expect((json["uri"] as? String)?.hasPrefix("data:image/png;base64,") == true)
    }

    @Test("include a sprite sheet that matches its index", arguments: ["grid", "packed"])
    func sprite(arrangement: String) async throws {
        let address = "/sprite/64x64,png/house?arrangement=\(arrangement)&padding=2"
        let sheet = try image(try await gallery.get(address))
        let index = try JSONDecoder().decode(
            SpriteIndex.self, from: Data(try await gallery.get("\(address)&as=json").body))
        #expect(index.size == sheet.size)
        // Files other than images are omitted.
        #expect(index.sprites.map(\.name) == ["1.png", "2.png"])
        for sprite in index.sprites {
            let alone = try image(try await gallery.get("/house/64x64,png/\(sprite.name)"))
            #expect(alone.size == sprite.place.size)
            let part = sheet.cut(sprite.place)
            #expect(PixelComparison(part.asRGBA, alone.asRGBA).maximumDifference == 0)
        }
    }

    @Test("reserve memory for a sheet and release it") func memory() async throws {
        let gallery = try TestGallery(changingPipeline: {
            $0.memoryBudget = MemoryBudget(byteLimit: 1 << 20)
        })
        for name in 1...4 {
            try gallery.image(
                "house/\(name).png", PixelSize(width: 200, height: 150), seed: UInt64(name))
        }
        let tooLarge = try await gallery.get("/sprite/200x200,png/house")
        #expect(tooLarge.status == 422, "\(tooLarge.text)")
        var taken: Set<Int> = []
        for _ in 0..<3 {
            #expect(try await gallery.get("/sprite/64x64,png/house").status == 200)
            taken.insert(gallery.pipeline.budget.byteCount)
        }
        #expect(taken.count == 1)
    }

    @Test("include a sprite sheet of named images") func namedSprites() async throws {
        let address = "/sprite/32x32,fill/house?as=json"
        let names = try await gallery.get("\(address)&names=2.png").text
        #expect(names.contains("2.png") && !names.contains("1.png"))
        let posted = try await gallery.request(
            .post, address, body: Array("[\"2.png\",\"1.png\"]".utf8))
        let index = try JSONDecoder().decode(SpriteIndex.self, from: Data(posted.body))
        #expect(index.sprites.map(\.name) == ["2.png", "1.png"])
        #expect(try await gallery.get("\(address)&names=..%2Fsecret").status == 400)
        #expect(try await gallery.get("\(address)&names=4.png").status == 404)
        let nonsense = try await gallery.request(.post, address, body: Array("{".utf8))
        #expect(nonsense.status == 400)
        #expect(try await gallery.get("/sprite/nonsense/house").status == 404)
        #expect(try await gallery.get("/sprite/32x32/house?as=pdf").status == 400)
    }

    @Test("include sprite descriptions as CSS, WebVTT and HTML") func forms() async throws {
        try gallery.image("odd/<b>&'.png")
        let css = try await gallery.get("/sprite/32x32/house?as=css")
        #expect(css.text.contains("background:url(\"/sprite/32x32/house\")"))
        #expect(try await gallery.get("/sprite/32x32/house?as=vtt").text.hasPrefix("WEBVTT\n"))
        let page = try await gallery.get("/sprite/32x32/odd?as=html").text
        #expect(page.contains("&lt;b&gt;&amp;&#39;.png") && !page.contains("<b>"))
    }

    @Test("hide only originals with the names of routes") func reserved() async throws {
        try gallery.image("info/1.png")
        #expect(try await gallery.get("/info/1.png").status == 404)
        #expect(try await gallery.get("/house/../info/1.png").status == 404)
        try gallery.image("house/info/1.png")
        #expect(try await gallery.get("/house/info/1.png").status == 200)
    }
}
