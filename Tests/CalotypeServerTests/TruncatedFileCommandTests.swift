// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Needs the JPEG codec, which a build without that trait lacks.
@Suite(
    "The built command, given a truncated file", .timeLimit(.minutes(10)),
    .enabled(if: builtInCodecs.codec(named: "jpeg") != nil))
struct TruncatedFileCommandTests {
    private let folder: TemporaryFolder
    private let path: String
    private let reason: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("cut.jpg")
        let image = TestImage.photograph(PixelSize(width: 400, height: 300))
        let whole = try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(image)
        let cut = whole.prefix(whole.count / 2)
        try Data(cut).write(to: URL(filePath: path))
        reason = "truncated after \(cut.count) bytes"
    }

    private func objects(_ answer: BuiltCommand.Answer) throws -> [[String: Any]] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [[String: Any]])
    }

    @Test(
        "makes a thumbnail with a warning, on standard error and in JSON",
        arguments: [[], ["--no-sandbox"]])
    func thumbnail(sandbox: [String]) async throws {
        let answer = try await BuiltCommand.run(
            ["thumbnail", path, "--size", "100", "--json"] + sandbox)
        #expect(answer.code == 0)
        #expect(answer.errors == "calotype: \(path): warning: \(reason)\n")
        let object = try #require(try objects(answer).first)
        #expect(object["warnings"] as? [String] == [reason])
        #expect(object["width"] as? Int == 100)
        #expect(FileManager.default.fileExists(atPath: folder.path("cut-100.jpg")))
    }

    @Test("converts it with a warning") func convert() async throws {
        let answer = try await BuiltCommand.run(["convert", path, folder.path("out.png")])
        #expect(answer.code == 0)
        #expect(answer.errors == "calotype: \(path): warning: \(reason)\n")
        #expect(FileManager.default.fileExists(atPath: folder.path("out.png")))
    }

    @Test("reports the warning of a test decode") func explain() async throws {
        let answer = try await BuiltCommand.run(["info", "--explain", "--json", path])
        #expect(answer.code == 0)
        let decoding = try #require(try objects(answer).first?["decoding"] as? [String: Any])
        #expect(decoding["warnings"] as? [String] == [reason])
        let steps = try await BuiltCommand.run(["thumbnail", "--explain", path, "--size", "100"])
        #expect(steps.errors == "calotype: \(path): warning: \(reason)\n")
    }

    @Test("refuses it with --strict", arguments: ["thumbnail", "convert"])
    func strict(command: String) async throws {
        let output = folder.path("out.png")
        let arguments =
            command == "convert" ? [path, output] : [path, "--size", "100", "--output", output]
        let answer = try await BuiltCommand.run([command, "--strict"] + arguments)
        #expect(answer.code == 1)
        #expect(answer.errors == "calotype: \(path): \(reason)\n")
        #expect(!FileManager.default.fileExists(atPath: output))
    }
}
