// SPDX-License-Identifier: Apache-2.0

import Effects
import EncodedImages
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

@Suite("Effects in URLs of imgproxy") struct ImgproxyEffectTests {
    private static let red = SRGBColor(red: 1, green: 0, blue: 0)

    struct Case: Sendable, CustomTestStringConvertible {
        let options: String
        let effect: Effect
        var testDescription: String { options }
    }

    static var cases: [Case] {
        [
            Case(options: "br:-51", effect: .brightness(-0.2)),
            Case(options: "contrast:1.5", effect: .contrast(1.5)),
            Case(options: "sa:0.25", effect: .saturation(0.25)),
            Case(options: "pix:6", effect: .pixelate(6)),
            Case(options: "sharpen:0.8", effect: .sharpen(sigma: 0.8)),
            Case(options: "bg:255:0:0", effect: .background(red)),
            Case(options: "background:ff0000", effect: .background(red)),
            Case(
                options: "pix:4/bl:1/co:0.5/br:20",
                effect: .brightness(20.0 / 255).then(.contrast(0.5)).then(.blur(sigma: 1))
                    .then(.pixelate(4))),
            Case(options: "br:0/co:1/sa:1/pix:0/sh:0/bg:", effect: .none),
        ]
    }

    private func image(_ answer: Answer) throws -> PixelBuffer {
        try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).image()
    }

    @Test("are those of the library", arguments: cases)
    func effects(_ given: Case) async throws {
        let gallery = try TestGallery { $0.imgproxy = ImgproxyKeys() }
        // Its alpha increases from left to right.
        let original = TestImage.photograph(PixelSize(width: 40, height: 30), .rgba8)
        try gallery.file(
            "house/1.png",
            try ImageDestination(format: "png", codecs: builtInCodecs).encode(original))
        let plain = try image(try await gallery.get("/_/w:40/plain/house/1.png@png"))
        let answer = try await gallery.get("/_/w:40/\(given.options)/plain/house/1.png@png")
        #expect(answer.status == 200, "\(answer.text)")
        let expected = try #require(given.effect.applied(to: plain))
        let result = try image(answer)
        let comparison = PixelComparison(
            result.converted(to: .rgba8), expected.converted(to: .rgba8))
        #expect(comparison.maximumDifference <= 1, "\(comparison)")
        let change = PixelComparison(plain.converted(to: .rgba8), result.converted(to: .rgba8))
        #expect((change.maximumDifference > 0) == !given.effect.isEmpty)
    }

    @Test(
        "are rejected by name if they are out of range",
        arguments: [
            "br:256", "br:nan", "br:1:2", "co:-1", "sa:", "sh:11", "pix:-1", "pix:100000", "bg:1:2",
            "bg:256:0:0", "bg:ff00", "bg:gggggg",
        ])
    func rejected(_ option: String) async throws {
        let gallery = try TestGallery { $0.imgproxy = ImgproxyKeys() }
        try gallery.image("house/1.png", PixelSize(width: 40, height: 30))
        let answer = try await gallery.get("/_/\(option)/plain/house/1.png")
        #expect(answer.status == 400)
        #expect(answer.text.contains(option))
    }
}
