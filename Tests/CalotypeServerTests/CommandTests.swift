// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageCommands

/// Needs the PNG codec, which a build without that trait lacks.
@Suite(
    "The built command", .timeLimit(.minutes(10)),
    .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct CommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func imagePath(_ name: String) throws -> String {
        let image = TestImage.photograph(PixelSize(width: 400, height: 300))
        let path = folder.path(name)
        try ImageDestination(format: "png", codecs: builtInCodecs).write(image, to: path)
        return path
    }

    private func text(_ name: String, _ text: String = "hello") throws -> String {
        try Data(text.utf8).write(to: URL(filePath: folder.path(name)))
        return folder.path(name)
    }

    private func object(_ answer: BuiltCommand.Answer) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any])
    }

    private func scroll(_ arguments: [String]) async throws -> BuiltCommand.Answer {
        try await BuiltCommand.run(
            [
                "bench", "scroll", folder.path, "--layout", "grid", "--store", "cold",
                "--trace", "drag", "--seconds", "0.1", "--count", "6", "--json",
            ] + arguments)
    }

    @Test("reports that calotype-server is missing, and runs other subcommands without it")
    func isAlone() async throws {
        let program = try #require(builtProgram("calotype"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("linked"), withDestinationPath: program.path)
        let linked = try await BuiltCommand.run(["--version"], program: folder.path("linked"))
        #expect(linked.code == 0)
        #expect(linked.output == "calotype \(calotypeVersion)\n")

        try FileManager.default.copyItem(atPath: program.path, toPath: folder.path("alone"))
        let alone = try await BuiltCommand.run(
            ["serve", folder.path], program: folder.path("alone"))
        #expect(alone.code == 1)
        let missing = folder.path("calotype-server")
        #expect(alone.errors == "calotype: \(missing): No such file or directory\n")
        for arguments in [[], ["--help"], ["help"], ["help", "convert"]] {
            let help = try await BuiltCommand.run(arguments, program: folder.path("alone"))
            #expect(help.code == 0 && help.errors.isEmpty)
            #expect(help.output.contains("USAGE: calotype"))
            #expect(help.output.contains("convert") && !help.output.contains("serve"))
        }
        let info = try await BuiltCommand.run(
            ["info", "--no-sandbox", try imagePath("a.png")], program: folder.path("alone"))
        #expect(info.code == 0)
        let sandboxed = try await BuiltCommand.run(
            ["info", folder.path("a.png")], program: folder.path("alone"))
        #expect(sandboxed.code == 1)
        #expect(
            sandboxed.errors
                == "calotype: no sandbox to decode in: \(folder.path("calotype-decoder")): "
                + "No such file or directory; --no-sandbox decodes without workers\n")
    }

    @Test("prints the steps of the pipeline with thumbnail --explain") func explains() async throws
    {
        let path = try imagePath("a.png")
        let answer = try await BuiltCommand.run(["thumbnail", path, "--size", "100", "--explain"])
        #expect(answer.code == 0)
        let lines = answer.output.split(separator: "\n")
        #expect(lines.first ?? "" == path)
        #expect(lines.contains { $0.hasPrefix("  decode") && $0.contains("100x75 of 400x300") })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.png"])
    }

    @Test("fails to benchmark scrolling if no image can be decoded, and reports why")
    func onlyBroken() async throws {
        let path = try text("a.png")
        let answer = try await scroll([])
        let reason = "unknown image format"
        #expect(answer.code == 1)
        #expect(answer.errors == "calotype: \(path): \(reason)\n")
        #expect(try object(answer) as? [String: String] == ["file": path, "error": reason])
    }

    @Test(
        "reports images that cannot be decoded while scrolling, with any design",
        arguments: ["synchronous", "tagged", "tiled", "calotype"])
    func someBroken(design: String) async throws {
        _ = try imagePath("a.png")
        let path = try text("b.png")
        let answer = try await scroll(["--design", design])
        #expect(answer.code == 1)
        #expect(answer.errors.hasPrefix("calotype: \(path): \(CodecError.unknownFormat)"))
        #expect(answer.errors.contains("calotype: 1 of 2 images failed"))
        let object = try object(answer)
        #expect((object["failed"] as? [[String: String]])?.map(\.["file"]) == [path])
        #expect((object["results"] as? [Any])?.count == 1)
    }

    @Test("keeps a profile that the format can store, and warns about one that it cannot")
    func keptProfile() async throws {
        let image = TestImage.photograph(PixelSize(width: 40, height: 30))
        var linear = MutablePixelBuffer(image)
        linear.colorProfile = .calibrated(gamma: 1, .sRGB)
        let path = folder.path("linear.png")
        try ImageDestination(format: "png", codecs: builtInCodecs).write(linear.finish(), to: path)
        let source = try ImageSource(try EncodedBytes(mapping: path), codecs: builtInCodecs)
        for (name, isStored) in [
            ("a.qoi", true), ("a.bmp", true), ("a.gif", false), ("a.ico", false),
        ] {
            let output = folder.path(name)
            let answer = try await BuiltCommand.run(["convert", path, output, "--keep-profile"])
            #expect(answer.code == 0)
            let warning = "cannot store the colour profile; colours are converted to sRGB\n"
            #expect(
                isStored
                    ? answer.errors.isEmpty
                    : answer.errors.hasPrefix("calotype: \(path): warning: ")
                        && answer.errors.hasSuffix(warning))
            let result = try ImageSource(try EncodedBytes(mapping: output), codecs: builtInCodecs)
            #expect(result.header.colorProfile.isSRGB == !isStored)
            guard name == "a.ico" else { continue }
            let comparison = PixelComparison(
                try result.image().converted(to: .rgb8), try source.image())
            #expect(comparison.maximumDifference == 0, "\(comparison)")
        }
    }

    @Test("converts to a target SSIM, and to raw pixels")
    func converting() async throws {
        let path = try imagePath("a.png")
        func byteCount(_ output: String, _ arguments: [String]) async throws -> Int {
            let output = folder.path(output)
            let answer = try await BuiltCommand.run(["convert", path, output] + arguments)
            #expect(answer.code == 0, "\(answer.errors)")
            return try Data(contentsOf: URL(filePath: output)).count
        }
        let lowest = try await byteCount("a.jpg", ["--quality", "32"])
        #expect(try await byteCount("b.jpg", ["--target-ssim", "0.5"]) == lowest)
        #expect(try await byteCount("c.jpg", ["--target-ssim", "0.999"]) > lowest)
        #expect(try await byteCount("d.rgb565", ["--size", "20x30", "--mode", "fill"]) == 1_200)
        for wrong in ["1", "0.4", "x"] {
            let answer = try await BuiltCommand.run(
                ["convert", path, folder.path("e.jpg"), "--target-ssim", wrong])
            #expect(answer.code == 64)
        }
    }

    @Test("reports one error per file in JSON, too")
    func json() async throws {
        let good = try imagePath("a.png")
        let bad = try text("b.png")
        let missing = folder.path("missing.png")
        let unknown = "unknown image format"
        for arguments in [
            ["info"], ["thumbnail", "--size", "50"], ["thumbnail", "--size", "50", "--explain"],
        ] {
            let answer = try await BuiltCommand.run(arguments + ["--json", good, bad, missing])
            #expect(answer.code == 1)
            let objects = try #require(
                try JSONSerialization.jsonObject(with: Data(answer.output.utf8))
                    as? [[String: Any]])
            #expect(
                objects.map { $0["error"] as? String } == [
                    nil, unknown, "No such file or directory",
                ])
            #expect(answer.errors.contains("calotype: \(bad): \(unknown)\n"))
            #expect(answer.errors.contains("calotype: \(missing): No such file or directory\n"))
        }
    }

    @Test("rejects an input that is listed twice, and writes no file")
    func twice() async throws {
        let path = try imagePath("a.png")
        let other = "\(folder.path)/./a.png"
        let answer = try await BuiltCommand.run(["thumbnail", "--size", "50", path, other])
        #expect(answer.code == 64)
        #expect(answer.errors == "calotype: duplicate input: \(other)\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.png"])
    }

    @Test("reports why a folder, a trace or a chart cannot be used")
    func reasons() async throws {
        let image = try imagePath("a.png")
        let missing = folder.path("missing")
        let scroll = ["bench", "scroll"]
        for (arguments, errors) in [
            (scroll + [missing], "\(missing): No such file or directory"),
            (scroll + [image], "\(image): not a folder"),
            (["serve", missing], "\(missing): No such file or directory"),
            (["serve", image], "\(image): not a folder"),
            (
                ["serve", folder.path, "--cache-directory", image],
                "the rendition store cannot be used: \(image): Not a directory"
            ),
            (
                // An address reserved for documentation (RFC 5737), which no machine has.
                [
                    "serve", folder.path, "--cache-directory", folder.path("cache"), "--host",
                    "192.0.2.1",
                ],
                "cannot listen on port 8080 of 192.0.2.1: Cannot assign requested address"
            ),
            (
                scroll + [folder.path, "--trace", "nix"],
                "nix: No such file or directory; use a file or one of drag, fling-slow, fling, "
                    + "fling-fast, reversal, jump, jitter"
            ),
        ] {
            let answer = try await BuiltCommand.run(arguments)
            #expect(answer.code == 1)
            #expect(answer.errors == "calotype: \(errors)\n")
        }
        let chart = "\(missing)/chart.svg"
        let answer = try await self.scroll(["--design", "tagged", "--chart", chart])
        #expect(answer.code == 1)
        #expect(answer.errors == "calotype: \(chart): No such file or directory\n")
        // The results are printed nevertheless.
        #expect(try (object(answer)["results"] as? [Any])?.count == 1)
    }
}
