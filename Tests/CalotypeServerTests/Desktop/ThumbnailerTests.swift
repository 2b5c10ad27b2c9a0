// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import Glibc
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageCommands

/// Needs the PNG codec, which a build without that trait lacks.
@Suite(
    "The built thumbnailer", .timeLimit(.minutes(10)),
    .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct ThumbnailerTests {
    private let folder: TemporaryFolder
    private let program: String

    init() throws {
        folder = try TemporaryFolder()
        program = try #require(builtProgram("calotype-thumbnailer")).path
    }

    private func run(_ arguments: [String]) async throws -> BuiltCommand.Answer {
        try await BuiltCommand.run(arguments, program: program)
    }

    /// Writes an image of 600x300 pixels.
    private func imagePath(_ name: String) throws -> String {
        let image = TestImage.photograph(PixelSize(width: 600, height: 300))
        try ImageDestination(format: "png", codecs: builtInCodecs)
            .write(image, to: folder.path(name))
        return folder.path(name)
    }

    private func source(_ path: String) throws -> ImageSource {
        try ImageSource(EncodedBytes(mapping: path), codecs: builtInCodecs)
    }

    @Test("writes an image that fits into the size", arguments: [128, 256, 512, 1024])
    func sizes(side: Int) async throws {
        let input = try imagePath("a.png")
        let answer = try await run(["-s", "\(side)", input, folder.path("out.png")])
        #expect(answer.code == 0, "\(answer.errors)")
        let width = min(side, 600)
        #expect(
            try source(folder.path("out.png")).pixelSize
                == PixelSize(width: width, height: width / 2))
    }

    @Test(
        "writes text chunks that Pillow reads, with the URI that Python computes",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func texts() async throws {
        let input = try imagePath("a é #%+;~.png")
        var times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 1_234_567_890, tv_nsec: 9)]
        #expect(unsafe utimensat(AT_FDCWD, input, &times, 0) == 0)
        let answer = try await run(["-s", "128", input, folder.path("out.png")])
        #expect(answer.code == 0, "\(answer.errors)")
        let texts = try DesktopPeer.texts(folder.path("out.png"))
        let byteCount = try source(input).byteCount
        let uri = try DesktopPeer.name(Array(input.utf8)).uri
        #expect(
            texts == [
                "width": "128", "height": "64", "Thumb::URI": uri, "Thumb::MTime": "1234567890",
                "Thumb::Size": "\(byteCount)", "Thumb::Mimetype": "image/png",
                "Thumb::Image::Width": "600", "Thumb::Image::Height": "300",
                "Software": "Calotype",
            ])
    }

    @Test("reads a file by its URI, whose name is invalid UTF-8") func invalidName() async throws {
        let name = Array(folder.path("a").utf8) + [0xFF, 0x20, 0xC3]
        let path = name.map(CChar.init(bitPattern:)) + [0]
        #expect(try unsafe rename(imagePath("b.png"), path) == 0)
        let uri = "file://localhost\(folder.path("a"))%FF%20%c3"
        let answer = try await run([uri, folder.path("out.png")])
        #expect(answer.code == 0, "\(answer.errors)")
        let text = try EncodedBytes(mapping: folder.path("out.png"))
            .withBytes { ThumbnailText(png: $0) }
        #expect(text.values["Thumb::URI"] == "file://\(folder.path("a"))%FF%20%C3")
    }

    @Test("writes into an existing file, which a file manager may have open")
    func existing() async throws {
        let output = folder.path("out.png")
        try Data(count: 100_000).write(to: URL(filePath: output))
        let file = try FileHandle(forReadingFrom: URL(filePath: output))
        let answer = try await run(["-s", "128", try imagePath("a.png"), output])
        #expect(answer.code == 0, "\(answer.errors)")
        let bytes = try #require(try file.readToEnd())
        let image = try ImageSource(EncodedBytes(Array(bytes)), codecs: builtInCodecs).image()
        #expect(image.size == PixelSize(width: 128, height: 64))
        #expect(bytes.count < 100_000)
    }

    @Test("reports a file that it cannot read and writes nothing")
    func unreadable() async throws {
        let input = folder.path("a.jpg")
        try Data("text".utf8).write(to: URL(filePath: input))
        let answer = try await run([input, folder.path("out.png")])
        #expect(answer.code == 1)
        #expect(answer.errors == "calotype-thumbnailer: \(input): unknown image format\n")
        #expect(!FileManager.default.fileExists(atPath: folder.path("out.png")))
    }

    @Test("rejects a URI of another scheme or host", arguments: ["http://a/b", "file://b/c"])
    func remote(uri: String) async throws {
        let answer = try await run([uri, folder.path("out.png")])
        #expect(answer.code == 1)
        #expect(
            answer.errors
                == "calotype-thumbnailer: \(uri): not a local file; use a path or a file: URI\n")
    }

    @Test(
        "rejects invalid arguments",
        arguments: [["a"], ["-s", "0", "a", "b"], ["-s", "x", "a", "b"], ["-x", "a", "b"], []])
    func invalid(arguments: [String]) async throws {
        let answer = try await run(arguments)
        #expect(answer.code == 64)
        #expect(answer.errors.hasPrefix("usage: calotype-thumbnailer"))
    }

    @Test(
        "and the viewer are registered for the media type of each format that is read from files",
        arguments: ["calotype.thumbnailer", "calotype-viewer.desktop"])
    func mediaTypes(entry: String) throws {
        let path = SampleFiles.packageDirectory.appending(path: "Packaging/desktop/\(entry)")
        let text = try String(contentsOf: path, encoding: .utf8)
        let line = try #require(text.split(separator: "\n").last { $0.hasPrefix("MimeType=") })
        let types = Set(line.dropFirst("MimeType=".count).split(separator: ";").map(String.init))
        // Desktops have programs of their own for vectors, whose traits are off by default.
        let formats = builtInCodecs.codecs.map(\.format)
            .filter { !$0.extensions.isEmpty && !["svg", "pdf"].contains($0.name) }
        for format in formats {
            #expect(types.contains(format.mediaType), "\(format.name)")
        }
        let archives = ["application/zip", "application/vnd.comicbook+zip", "application/x-cbz"]
        #expect(types.isSuperset(of: archives) == (entry == "calotype-viewer.desktop"))
    }
}

/// What Pillow and Python say about thumbnails, by `Tests/Peers/thumbnail.py`.
enum DesktopPeer {
    /// Returns the size and the text chunks of a PNG file.
    static func texts(_ path: String) throws -> [String: String] {
        let lines = try lines(["texts", path])
        return Dictionary(
            lines.compactMap { line in
                line.firstIndex(of: "=").map {
                    (String(line[..<$0]), String(line[line.index(after: $0)...]))
                }
            }, uniquingKeysWith: { $1 })
    }

    /// Returns the URI of a path and the name of its thumbnails.
    static func name(_ path: [UInt8]) throws -> (uri: String, name: String) {
        let digits = path.map { String(format: "%02x", $0) }.joined()
        let lines = try lines(["name", digits])
        try #require(lines.count == 2)
        return (lines[0], lines[1])
    }

    private static func lines(_ arguments: [String]) throws -> [String] {
        let python = try #require(PeerTool.python)
        let script = SampleFiles.packageDirectory.appending(path: "Tests/Peers/thumbnail.py").path
        let output = try #require(try PeerTool.run(python, [script] + arguments))
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
