// SPDX-License-Identifier: Apache-2.0

import Effects
import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageCommands

/// Needs the PNG codec, which a build without that trait lacks.
@Suite("Effects of the commands", .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct EffectCommandTests: ~Copyable {
    private let folder: String
    private let mark = TestImage.photograph(PixelSize(width: 6, height: 4), .rgba8, seed: 3)

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try makeFolder(folder)
        let destination = try ImageDestination(format: "png", codecs: builtInCodecs)
        let image = TestImage.photograph(PixelSize(width: 40, height: 20))
        try destination.write(image, to: "\(folder)/a.png")
        try destination.write(mark, to: "\(folder)/mark.png")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func image(_ name: String) throws -> PixelBuffer {
        try ImageSource(EncodedBytes(mapping: "\(folder)/\(name)"), codecs: builtInCodecs).image()
    }

    @Test("are those of the library") func effects() async throws {
        let options = [
            "--brightness", "20", "--saturation", "0.5", "--blur", "1", "--padding", "3",
            "--background", "ff0000", "--watermark", "\(folder)/mark.png",
            "--watermark-position", "top-left", "--watermark-opacity", "0.5",
        ]
        let red = SRGBColor(red: 1, green: 0, blue: 0)
        let effect = Effect.brightness(20.0 / 255).then(.saturation(0.5)).then(.blur(sigma: 1))
            .then(.background(red))
            .then(.pad(Padding(top: 3, right: 3, bottom: 3, left: 3, color: red)))
            .then(
                .overlay(
                    Overlay(mark, identity: "", placement: .origin(x: 0, y: 0), opacity: 0.5)))
        let expected = try #require(effect.applied(to: try image("a.png")))
        for arguments in [
            ["convert", "\(folder)/a.png", "\(folder)/b.png"],
            ["thumbnail", "\(folder)/a.png", "--size", "40", "--output", "\(folder)/b.png"],
        ] {
            let answer = try await BuiltCommand.run(arguments + options)
            #expect(answer.code == 0, "\(answer.errors)")
            let result = try image("b.png")
            #expect(result.size == PixelSize(width: 46, height: 26))
            #expect(PixelComparison(result, expected).maximumDifference <= 1)
            try FileManager.default.removeItem(atPath: "\(folder)/b.png")
        }
    }

    @Test("name a watermark that cannot be read") func missingWatermark() async throws {
        for command in [
            ["convert", "\(folder)/a.png", "\(folder)/b.png"],
            ["thumbnail", "\(folder)/a.png", "--size", "40", "--output", "\(folder)/b.png"],
        ] {
            let answer = try await BuiltCommand.run(command + ["--watermark", "\(folder)/no.png"])
            #expect(answer.code == 1)
            #expect(answer.errors.contains("no.png"))
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/b.png"))
        }
    }

    @Test(
        "are rejected by name if they are out of range",
        arguments: [
            ["--blur", "101"], ["--brightness", "256"], ["--pixelate", "1"], ["--padding", "-1"],
            ["--background", "red"], ["--watermark-scale", "0"],
            ["--watermark-position", "middle"],
        ])
    func rejected(_ options: [String]) async throws {
        let answer = try await BuiltCommand.run(
            ["convert", "a.png", "b.png", "\(options[0])=\(options[1])"])
        #expect(answer.code == 64)
        #expect(answer.errors.contains(options[0]) || answer.errors.contains(options[1]))
    }
}
