// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

@Suite("A hostile file") struct HostileFileTests {
    private static let bombs = Bomb.all.filter {
        builtInCodecs.codec(named: $0.format) != nil && $0.limits == DecodeLimits()
    }

    /// The response to a request for the image.
    private func status(_ answer: Bomb.Answer) -> Int {
        switch answer {
        // A still image needs one frame and no metadata.
        case .image, .limit(_, at: .metadata), .limit(_, at: .frames): 200
        case .malformed, .unsupported, .limit: 422
        }
    }

    /// Checks that a response contains no internals, and is not cacheable.
    private func check(_ answer: Answer, _ gallery: TestGallery) {
        #expect(answer.headers[.cacheControl] == "no-store")
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
        #expect(answer.body.count < 300)
        #expect(!answer.text.contains(gallery.outside.path))
    }

    @Test("is rejected with a reason or shown, without affecting other requests", arguments: bombs)
    func bomb(bomb: Bomb) async throws {
        let gallery = try TestGallery()
        try gallery.image("good.png", PixelSize(width: 40, height: 30))
        try gallery.file("bomb.\(bomb.format)", bomb.bytes())
        let before = try await gallery.get("/20x20/good.png")
        let answer = try await gallery.get("/64x64/bomb.\(bomb.format)")
        #expect(answer.status == status(bomb.answer), "\(answer.text.prefix(200))")
        if answer.status != 200 { check(answer, gallery) }
        for kind in ["info", "placeholder"] {
            let answer = try await gallery.get("/\(kind)/bomb.\(bomb.format)")
            #expect([200, 422].contains(answer.status), "\(kind): \(answer.text.prefix(200))")
        }
        let listed = try await gallery.get("/-/listing/")
        #expect(listed.status == 200)
        #expect(try await gallery.get("/healthz").status == 200)
        let after = try await gallery.get("/20x20/good.png")
        #expect(after.status == 200)
        #expect(after.body == before.body)
        #expect(after.headers[.eTag] == before.headers[.eTag])
    }

    @Test(
        "of an unknown format is rejected by its bytes, whatever its name",
        arguments: [
            "%!PS-Adobe\n%", "push graphic-context\nviewbox 0 0 1 1\n", "<html><script>1</script>",
            "\u{0}\u{0}\u{0}\u{18}ftypmp42", "#!/bin/sh\n", "x", "", "8BPS\u{0}\u{1}",
            "<?php echo 1 ?>", "image over 0,0 0,0 'https://example.com/x.png'",
        ])
    func wrongKind(text: String) async throws {
        let gallery = try TestGallery()
        try gallery.file("picture.jpg", Array(text.utf8))
        let answer = try await gallery.get("/64x64/picture.jpg")
        #expect([415, 422].contains(answer.status), "\(answer.text)")
        check(answer, gallery)
        #expect(try await gallery.get("/picture.jpg").status == 404)
    }

    /// Numbers whose sums overflow (row 17).
    private static let overflows: [(name: String, bytes: [UInt8])] = [
        ("low.bmp", bitmap(height: [0, 0, 0, 0x80], depth: 24)),
        ("tall.bmp", bitmap(height: [0xFF, 0xFF, 0xFF, 0x7F], depth: 24)),
        ("palette.bmp", bitmap(height: [1, 0, 0, 0], depth: 8)),
        (
            "far.ico",
            [0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 32, 0]
                + [0xF0, 0xFF, 0xFF, 0xFF, 0xF0, 0xFF, 0xFF, 0xFF]
        ),
        ("many.ico", [0, 0, 1, 0, 0xFF, 0xFF, 1, 1, 0, 0]),
    ]

    /// A BMP file of one pixel's width, with the maximum number of palette colours.
    private static func bitmap(height: [UInt8], depth: UInt8) -> [UInt8] {
        var file = Array("BM".utf8) + [58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0]
        file += [1, 0, 0, 0] + height + [1, 0, depth, 0] + [UInt8](repeating: 0, count: 16)
        return file + [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 1, 2, 3, 4]
    }

    @Test("with overflowing sizes is rejected", arguments: overflows)
    func overflow(name: String, bytes: [UInt8]) async throws {
        let gallery = try TestGallery()
        try gallery.file(name, bytes)
        for address in ["64x64", "info", "placeholder"] {
            let answer = try await gallery.get("/\(address)/\(name)")
            #expect([415, 422].contains(answer.status), "\(address): \(answer.text)")
            check(answer, gallery)
        }
    }

    @Test("cannot run scripts in the origin of the server") func policy() async throws {
        let gallery = try TestGallery()
        try gallery.image("1.png")
        let answer = try await gallery.get("/1.png")
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
        let policy = answer.headers[.contentSecurityPolicy] ?? ""
        #expect(policy.hasPrefix("default-src 'none';"))
        #expect(policy.hasSuffix("; sandbox"))
        #expect(!policy.contains("script"))
    }

    /// SVG files that would run scripts, read files, or never end (rows 20 and 21).
    private static let drawings = [
        "<svg><script>alert(1)</script></svg>", "<svg onload=\"alert(1)\"/>",
        "<svg><a href=\"javascript:alert(1)\"><text>x</text></a></svg>",
        "<svg><foreignObject><iframe src=\"/\"/><form action=\"/\"/></foreignObject></svg>",
        "<svg><use href=\"http://127.0.0.1/x.svg#a\"/><image href=\"file:///etc/passwd\"/></svg>",
        "<?xml version=\"1.0\"?>\(Bomb.entities)<svg><text>&i;</text></svg>",
        "<svg xmlns:xi=\"http://www.w3.org/2001/XInclude\"><xi:include href=\"/etc/passwd\"/></svg>",
        "<svg>" + String(repeating: "<g>", count: 100_000),
        "<!-- --><svg/>", "\u{FEFF}<svg/>",
    ]

    @Test(
        "in SVG is drawn only with the SVG trait",
        .enabled(if: builtInCodecs.codec(named: "svg") == nil), arguments: drawings)
    func drawing(text: String) async throws {
        let gallery = try TestGallery()
        for name in ["drawing.svg", "drawing.jpg"] {
            try gallery.file(name, Array(text.utf8))
            for address in ["64x64", "info", "placeholder"] {
                let answer = try await gallery.get("/\(address)/\(name)")
                #expect(answer.status == 415, "\(address): \(answer.text)")
                check(answer, gallery)
            }
            let original = try await gallery.get("/\(name)")
            #expect([404, 415].contains(original.status))
            check(original, gallery)
        }
    }
}
