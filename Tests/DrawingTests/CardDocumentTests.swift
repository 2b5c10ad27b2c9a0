// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import Pixels
import Testing

@testable import Drawing

@Suite("Card documents") struct CardDocumentTests {
    private static let template = """
        {"size": [80, 40], "background": "#fff", "values": {"name": "Ada"}, "layers": [
          {"type": "image", "source": "{photo}", "box": [0, 0, 40, 40]},
          {"type": "image", "source": "logo.png", "box": [40, 0, 10.5, 10], "mode": "fit"},
          {"type": "avatar", "if": "face", "source": "{face}", "initials": "{name}",
           "box": [60, 0, 20, 20]},
          {"type": "text", "text": "{{{name}}", "box": [0, 20, 40, 20], "size": 8}]}
        """

    private func document() -> CardDocument {
        CardDocument(
            template: Self.template, values: ["photo": "a/1.jpg", "name": "Grace"], scale: 1.5,
            images: [
                TestImage.noise(PixelSize(width: 60, height: 60), .rgb8),
                TestImage.noise(PixelSize(width: 7, height: 3), .gray8),
            ])
    }

    private func parse(_ bytes: [UInt8]) throws -> CardDocument { try CardDocument(bytes.span) }

    @Test("are read as they were written") func roundTrip() throws {
        let document = document()
        let read = try parse(document.bytes)
        #expect(read.template == document.template)
        #expect(read.values == document.values)
        #expect(read.scale == 1.5)
        #expect(read.images.map(\.packedBytes) == document.images.map(\.packedBytes))
        #expect(try read.pixelSize() == PixelSize(width: 120, height: 60))
    }

    @Test("name their placeholders and images") func requests() throws {
        let template = try Template(parsing: Self.template)
        #expect(template.placeholders == ["photo", "face", "name"])
        let values = ["photo": "a/1.jpg"]
        let requests = try template.imageRequests(values, scale: 2)
        #expect(requests.map(\.source) == ["a/1.jpg", "logo.png"])
        #expect(requests.map(\.isFixed) == [false, true])
        #expect(
            requests.map(\.box)
                == [PixelSize(width: 80, height: 80), PixelSize(width: 21, height: 20)])
        let all = try template.imageRequests(["photo": "a", "face": "b"])
        #expect(all.map(\.source) == ["a", "logo.png", "b"])
        #expect(throws: DrawingError.self) { try template.imageRequests() }
    }

    @Test("request the images that drawing requests") func order() throws {
        let document = document()
        let template = try Template(parsing: document.template)
        var requested: [Template.ImageRequest] = []
        _ = try template.image(
            document.values, format: ImageRendererFormat(scale: document.scale),
            fonts: try FontCollection.usual()
        ) { (request) throws(DrawingError) in
            requested.append(request)
            return document.images[0]
        }
        #expect(
            try template.imageRequests(document.values, scale: document.scale) == requested)
    }

    @Test("are refused or drawn after any change, and when truncated") func damaged() throws {
        let bytes = document().bytes
        for count in 0..<min(bytes.count, 1500) {
            #expect(throws: DrawingError.self) { try parse(Array(bytes.prefix(count))) }
        }
        #expect(throws: DrawingError.self) { try parse(bytes + [0]) }
        var random = SeededRandom(seed: 5)
        var refusedCount = 0
        for _ in 0..<5000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[.random(in: 8..<1200, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            do {
                _ = try parse(changed).pixelSize()
            } catch is DrawingError {
                refusedCount += 1
            }
        }
        #expect(refusedCount > 100)
    }

    @Test("draw with the usual fonts what the fonts of the system draw") func fonts() throws {
        let document = document()
        let few = try document.image(fonts: try FontCollection.usual())
        let all = try document.image(fonts: try FontCollection())
        #expect(few.size == PixelSize(width: 120, height: 60) && few.format == .rgb8)
        #expect(few.packedBytes == all.packedBytes)
    }
}
