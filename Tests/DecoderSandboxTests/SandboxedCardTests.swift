// SPDX-License-Identifier: Apache-2.0

import DecoderSandbox
import Drawing
import EncodedImages
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Cards need no files that were not opened before lockdown.
@Suite(.enabled(if: builtInCodecs.codec(named: "card") != nil)) struct SandboxedCardTests {
    private static let fonts = [
        "Sans", "Sans Bold Italic", "Serif", "Serif Bold Italic", "Monospace Bold", "Inter Light",
        "nonexistent font", "cursive", "Noto Color Emoji", "Sans Condensed",
    ]

    @Test func `all kinds of text are drawn with fonts opened before lockdown`() throws {
        let texts = ["Aä中ب", "हिन्दी ไทย ລາວ ភាសាខ្មែរ བོད ქართ", "👩‍👩‍👧 ✓ ½", "\u{0}\u{FFFF}\u{202E}abc"]
        for font in Self.fonts { for text in texts { try expectSame(card(font, text)) } }
    }

    @Test func `images are drawn`() throws {
        let template = """
            {"size": [60, 40], "layers": [
              {"type": "image", "source": "{photo}", "box": [0, 0, 30, 20], "radius": 4},
              {"type": "avatar", "source": "face.png", "box": [30, 0, 20, 20]}]}
            """
        let images = [
            TestImage.photograph(PixelSize(width: 30, height: 20)),
            TestImage.photograph(PixelSize(width: 25, height: 25), .rgba8),
        ]
        try expectSame(
            CardDocument(
                template: template, values: ["photo": "1.jpg"], scale: 1, images: images))
    }

    @Test func `one worker draws many different cards`() throws {
        let sandbox = try Sandboxes.make { $0.workerCount = 1 }
        defer { sandbox.close() }
        for number in 0..<300 {
            let font = Self.fonts[number % Self.fonts.count]
            let bytes = EncodedBytes(card(font, "\(number)").bytes)
            let image = try ImageSource(bytes, codecs: Sandboxes.codecs(sandbox)).image()
            #expect(image.size == PixelSize(width: 200, height: 40))
        }
    }

    @Test func `are refused outside of the sandbox`() throws {
        let bytes = EncodedBytes(card("Sans", "A").bytes)
        #expect(throws: CodecError.self) {
            try ImageSource(bytes, codecs: builtInCodecs).image()
        }
    }

    private func card(_ font: String, _ text: String) -> CardDocument {
        let template = """
            {"size": [200, 40], "layers": [
              {"type": "text", "text": "{text}", "font": "\(font)", "box": [0, 0, 200, 40]}]}
            """
        return CardDocument(template: template, values: ["text": text], scale: 1, images: [])
    }

    private func expectSame(_ card: CardDocument) throws {
        let sandbox = try Sandboxes.make { $0.workerCount = 1 }
        defer { sandbox.close() }
        let bytes = EncodedBytes(card.bytes)
        let expected = try ImageSource(bytes, codecs: sandboxCodecs(loading: [])).image()
        let image = try ImageSource(bytes, codecs: Sandboxes.codecs(sandbox)).image()
        #expect(image.packedBytes == expected.packedBytes, "\(card.template) \(card.values)")
    }
}
