// SPDX-License-Identifier: Apache-2.0

import Effects
import EncodedImages
import HTTPTypes
import ImageCodecs
import ImageTesting
import Logging
import Pixels
import Testing

@testable import ImageServer

@Suite("Crops, margins and watermarks in URLs") struct ImgproxyFrameTests {
    private static let red = SRGBColor(red: 1, green: 0, blue: 0)
    private static let clear = SRGBColor(red: 0, green: 0, blue: 0, alpha: 0)

    /// Two ways to request the same, and the same with the operations of the library.
    struct Case: Sendable, CustomTestStringConvertible {
        let imgproxy: String
        /// The options of the server's own URL; `nil` if it has no equivalent.
        let segment: String?
        let expected: @Sendable (PixelBuffer) -> PixelBuffer?
        var testDescription: String { imgproxy }
    }

    /// The original is 40×30 pixels.
    static var cases: [Case] {
        let mark = mark
        func effect(_ effect: Effect) -> @Sendable (PixelBuffer) -> PixelBuffer? {
            { effect.applied(to: $0) }
        }
        func cut(_ x: Int, _ y: Int, _ width: Int, _ height: Int)
            -> @Sendable (PixelBuffer) ->
            PixelBuffer?
        { { $0.cut(PixelRect(x: x, y: y, width: width, height: height)) } }
        func over(_ placement: Overlay.Placement, scale: Double? = nil, opacity: Double = 1)
            -> @Sendable (PixelBuffer) -> PixelBuffer?
        {
            effect(
                .overlay(
                    Overlay(
                        mark, identity: "", placement: placement, scale: scale, opacity: opacity)))
        }
        func pad(_ top: Int, _ right: Int, _ bottom: Int, _ left: Int, _ color: SRGBColor)
            -> Effect
        {
            .pad(Padding(top: top, right: right, bottom: bottom, left: left, color: color))
        }
        func extend(_ x: Double, _ y: Double, _ fill: Extension.Fill) -> Effect {
            .extend(Extension(to: PixelSize(width: 60, height: 50), x: x, y: y, fill: fill))
        }
        return [
            Case(imgproxy: "pd:5", segment: "pad5", expected: effect(pad(5, 5, 5, 5, clear))),
            Case(
                imgproxy: "padding:1:2:3:4/bg:ff0000", segment: "pad1x2x3x4,backgroundff0000",
                expected: effect(pad(1, 2, 3, 4, red).then(.background(red)))),
            Case(
                imgproxy: "pd:3::7", segment: "pad3x3x7",
                expected: effect(pad(3, 3, 7, 3, clear))),
            Case(
                imgproxy: "pd:2:4/dpr:2", segment: nil, expected: effect(pad(4, 8, 4, 8, clear))),
            Case(
                imgproxy: "rs:fit:60:50:0:1", segment: nil,
                expected: effect(extend(0.5, 0.5, .color(clear)))),
            Case(
                imgproxy: "s:60:50/ex:1:soea/bg:ff0000", segment: nil,
                expected: effect(extend(1, 1, .color(red)).then(.background(red)))),
            // 4 pixels from the right edge, and a tenth of the height from the bottom.
            Case(
                imgproxy: "s:60:50/ex:1:soea:4:0.1", segment: nil,
                expected: effect(extend(16.0 / 20, 15.0 / 20, .color(clear)))),
            Case(
                imgproxy: "s:60:50/ex:1:fp:0:1", segment: nil,
                expected: effect(extend(0, 1, .color(clear)))),
            Case(imgproxy: "c:20:10", segment: "crop20x10", expected: cut(10, 10, 20, 10)),
            Case(imgproxy: "crop:0.5:0/g:ea", segment: nil, expected: cut(20, 0, 20, 30)),
            Case(imgproxy: "c:20:10:nowe:3:4", segment: nil, expected: cut(3, 4, 20, 10)),
            Case(imgproxy: "c:20:10:soea:3:0.1", segment: nil, expected: cut(17, 17, 20, 10)),
            Case(imgproxy: "c:20:10:fp:0.9:0.5", segment: nil, expected: cut(20, 10, 20, 10)),
            Case(imgproxy: "c:100:0", segment: nil, expected: cut(0, 0, 40, 30)),
            Case(imgproxy: "rs:fill:20:30/g:fp:0.4:0.5", segment: nil, expected: cut(6, 0, 20, 30)),
            Case(imgproxy: "rs:fill:20:30/g:we:3", segment: nil, expected: cut(3, 0, 20, 30)),
            Case(imgproxy: "rs:fill:20:30/g:ea:0.1", segment: nil, expected: cut(16, 0, 20, 30)),
            Case(imgproxy: "rs:fill:20:30/g:ce:-99", segment: nil, expected: cut(0, 0, 20, 30)),
            Case(
                imgproxy: "wm:1", segment: "watermark", expected: over(.anchored(x: 0.5, y: 0.5))),
            Case(
                imgproxy: "watermark:0.5:soea:2:3", segment: nil,
                expected: over(
                    .anchored(x: 1, y: 1, offsetX: -2, offsetY: -3), opacity: 0.5)),
            Case(
                imgproxy: "wm:0.5:soea:::0.25", segment: "watermark0.5-bottom-right-0.25",
                expected: over(.anchored(x: 1, y: 1), scale: 0.25, opacity: 0.5)),
            Case(
                imgproxy: "wm:1:re:2:0.1", segment: nil, expected: over(.tiled(gapX: 2, gapY: 3))),
            Case(imgproxy: "wm:1:re", segment: "watermark-tiled", expected: over(.tiled())),
            Case(
                imgproxy: "sh:1/pix:3/br:9/co:2/sa:0.5",
                segment: "sharpen1,pixelate3,brightness9,contrast2,saturation0.5",
                expected: effect(
                    .brightness(9.0 / 255).then(.contrast(2)).then(.saturation(0.5))
                        .then(.sharpen(sigma: 1)).then(.pixelate(3)))),
        ]
    }

    private static var mark: PixelBuffer {
        TestImage.photograph(PixelSize(width: 6, height: 4), .rgba8, seed: 3)
    }

    private func gallery() throws -> TestGallery {
        let gallery = try TestGallery {
            $0.imgproxy = ImgproxyKeys()
            $0.watermark = Watermark(Self.mark)
        }
        try gallery.image("house/1.png")
        return gallery
    }

    private func image(_ answer: Answer) throws -> PixelBuffer {
        try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs).image()
    }

    @Test("give the images of the library", arguments: cases)
    func frames(_ given: Case) async throws {
        let gallery = try gallery()
        let plain = try image(try await gallery.get("/house/1.png"))
        let expected = try #require(given.expected(plain)).converted(to: .rgba8)
        var addresses = ["/_/\(given.imgproxy)/plain/house/1.png@png"]
        if let segment = given.segment { addresses.append("/house/40x30,png,\(segment)/1.png") }
        for address in addresses {
            let answer = try await gallery.get(address)
            #expect(answer.status == 200, "\(address): \(answer.text.prefix(200))")
            let result = try image(answer).converted(to: .rgba8)
            #expect(result.size == expected.size, "\(address)")
            guard result.size == expected.size else { continue }
            let comparison = PixelComparison(result, expected)
            #expect(comparison.maximumDifference <= 1, "\(address): \(comparison)")
        }
    }

    @Test(
        "remove borders before the image is resized",
        arguments: [
            ("t:10", PixelRect(x: 4, y: 6, width: 20, height: 10)),
            ("trim:10:ffffff:1:1", PixelRect(x: 4, y: 6, width: 32, height: 18)),
            ("t:10:000000", PixelRect(x: 0, y: 0, width: 40, height: 30)),
        ])
    func trim(_ option: String, _ content: PixelRect) async throws {
        let gallery = try gallery()
        let white = SRGBColor(red: 1, green: 1, blue: 1)
        let inner = TestImage.photograph(PixelSize(width: 20, height: 10), .rgb8)
        let padding = Padding(top: 6, right: 16, bottom: 14, left: 4, color: white)
        let original = try #require(
            Effect.contrast(0.5).then(.pad(padding)).applied(to: inner))
        try gallery.file(
            "2.png", try ImageDestination(format: "png", codecs: builtInCodecs).encode(original))
        let whole = try image(try await gallery.get("/_/\(option)/plain/2.png@png"))
        #expect(whole.size == content.size)
        let comparison = PixelComparison(whole, original.cut(content))
        #expect(comparison.maximumDifference == 0)
        let small = try await gallery.get("/_/\(option)/w:10/plain/2.png@png")
        #expect(try small.pixelSize().width == 10)
        let own = try await gallery.get("/100x100,png,trim10/2.png")
        #expect(try own.pixelSize() == PixelSize(width: 20, height: 10))
    }

    @Test("of rotated images refer to the rotated image") func rotation() async throws {
        let gallery = try gallery()
        let plain = try image(try await gallery.get("/house/1.png"))
        let rotated = plain.turned(.rotated90)
        let answer = try await gallery.get(
            "/_/rot:90/c:10:20:nowe:2:3/pd:1:2/plain/house/1.png@png")
        let padding = Padding(top: 1, right: 2, bottom: 1, left: 2, color: Self.clear)
        let part = rotated.cut(PixelRect(x: 2, y: 3, width: 10, height: 20))
        let expected = try #require(Effect.pad(padding).applied(to: part))
        let result = try image(answer)
        #expect(PixelComparison(result, expected).maximumDifference <= 1)
    }

    @Test("fill the box with the blurred image") func blurredFill() async throws {
        let gallery = try gallery()
        let plain = try image(try await gallery.get("/house/1.png"))
        let answer = try await gallery.get("/house/60x50,png,extend-blur/1.png")
        let expected = Effect.extend(
            Extension(to: PixelSize(width: 60, height: 50), fill: .blurredImage)
        ).applied(to: plain)
        #expect(
            PixelComparison(try image(answer), try #require(expected)).maximumDifference <= 1)
    }

    @Test("keep their proportions when the box is rounded up to a step") func steps() async throws {
        let gallery = try TestGallery { $0.sizes = SizeLadder(steps: [20]) }
        try gallery.image("1.png")
        let answer = try await gallery.get("/10x10,fill,pad3/1.png")
        #expect(try answer.pixelSize() == PixelSize(width: 32, height: 32))
    }

    @Test("change the entity tag with the watermark") func entityTag() async throws {
        let gallery = try gallery()
        let address = "/house/40x30,png,watermark/1.png"
        let first = try await gallery.get(address).headers[.eTag]
        var other = gallery.configuration
        other.watermark = Watermark(
            TestImage.photograph(PixelSize(width: 6, height: 4), .rgba8, seed: 4))
        let server = ImageServer(
            configuration: other, pipeline: gallery.pipeline, logger: .init(label: "test"))
        let second = try await gallery.get(address, from: server)
        #expect(second.status == 200)
        #expect(first != second.headers[.eTag])
    }

    @Test("without a watermark get an error that names the option of the server")
    func noWatermark() async throws {
        let gallery = try TestGallery { $0.imgproxy = ImgproxyKeys() }
        try gallery.image("1.png")
        for address in ["/_/wm:1/plain/1.png", "/40x30,watermark/1.png"] {
            let answer = try await gallery.get(address)
            #expect(answer.status == 400)
            #expect(answer.text.contains("--watermark"))
        }
    }

    @Test(
        "are limited in size",
        arguments: [
            "/_/pd:8192/plain/house/1.png", "/house/40x30,pad8000/1.png",
            "/_/rs:fit:8192:8192:0:1/plain/house/1.png", "/house/8192x8192,extend-blur/1.png",
            "/_/pd:5000:0:0:0/dpr:8/plain/house/1.png",
        ])
    func limits(_ address: String) async throws {
        let answer = try await gallery().get(address)
        #expect(answer.status == 400)
        #expect(answer.text.contains("pixels"))
    }

    @Test(
        "are rejected by name if they are invalid",
        arguments: [
            "c:-1:2", "c:a", "c:1:2:xx", "g:fp:2:0", "g:fp:0.5", "g:sm:1:1", "g:obj:face",
            "ex:1:sm", "pd:", "pd:-1", "pd:1.5", "pd:1:2:3:4:5", "t:", "t:256", "t:1:zz", "wm:2",
            "wm:1:fp", "wm:1:ch", "wm:1:ce:0:0:2", "wm:nan", "g:no:1e9",
        ])
    func rejected(_ option: String) async throws {
        let answer = try await gallery().get("/_/\(option)/plain/house/1.png")
        #expect(answer.status == 400)
        #expect(answer.text.contains(option), "\(answer.text)")
    }

    @Test(
        "of the server's own URLs are rejected by name if they are invalid",
        arguments: [
            "pad", "pad1.5", "pad1x2x3x4x5", "pad9000", "crop0x10", "crop10", "focus2x0",
            "focus0.5", "trim", "trim300", "watermark2", "watermark-middle", "backgroundff",
            "backgroundFF0000", "extend-", "sharpen11", "pixelate1", "brightness0", "contrast",
            "smart,left", "focus0.1x0.1,smart",
        ])
    func rejectedSegment(_ option: String) async throws {
        let answer = try await gallery().get("/house/40x30,\(option)/1.png")
        #expect(answer.status == 400, "\(option): \(answer.status)")
    }
}
