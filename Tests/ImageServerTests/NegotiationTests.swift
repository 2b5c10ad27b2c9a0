// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPTypes
import Pixels
import Testing

@testable import ImageServer

@Suite("Content negotiation") struct NegotiationTests {
    private static let browser =
        "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"

    @Test(
        "selects the format if the path has none",
        arguments: [
            (browser, "image/webp"), ("image/webp", "image/webp"), ("*/*", "image/jpeg"),
            ("image/*", "image/jpeg"), ("", "image/jpeg"), ("image/webp;q=0", "image/jpeg"),
            ("image/webp;q=banana", "image/jpeg"), ("image/webp;q=0.5, image/jpeg", "image/jpeg"),
            ("IMAGE/WEBP ; Q=0.9", "image/webp"),
            (String(repeating: "image/x-\u{2603};q=0.1,", count: 300), "image/jpeg"),
        ])
    func format(accept: String, mediaType: String) async throws {
        let gallery = try TestGallery { $0.negotiatedFormatNames = ["webp"] }
        try gallery.image("1.png")
        let answer = try await gallery.get("/20x20/1.png", [.accept: accept])
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == mediaType)
        #expect(answer.headers[.vary] == "Accept")
        let fixed = try await gallery.get("/20x20,png/1.png", [.accept: accept])
        #expect(fixed.headers[.contentType] == "image/png")
        #expect(fixed.headers[.vary] == nil)
    }

    @Test("gives each format its own entity tag") func tags() async throws {
        let gallery = try TestGallery { $0.negotiatedFormatNames = ["webp"] }
        try gallery.image("1.png")
        let jpeg = try await gallery.get("/20x20/1.png")
        let webp = try await gallery.get("/20x20/1.png", [.accept: "image/webp"])
        #expect(jpeg.headers[.eTag] != webp.headers[.eTag])
        #expect(jpeg.headers[.eTag] != nil)
    }

    @Test(
        "rounds and limits the density hint",
        arguments: [
            ("2", 40), ("1.4", 30), ("1e9", 40), ("-1", 20), ("NaN", 20), ("banana", 20), ("", 20),
        ])
    func density(hint: String, width: Int) async throws {
        let gallery = try TestGallery { $0.usesClientHints = true }
        try gallery.image("1.png", PixelSize(width: 40, height: 30))
        var headers: HTTPFields = [:]
        headers[named: "Sec-CH-DPR"] = hint
        let answer = try await gallery.get("/20x20/1.png", headers)
        #expect(try answer.pixelSize().width == width)
        #expect(answer.headers[.vary] == "Sec-CH-DPR, ECT, Save-Data")
        let fixed = try await gallery.get("/20x20@1x/1.png", headers)
        #expect(try fixed.pixelSize().width == 20)
        #expect(fixed.headers[.vary] == "ECT, Save-Data")
        #expect(try await gallery.get("/20x20@1x,q90/1.png", headers).headers[.vary] == nil)
    }

    @Test(
        "rounds and limits the width hints",
        arguments: [
            (["Sec-CH-Width": "600"], 640), (["Sec-CH-Width": "600", "Sec-CH-DPR": "2"], 640),
            (["Sec-CH-Width": "600", "Sec-CH-DPR": "2", "Save-Data": "on"], 320),
            (["Sec-CH-Viewport-Width": "412"], 448),
            (["Sec-CH-Viewport-Width": "412", "Sec-CH-DPR": "2"], 832),
            (["Sec-CH-Viewport-Width": "412", "Sec-CH-DPR": "2", "ECT": "2g"], 448),
            ([:], 1280), (["Sec-CH-Width": "1e300"], 1300), (["Sec-CH-Width": "-5"], 1280),
            (["Sec-CH-Width": "0.001"], 64), (["Sec-CH-Width": "banana"], 1280),
        ])
    func openWidth(hints: [String: String], width: Int) async throws {
        let gallery = try TestGallery {
            $0.usesClientHints = true
            $0.sizes = .exact
        }
        try gallery.image("1.png", PixelSize(width: 1300, height: 13))
        var headers: HTTPFields = [:]
        for (name, value) in hints { headers[named: name] = value }
        let answer = try await gallery.get("/_x/1.png", headers)
        #expect(try answer.pixelSize().width == width)
        #expect(
            answer.headers[.vary]
                == "Sec-CH-Width, Sec-CH-Viewport-Width, Sec-CH-DPR, ECT, Save-Data")
    }

    @Test("uses client hints only if enabled, and announces them with the page")
    func asked() async throws {
        let deaf = try TestGallery { $0.sizes = .exact }
        try deaf.image("1.png", PixelSize(width: 1300, height: 13))
        var headers: HTTPFields = [:]
        headers[named: "Sec-CH-Width"] = "64"
        let answer = try await deaf.get("/_x/1.png", headers)
        #expect(try answer.pixelSize().width == 1280)
        #expect(answer.headers[.vary] == nil)
        #expect(try await deaf.get("/").headers[named: "Accept-CH"] == nil)
        let listening = try TestGallery { $0.usesClientHints = true }
        #expect(
            try await listening.get("/").headers[named: "Accept-CH"]
                == "Sec-CH-DPR, Sec-CH-Width, Sec-CH-Viewport-Width, ECT")
        #expect(try await deaf.get("/_x@2x/1.png").status == 400)
        #expect(try await deaf.get("/sprite/_x").status == 400)
    }

    @Test("reduces density and quality for Save-Data") func savesData() async throws {
        let gallery = try TestGallery { $0.usesClientHints = true }
        try gallery.image("1.png", PixelSize(width: 400, height: 300))
        var headers: HTTPFields = [:]
        headers[named: "Sec-CH-DPR"] = "2"
        let usual = try await gallery.get("/100x100/1.png", headers)
        headers[named: "Save-Data"] = "on"
        let saving = try await gallery.get("/100x100/1.png", headers)
        #expect(try usual.pixelSize().width == 200)
        #expect(try saving.pixelSize().width == 100)
        #expect(saving.headers[.eTag] != usual.headers[.eTag])
    }

    @Test(
        "never leaves the steps of the ladder",
        arguments: [("33x33", 40), ("40x40", 40), ("20x15@1.9x", 30), ("41x41,up", 48)])
    func ladder(segment: String, width: Int) async throws {
        let gallery = try TestGallery { $0.sizes = .quarters }
        try gallery.image("1.png", PixelSize(width: 40, height: 40))
        let answer = try await gallery.get("/\(segment)/1.png")
        #expect(try answer.pixelSize().width == width)
        if segment == "33x33" {
            let other = try await gallery.get("/40x40/1.png")
            #expect(other.headers[.eTag] == answer.headers[.eTag])
        }
    }

    @Test("keeps the proportions of a limited box") func proportions() async throws {
        let gallery = try TestGallery { $0.sizes = .quarters }
        try gallery.image("1.png", PixelSize(width: 400, height: 400))
        let answer = try await gallery.get("/90x60,fill/1.png")
        #expect(try answer.pixelSize() == PixelSize(width: 96, height: 64))
    }
}
