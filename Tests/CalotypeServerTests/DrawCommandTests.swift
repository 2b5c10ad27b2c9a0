// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Needs the PNG codec, which a build without that trait lacks.
@Suite(
    "The built command draws", .timeLimit(.minutes(10)),
    .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct DrawCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let destination = try ImageDestination(format: "png", codecs: builtInCodecs)
        let image = TestImage.flat(PixelSize(width: 40, height: 20), .rgb8, [200, 0, 0])
        try destination.write(image, to: folder.path("photo.png"))
        let template = #"""
            {"size": [100, 80], "background": "#0000ff", "values": {"photo": "photo.png"}, "layers": [
              {"type": "image", "source": "{photo}", "box": [0, 0, 100, 40]},
              {"type": "text", "text": "{title}", "box": [0, 40, 100, 40], "color": "#fff"}]}
            """#
        try Data(template.utf8).write(to: URL(filePath: folder.path("card.json")))
    }

    private func image(_ name: String) throws -> PixelBuffer {
        try ImageSource(EncodedBytes(mapping: folder.path(name)), codecs: builtInCodecs)
            .decodedImage(DecodeOptions()).image.converted(to: .rgb8)
    }

    @Test("a card from a template, with images relative to it")
    func card() async throws {
        let output = folder.path("card.png")
        let answer = try await BuiltCommand.run([
            "draw", folder.path("card.json"), "--set", "title=Title=1", "-o", output,
        ])
        #expect(answer.code == 0, "\(answer.errors)")
        let card = try image("card.png")
        #expect(card.size == PixelSize(width: 100, height: 80))
        #expect((0..<3).map { card.row(20)[150 + $0] } == [200, 0, 0])
        #expect((0..<3).map { card.row(78)[$0] } == [0, 0, 255])
        #expect((0..<100).contains { card.row(60)[$0 * 3] > 128 }, "no white text")
    }

    @Test("a photograph in a JPEG card like in a PNG card")
    func photograph() async throws {
        let photo = TestImage.make(PixelSize(width: 800, height: 320), .rgb8) { x, y, channel in
            UInt8([x * 255 / 800, y * 255 / 320, (x + y) * 255 / 1120][channel])
        }
        try ImageDestination(format: "jpeg", codecs: builtInCodecs).write(
            photo, to: folder.path("photo.jpg"))
        for output in ["jpeg.jpg", "png.png"] {
            let answer = try await BuiltCommand.run([
                "draw", folder.path("card.json"), "--set", "title=", "--set", "photo=photo.jpg",
                "-o", folder.path(output),
            ])
            #expect(answer.code == 0, "\(answer.errors)")
        }
        let comparison = PixelComparison(try image("jpeg.jpg"), try image("png.png"))
        #expect(comparison.meanDifference < 2, "\(comparison)")
    }

    @Test("nothing without the value of a placeholder, and names it")
    func missingValue() async throws {
        let output = folder.path("none.png")
        let answer = try await BuiltCommand.run(["draw", folder.path("card.json"), "-o", output])
        #expect(answer.code == 1)
        #expect(answer.errors.contains("card.json: no value for the placeholder {title}"))
        #expect(!FileManager.default.fileExists(atPath: output))
    }

    @Test("a contact sheet, with the errors of images in their place")
    func sheet() async throws {
        let output = folder.path("sheet.png")
        let answer = try await BuiltCommand.run([
            "sheet", folder.path("photo.png"), folder.path("card.json"), folder.path("photo.png"),
            "--columns", "2", "--cell", "64", "--gap", "8", "--caption", "name,size", "-o", output,
        ])
        #expect(answer.code == 1)
        #expect(answer.errors.contains("card.json"))
        let sheet = try image("sheet.png")
        #expect(sheet.size.width == 8 + 2 * 72)
        // The image is in the middle of its square.
        #expect((0..<3).map { sheet.row(8 + 32)[(8 + 32) * 3 + $0] } == [200, 0, 0])
        #expect((0..<3).map { sheet.row(4)[$0] } == [255, 255, 255])
    }
}
