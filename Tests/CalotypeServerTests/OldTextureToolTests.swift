// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageCommands

/// Needs the PNG codec, which a build without that trait lacks.
@Suite("Old texture tools", .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct OldTextureToolTests: ~Copyable {
    private let folder: String
    private let photograph = TestImage.photograph(PixelSize(width: 48, height: 32))

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try makeFolder(folder)
        let destination = try ImageDestination(format: "png", codecs: builtInCodecs)
        try destination.write(photograph, to: "\(folder)/a.png")
        let square = photograph.cut(PixelRect(x: 0, y: 0, width: 32, height: 32))
        try destination.write(square, to: "\(folder)/square.png")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func run(_ command: String) async throws -> BuiltCommand.Answer {
        try await BuiltCommand.run(
            command.split(separator: " ").map {
                $0.contains(".") && !$0.hasPrefix("-") ? "\(folder)/\($0)" : String($0)
            })
    }

    /// What `texture info` prints as JSON, without spaces.
    private func header(_ name: String) async throws -> String {
        try await BuiltCommand.run(["texture", "info", "\(folder)/\(name)", "--json"]).output
            .filter { !$0.isWhitespace }
    }

    private func image(_ name: String) throws -> PixelBuffer {
        try ImageSource(EncodedBytes(mapping: "\(folder)/\(name)"), codecs: builtInCodecs).image()
    }

    /// The formats and their names in `texture info`.
    @Test(
        "PVRTexToolCL writes each format",
        arguments: [
            "PVRTC1_4": "PVRTC4", "PVRTC1_2_RGB,UBN,sRGB": "PVRTC2",
            "PVRTCI_4BPP_RGB,UBN,lRGB": "PVRTC4", "ETC1": "ETC1", "ETC2_RGB": "ETC2",
            "EAC_R11": "EAC", "BC1": "BC1", "DXT5": "BC3",
        ])
    func formats(_ option: String, _ name: String) async throws {
        let answer = try await run(
            "PVRTexToolCL -i a.png -o b.pvr -square + -pot + -q pvrtcfastest -m -f \(option)")
        #expect(answer.code == 0, "\(answer.errors)")
        let information = try await header("b.pvr")
        #expect(information.contains(name), "\(information)")
        #expect(information.contains("\"width\":64,\"height\":64"), "\(information)")
        #expect(information.components(separatedBy: "\"byteCount\"").count == 8)
        // The colour space, which is linear unless stated.
        let file = try Data(contentsOf: URL(filePath: "\(folder)/b.pvr"))
        #expect(file[16] == (option.hasSuffix("sRGB") ? 1 : 0))
    }

    @Test("PVRTexToolCL resizes, cuts, flips and decodes")
    func shapes() async throws {
        let flipped = try await run("PVRTexToolCL -i a.png -d b.png -flip y -rotate z,+ -shh")
        #expect(flipped.code == 0, "\(flipped.errors)")
        let expected = photograph.turned(.mirroredVertically).turned(.rotated90)
        #expect(PixelComparison(try image("b.png"), expected).meanDifference == 0)

        let cut = try await run("PVRTexToolCL -i a.png -d c.png -potcanvas - -squarecanvas -")
        #expect(cut.code == 0, "\(cut.errors)")
        let corner = photograph.cut(PixelRect(x: 0, y: 0, width: 32, height: 32))
        #expect(PixelComparison(try image("c.png"), corner).meanDifference == 0)

        let both = try await run(
            "PVRTexToolCL -i a.png -o d.pvr -d d.png -f BC7 -r 24,16 -q etcfast -m 2")
        #expect(both.code == 0, "\(both.errors)")
        let small = photograph.resized(
            SampleRegion(photograph.size), to: PixelSize(width: 24, height: 16))
        #expect(PixelComparison(try image("d.png"), small).meanDifference < 3)
        #expect(try await header("d.pvr").contains("\"width\":12,\"height\":8"))
    }

    @Test("PVRTexToolCL names its output after the input, and answers to a link")
    func link() async throws {
        let program = try #require(builtProgram("calotype"))
        let link = "\(folder)/PVRTexToolCL"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: program.path)
        let answer = try await BuiltCommand.run(
            ["-legacypvr", "-f", "PVRTC1_4", "-i", "\(folder)/square.png"], program: link)
        #expect(answer.code == 0, "\(answer.errors)")
        let information = try await header("square.pvr")
        #expect(information.contains("\"PVR2\"") && information.contains("PVRTC4"))
    }

    @Test(
        "names options that are not supported",
        arguments: [
            "PVRTexToolCL -i a.png -f PVRTC1_4 -cube": "-cube is not supported",
            "PVRTexToolCL -i a.png -f PVRTC1_4 -dither": "-dither is not supported",
            "PVRTexToolCL -i a.png -f PVRTC2_4": "-f PVRTC2_4 is not supported",
            "PVRTexToolCL -i a.png -f ETC1,SBN": "-f ETC1,SBN is not supported",
            "PVRTexToolCL -i a.png -f ETC1 -o b.dds": "b.dds is not supported",
            "PVRTexToolCL -i a.png -f ETC1 -legacypvr": "-legacypvr is supported for PVRTC",
            "PVRTexToolCL -i a.png -f ETC1 -flip y,flag": "-flip y,flag is not supported",
            "PVRTexToolCL -i a.png": "-f is required",
            "PVRTexToolCL -f ETC1": "-i is required",
            "texturetool -e ASTC -o b.pvr a.png": "-e ASTC is not supported",
            "texturetool --punchthrough-forced a.png": "--punchthrough-forced is not supported",
            "texturetool -o b.pvr a.png": "-e PVRTC is required",
        ])
    func refused(_ command: String, _ message: String) async throws {
        let answer = try await run(command)
        #expect(answer.code == 64)
        #expect(answer.errors.contains(message), "\(answer.errors)")
        #expect(answer.errors.hasPrefix(String(command.prefix { $0 != " " }) + ": "))
    }

    @Test("texturetool writes PVR and raw files with a preview")
    func textureTool() async throws {
        let answer = try await run(
            "texturetool -s -m -e PVRTC --channel-weighting-perceptual --bits-per-pixel-4 "
                + "-f PVR -p preview.png -o b.pvr square.png")
        #expect(answer.code == 0, "\(answer.errors)")
        #expect(answer.output.contains("PSNR"))
        let information = try await header("b.pvr")
        #expect(information.contains("\"PVR2\"") && information.contains("PVRTC4"))
        #expect(try image("preview.png").size == PixelSize(width: 32, height: 32))
        #expect(PixelComparison(try image("preview.png"), try image("b.pvr")).meanDifference == 0)

        let raw = try await run("texturetool -e PVRTC --bits-per-pixel-2 -o b.raw square.png")
        #expect(raw.code == 0, "\(raw.errors)")
        #expect(try Data(contentsOf: URL(filePath: "\(folder)/b.raw")).count == 32 * 32 / 4)

        let compared = try await run("texturetool -c square.png preview.png")
        #expect(compared.code == 0 && compared.output.contains("SSIM"))
        let other = try await run("texturetool -e PVRTC -o c.pvr a.png")
        #expect(other.code == 1 && other.errors.contains("48x32 is not a square"))
    }
}
