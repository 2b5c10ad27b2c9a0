// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

@Suite("Cards and avatars", .enabled(if: builtInCodecs.codec(named: "card") != nil))
struct CardRouteTests {
    private static let article = """
        {"size": [120, 60], "background": "#102030", "values": {"author": ""}, "layers": [
          {"type": "image", "source": "{photo}", "box": [0, 0, 60, 60]},
          {"type": "image", "source": "logo.png", "box": [100, 0, 20, 20]},
          {"type": "text", "text": "{title}", "box": [64, 24, 52, 30], "size": 12,
           "color": "#fff"},
          {"type": "text", "if": "author", "text": "{author}", "box": [64, 2, 30, 12],
           "size": 8}]}
        """

    private let folder: TemporaryFolder
    private let gallery: TestGallery

    init() throws { (folder, gallery) = try Self.gallery { _ in } }

    private static func gallery(
        _ change: @escaping @Sendable (inout ImageServer.Configuration) -> Void
    ) throws -> (TemporaryFolder, TestGallery) {
        let folder = try TemporaryFolder()
        try Data(article.utf8).write(to: URL(filePath: folder.path("article.json")))
        try Data(
            try ImageDestination(format: "png", codecs: builtInCodecs).encode(
                TestImage.flat(PixelSize(width: 20, height: 20), .rgb8, [255, 0, 0]))
        ).write(to: URL(filePath: folder.path("logo.png")))
        let cards = try CardTemplates(directory: folder.path)
        // Drawn in this process: the sandbox has tests of its own.
        let gallery = try TestGallery(codecs: sandboxCodecs(loading: [])) {
            $0.cards = cards
            change(&$0)
        }
        try gallery.image("house/1.png", PixelSize(width: 80, height: 60))
        return (folder, gallery)
    }

    private func image(_ answer: Answer) throws -> PixelBuffer {
        try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).image()
    }

    @Test("are drawn with the values of the query") func card() async throws {
        let address = "/card/article?title=Hello%20World&photo=house/1.png"
        let answer = try await gallery.get(address)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.headers[.contentType] == "image/jpeg")
        #expect(try image(answer).size == PixelSize(width: 120, height: 60))
        let png = try await gallery.get(address + "&format=png&scale=2")
        #expect(png.headers[.contentType] == "image/png")
        let drawn = try image(png).converted(to: .rgb8)
        #expect(drawn.size == PixelSize(width: 240, height: 120))
        func pixel(_ x: Int, _ y: Int) -> [UInt8] {
            let row = drawn.row(y)
            return (0..<3).map { row[x * 3 + $0] }
        }
        #expect(pixel(220, 20) == [255, 0, 0], "the logo")
        #expect(pixel(130, 110) == [0x10, 0x20, 0x30], "the background")
        let whole = PixelRect(x: 128, y: 48, width: 104, height: 60)
        let text = drawn.cut(whole)
        let isText = (0..<text.size.height).contains { y in
            let row = text.row(y)
            return row.indices.contains { row[$0] > 200 }
        }
        #expect(isText)
        let other = try await gallery.get("/card/article?title=Other&photo=house/1.png")
        #expect(other.headers[.eTag] != answer.headers[.eTag])
        #expect(other.body != answer.body)
    }

    @Test("in JPEG and in PNG have the same photograph") func formats() async throws {
        try gallery.file(
            "house/2.jpg",
            try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(
                TestImage.make(PixelSize(width: 480, height: 480), .rgb8) { x, y, channel in
                    UInt8([x * 255 / 480, y * 255 / 480, (x + y) * 255 / 960][channel])
                }))
        let address = "/card/article?title=%20&photo=house/2.jpg"
        let answers = [
            try await gallery.get(address), try await gallery.get(address + "&format=png"),
        ]
        let photographs = try answers.map {
            try image($0).asRGBA.cut(PixelRect(x: 0, y: 0, width: 60, height: 60))
        }
        let comparison = PixelComparison(photographs[0], photographs[1])
        #expect(comparison.meanDifference < 2, "\(comparison)")
        #expect(answers[0].headers[.eTag] != answers[1].headers[.eTag])
    }

    @Test("have an entity tag that changes with their images") func validators() async throws {
        let address = "/card/article?title=A&photo=house/1.png"
        let tag = try #require(try await gallery.get(address).headers[.eTag])
        #expect(try await gallery.get(address, [.ifNoneMatch: tag]).status == 304)
        try gallery.image("house/1.png", PixelSize(width: 80, height: 60), seed: 2)
        let changed = try await gallery.get(address, [.ifNoneMatch: tag])
        #expect(changed.status == 200)
        #expect(changed.headers[.eTag] != tag)
    }

    @Test(
        "of invalid requests are refused",
        arguments: [
            ("/card/other?title=A", 404), ("/card/article/x?title=A", 404),
            ("/card/article?photo=house/1.png", 400),
            ("/card/article?title=A&photo=house/1.png&name=B", 400),
            ("/card/article?title=A&photo=house/2.png", 404),
            ("/card/article?title=A&photo=../cards/logo.png", 404),
            ("/card/article?title=A&photo=%2Fetc%2Fpasswd", 404),
            ("/card/article?title=A&photo=https://example.org/1.png", 404),
            ("/card/article?title=A&photo=house/1.png&scale=5", 400),
            ("/card/article?title=A&photo=house/1.png&scale=nan", 400),
            ("/card/article?title=A&photo=house/1.png&format=exe", 400),
            ("/avatar/Ada?size=1000", 400), ("/avatar/Ada?size=-1", 400), ("/avatar", 404),
        ])
    func refused(_ address: String, _ status: Int) async throws {
        let answer = try await gallery.get(address)
        #expect(answer.status == status, "\(answer.text)")
    }

    @Test("do not leave their box with hostile texts") func hostile() async throws {
        let empty = try image(
            try await gallery.get("/card/article?title=%20&photo=house/1.png&format=png"))
        for title in [
            String(repeating: "W", count: 1500), String(repeating: "a\u{301}", count: 200),
            String(repeating: "\u{202E}x", count: 200), String(repeating: "A\n", count: 200),
            "\u{FDFD}\u{12031}\u{0}", "{title} {{ }} {photo}",
        ] {
            let text =
                title.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let answer = try await gallery.get(
                "/card/article?title=\(text)&photo=house/1.png&format=png")
            #expect(answer.status == 200, "\(answer.text)")
            let drawn = try image(answer)
            // All that is not right of the photo and below the logo.
            for part in [
                PixelRect(x: 0, y: 0, width: 60, height: 60),
                PixelRect(x: 60, y: 0, width: 60, height: 20),
            ] {
                #expect(
                    drawn.cut(part).packedBytes == empty.cut(part).packedBytes,
                    "\(title.prefix(20))")
            }
        }
    }

    @Test("show initials or an image in a circle") func avatar() async throws {
        let answer = try await gallery.get("/avatar/Ada%20Lovelace?size=64&format=png")
        #expect(answer.status == 200, "\(answer.text)")
        let drawn = try image(answer)
        #expect(drawn.size == PixelSize(width: 64, height: 64))
        #expect(drawn.format == .rgba8 && drawn.row(0)[3] == 0, "the corner is transparent")
        #expect(drawn.row(32)[4 * 4 + 3] == 255)
        let given = try await gallery.get("/avatar/ada?size=64&format=png&initials=Ada%20Lovelace")
        #expect(given.body == answer.body)
        let photo = try await gallery.get("/avatar/ada?image=house/1.png")
        #expect(photo.status == 200, "\(photo.text)")
        #expect(try image(photo).size == PixelSize(width: 128, height: 128))
        #expect(photo.body != answer.body)
    }

    @Test("of a server with presets only have no options of their own") func presets() async throws
    {
        let (folder, gallery) = try Self.gallery { $0.allowsPresetsOnly = true }
        // The templates have images in it.
        defer { withExtendedLifetime(folder) {} }
        let address = "/card/article?title=A&photo=house/1.png"
        #expect(try await gallery.get(address).status == 200)
        #expect(try await gallery.get(address + "&scale=2").status == 403)
        #expect(try await gallery.get(address + "&format=png").status == 403)
        #expect(try await gallery.get("/avatar/Ada?size=64").status == 403)
    }

    @Test("are off without templates") func off() async throws {
        let gallery = try TestGallery()
        #expect(try await gallery.get("/card/article?title=A").status == 404)
        #expect(try await gallery.get("/avatar/Ada").status == 404)
    }

    @Test("name the template that is not valid") func invalid() throws {
        let path = folder.path("bad.json")
        try Data("{\"size\": [1, 2]}".utf8).write(to: URL(filePath: path))
        #expect(
            throws: ServerError.invalidTemplate(path: path, reason: "layers: is missing")
        ) { try CardTemplates(directory: folder.path) }
        #expect(throws: ServerError.notAFolder(path: "/none")) {
            try CardTemplates(directory: "/none")
        }
    }
}
