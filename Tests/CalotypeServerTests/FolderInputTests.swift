// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Needs the PNG codec, which a build without that trait lacks.
@Suite(
    "The built command, given a folder", .timeLimit(.minutes(10)),
    .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct FolderInputTests {
    private let folder: TemporaryFolder

    /// Two images with the same name in a folder and a subfolder, and files that are no images.
    init() throws {
        folder = try TemporaryFolder()
        let image = TestImage.photograph(PixelSize(width: 40, height: 20))
        let destination = try ImageDestination(format: "png", codecs: builtInCodecs)
        for name in ["in/a.PNG", "in/sub/a.png", "in/.hidden.png"] {
            let path = folder.path(name)
            let parent = URL(filePath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
            try destination.write(image, to: path)
        }
        try Data("text".utf8).write(to: URL(filePath: folder.path("in/notes.txt")))
        try FileManager.default.createDirectory(
            atPath: folder.path("empty"), withIntermediateDirectories: true)
        // A loop that a walk must not enter.
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("in/sub/loop"), withDestinationPath: folder.path("in"))
    }

    private func thumbnail(_ arguments: [String]) async throws -> BuiltCommand.Answer {
        try await BuiltCommand.run(["thumbnail", "--size", "10", "--quiet"] + arguments)
    }

    @Test("names the option for folders if it is missing", arguments: ["thumbnail", "info"])
    func hint(command: String) async throws {
        let path = folder.path("in")
        let options = command == "info" ? [] : ["--size", "10"]
        let answer = try await BuiltCommand.run([command, path] + options)
        #expect(answer.code == 1)
        #expect(
            answer.errors
                == "calotype: \(path): is a folder; use --recursive for the images in it\n")
    }

    @Test("repeats its subfolders in the folder of the output")
    func tree() async throws {
        let output = folder.path("empty")
        let answer = try await thumbnail(["--recursive", folder.path("in"), "--output", output])
        #expect(answer.code == 0, "\(answer.errors)")
        let written = try FileManager.default.subpathsOfDirectory(atPath: output)
        #expect(written.sorted() == ["a.jpg", "sub", "sub/a.jpg"])
    }

    @Test("writes files that were named into an existing folder without a slash")
    func existing() async throws {
        let answer = try await thumbnail(
            [folder.path("in/a.PNG"), "--output", folder.path("empty")])
        #expect(answer.code == 0, "\(answer.errors)")
        #expect(FileManager.default.fileExists(atPath: folder.path("empty/a.jpg")))
    }

    @Test("describes all images in it") func info() async throws {
        let answer = try await BuiltCommand.run(["info", "-r", "--json", folder.path("in")])
        #expect(answer.code == 0)
        let objects = try JSONSerialization.jsonObject(with: Data(answer.output.utf8))
        let names = (objects as? [[String: Any]])?.compactMap { $0["file"] as? String }
        #expect(names == [folder.path("in/a.PNG"), folder.path("in/sub/a.png")])
    }

    @Test("fails if there are no images in it") func noImages() async throws {
        let path = folder.path("empty")
        let answer = try await thumbnail(["--recursive", path])
        #expect(answer.code == 1)
        #expect(answer.errors == "calotype: \(path): no images in the folder\n")
    }
}
