// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Needs the PNG codec, which a build without that trait lacks.
@Suite(
    "A command in the sandbox", .timeLimit(.minutes(10)),
    .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct SandboxCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("has the same output as without")
    func sameAnswers() async throws {
        let samples = SampleFiles.own("png", "valid").prefix(5).map(\.path)
        let here = try await BuiltCommand.run(["info", "--json", "--no-sandbox"] + samples)
        let there = try await BuiltCommand.run(["info", "--json"] + samples)
        #expect(there.code == 0)
        #expect(there.output == here.output)
        for (option, name) in [("--no-sandbox", "here"), ("--quiet", "there")] {
            let answer = try await BuiltCommand.run(
                ["thumbnail", option, "--size", "20", "--output", folder.path("\(name)/")]
                    + samples)
            #expect(answer.code == 0, "\(answer.errors)")
            let converted = try await BuiltCommand.run(
                ["convert", samples[0], folder.path("\(name)/converted.bmp")]
                    + (name == "here" ? [option] : []))
            #expect(converted.code == 0, "\(converted.errors)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("here"))
        #expect(names.count == samples.count + 1)
        for name in names {
            #expect(
                FileManager.default.contents(atPath: folder.path("here/\(name)"))
                    == FileManager.default.contents(atPath: folder.path("there/\(name)")))
        }
    }

    @Test("reports a broken file and continues")
    func brokenFile() async throws {
        let broken = folder.path("broken.png")
        try Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3])
            .write(to: URL(filePath: broken))
        let good = try #require(SampleFiles.own("png", "valid").first).path
        let here = try await BuiltCommand.run(["info", "--no-sandbox", broken, good])
        let there = try await BuiltCommand.run(["info", broken, good])
        #expect(there.code == 1)
        #expect(there.errors == here.errors)
        #expect(there.output == here.output)
    }

    @Test(
        "reads RAW, which is rejected without a sandbox",
        .enabled(if: builtInCodecs.codec(named: "raw") != nil))
    func raw() async throws {
        let path = folder.path("a.dng")
        let file = DNGFile.make(PixelSize(width: 64, height: 48), isLittleEndian: true)
        try Data(file).write(to: URL(filePath: path))
        let here = try await BuiltCommand.run(["info", "--no-sandbox", path])
        #expect(here.code == 1)
        #expect(here.errors == "calotype: \(path): not supported: raw outside of a sandbox\n")
        let there = try await BuiltCommand.run(["info", path])
        #expect(there.code == 0)
        #expect(there.output.contains("64x48"))
    }
}
