// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageCommands

/// Needs the PNG codec, which a build without that trait lacks.
@Suite("The texture command", .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct TextureCommandTests: ~Copyable {
    private let folder: String
    private let photograph = TestImage.photograph(PixelSize(width: 37, height: 22))

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try makeFolder(folder)
        let destination = try ImageDestination(format: "png", codecs: builtInCodecs)
        try destination.write(photograph, to: "\(folder)/a.png")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func run(_ arguments: String...) async throws -> BuiltCommand.Answer {
        try await BuiltCommand.run(
            ["texture"] + arguments.map { $0.contains(".") ? "\(folder)/\($0)" : $0 })
    }

    @Test("encodes each format in each container", arguments: ["bc1", "bc3"], ["pvr", "ktx2"])
    func blocks(_ format: String, _ container: String) async throws {
        let answer = try await run(
            "encode", "a.png", "b.\(container)", "--format", format, "--mipmaps")
        #expect(answer.code == 0, "\(answer.errors)")
        let decoded = try await run("decode", "b.\(container)", "b.png")
        #expect(decoded.code == 0, "\(decoded.errors)")
        let image = try ImageSource(
            EncodedBytes(mapping: "\(folder)/b.png"), codecs: builtInCodecs
        ).image()
        #expect(image.size == photograph.size)
        #expect(PixelComparison(image, photograph).meanDifference < 4)
        let smallest = try await run("decode", "b.\(container)", "c.png", "--level", "5")
        #expect(smallest.code == 0, "\(smallest.errors)")
        let missing = try await run("decode", "b.\(container)", "d.png", "--level", "6")
        #expect(missing.code == 1)
        #expect(missing.errors.contains("no level 6: the last one is 5"))
    }

    @Test("compares a texture with its image") func comparison() async throws {
        #expect(try await run("encode", "a.png", "b.pvr", "--format", "bc1").code == 0)
        let answer = try await run("compare", "a.png", "b.pvr", "--json")
        #expect(answer.code == 0, "\(answer.errors)")
        struct Figures: Decodable { let psnr: Double, ssim: Double }
        let figures = try JSONDecoder().decode(Figures.self, from: Data(answer.output.utf8))
        #expect(figures.psnr > 30 && figures.ssim > 0.9 && figures.ssim < 1)
    }

    @Test("refuses what a format does not have")
    func refused() async throws {
        let square = try await run("encode", "a.png", "b.pvr")
        #expect(square.code == 1)
        #expect(square.errors.contains("37x22") && square.errors.contains("--fit stretch"))
        for arguments in [
            ["--format", "bc1", "--legacy-pvr"], ["--format", "bc4", "--bits-per-pixel", "2"],
        ] {
            let answer = try await BuiltCommand.run(
                ["texture", "encode", "\(folder)/a.png", "\(folder)/b.pvr"] + arguments)
            #expect(answer.code == 64)
            #expect(answer.errors.contains("is for PVRTC"))
        }
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/b.pvr"))
    }
}
