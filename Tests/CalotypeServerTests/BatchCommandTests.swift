// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Needs the PNG and JPEG codecs, which a build without these traits lacks.
@Suite(
    "The command batch", .timeLimit(.minutes(5)),
    .enabled(if: ["png", "jpeg"].allSatisfy { builtInCodecs.codec(named: $0) != nil }))
struct BatchCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for (index, name) in ["in/a.png", "in/sub/a.png", "in/b.jpg"].enumerated() {
            let image = TestImage.photograph(
                PixelSize(width: 200, height: 100), seed: UInt64(index))
            try write(image, name)
        }
        try Data("no image".utf8).write(to: URL(filePath: folder.path("in/broken.png")))
    }

    private func write(_ image: PixelBuffer, _ name: String) throws {
        let path = folder.path(name)
        try FileManager.default.createDirectory(
            at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        let format = try #require(name.split(separator: ".").last)
        try ImageDestination(format: String(format), codecs: builtInCodecs)
            .write(image, to: path)
    }

    private func batch(_ arguments: [String]) async throws -> BuiltCommand.Answer {
        try await BuiltCommand.run(["batch", "--quiet", "-o", folder.path("out")] + arguments)
    }

    private func size(_ path: String) throws -> PixelSize {
        try ImageSource(
            EncodedBytes(mapping: folder.path(path)), codecs: builtInCodecs
        ).pixelSize
    }

    private func records(_ path: String) throws -> [[String: Any]] {
        try String(contentsOfFile: folder.path(path), encoding: .utf8).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test("makes all outputs, and reports each source once") func folders() async throws {
        let answer = try await batch([
            folder.path("in"), "--outputs", "small=50", "wide=120x20,fill,png", "--report",
            folder.path("report.jsonl"), "--json",
        ])
        #expect(answer.code == 1, "one source is broken")
        #expect(answer.errors.contains("broken.png: unknown image format"))
        for key in ["a", "b", "sub/a"] {
            #expect(try size("out/small/\(key).jpg") == PixelSize(width: 50, height: 25))
            #expect(try size("out/wide/\(key).png") == PixelSize(width: 120, height: 20))
        }
        let records = try records("report.jsonl")
        #expect(
            Set(records.compactMap { $0["key"] as? String }) == ["a", "b", "sub/a", "broken"])
        #expect(records.count == 4)
        #expect(records.count { $0["error"] is String } == 1)
        #expect(records.allSatisfy { $0["outputs"] is [Any] })
        let summary =
            try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Int]
        #expect(summary?["made"] == 3 && summary?["failed"] == 1 && summary?["files"] == 6)
    }

    @Test("makes the largest as thumbnail does, and the others alike") func likeThumbnail()
        async throws
    {
        _ = try await batch([folder.path("in/b.jpg"), "--outputs", "y=31", "x=100,q55"])
        func file(_ output: String) throws -> Data {
            try Data(contentsOf: URL(filePath: folder.path("out/\(output)/b.jpg")))
        }
        func image(_ file: Data) throws -> PixelBuffer {
            try ImageSource(EncodedBytes(Array(file)), codecs: builtInCodecs).image()
        }
        func thumbnail(_ arguments: [String]) async throws -> Data {
            let path = folder.path("single.jpg")
            let answer = try await BuiltCommand.run(
                ["thumbnail", folder.path("in/b.jpg"), "--quiet", "-o", path] + arguments)
            #expect(answer.code == 0)
            return try Data(contentsOf: URL(filePath: path))
        }
        #expect(try await thumbnail(["--size", "100", "--quality", "55"]) == file("x"))
        let small = try await image(thumbnail(["--size", "31"]))
        #expect(try image(file("y")).structuralSimilarity(to: small) > 0.95)
    }

    @Test("makes the same files whichever exist already") func deterministic() async throws {
        let arguments = [folder.path("in/b.jpg"), "--outputs", "y=31", "x=100", "z=70,webp"]
        _ = try await batch(arguments)
        let path = URL(filePath: folder.path("out/y/b.jpg"))
        let file = try Data(contentsOf: path)
        try FileManager.default.removeItem(at: path)
        _ = try await batch(arguments + ["--resume"])
        #expect(try Data(contentsOf: path) == file)
    }

    @Test("with --resume makes only what is missing or outdated") func resume() async throws {
        let arguments = [folder.path("in"), "--outputs", "small=50", "--resume", "--json"]
        func counts() async throws -> [String: Int] {
            let answer = try await batch(arguments)
            let json = try JSONSerialization.jsonObject(with: Data(answer.output.utf8))
            return try #require(json as? [String: Int])
        }
        #expect(try await counts()["made"] == 3)
        let again = try await counts()
        #expect(again["made"] == 0 && again["unchanged"] == 3 && again["failed"] == 1)
        try FileManager.default.removeItem(atPath: folder.path("out/small/b.jpg"))
        let past = Date(timeIntervalSince1970: 1_000_000_000)
        try FileManager.default.setAttributes(
            [.modificationDate: past], ofItemAtPath: folder.path("out/small/sub/a.jpg"))
        #expect(try await counts()["made"] == 2)
        #expect(try await counts()["made"] == 0)
    }

    @Test("reads paths, JSON and CSV", arguments: ["paths", "json", "csv"])
    func manifests(kind: String) async throws {
        let (one, two) = (folder.path("in/a.png"), folder.path("in/b.jpg"))
        let lines =
            switch kind {
            case "json":
                """
                {"source": "\(one)", "key": "x/1"}
                {"key": "2", "source": "\(two)"}

                {"source": "\(one)", "key": "../2"}
                {"key": "3"}
                """
            case "csv":
                """
                key,other,source\r
                x/1,"a ""quoted"", field",\(one)\r
                2,,"\(two)"\r
                /2/..,,\(two)\r
                3\r
                """
            default:
                """
                \(one)
                \(two)
                ../x.png
                /none/3.png
                """
            }
        let manifest = folder.path("list")
        try Data(lines.utf8).write(to: URL(filePath: manifest))
        let answer = try await batch([
            "--manifest", manifest, "--outputs", "s=20", "--json", "--report",
            folder.path("report"),
        ])
        #expect(answer.code == 1)
        let keys = try records("report").filter { $0["error"] is NSNull }
            .compactMap { $0["key"] as? String }
        let plain = [one, two].map { String($0.dropFirst().dropLast(4)) }
        #expect(keys.sorted() == (kind == "paths" ? plain : ["2", "x/1"]).sorted())
        for key in keys { #expect(try size("out/s/\(key).jpg").width == 20) }
        #expect(try records("report").count == 4)
        #expect(answer.errors.split(separator: "\n").count == 2, "\(answer.errors)")
        #expect(kind == "paths" || answer.errors.contains(", line "))
    }

    @Test("distinguishes names by their bytes") func equalLookingNames() async throws {
        let names = ["\u{E9}", "e\u{301}"]
        for name in names {
            try write(TestImage.photograph(PixelSize(width: 40, height: 30)), "same/\(name).png")
        }
        let answer = try await batch([folder.path("same"), "--outputs", "s=20", "--json"])
        #expect(answer.code == 0, "\(answer.errors)")
        for name in names { #expect(try size("out/s/\(name).jpg").width == 20) }
    }

    @Test("reads a manifest from a pipe") func pipe() async throws {
        let pipe = folder.path("pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        let line = Data("\(folder.path("in/b.jpg"))\n".utf8)
        Thread { try? line.write(to: URL(filePath: pipe)) }.start()
        let answer = try await batch(["--manifest", pipe, "--outputs", "s=20", "--json"])
        #expect(answer.code == 0, "\(answer.errors)")
        #expect(answer.output.contains("\"made\": 1"))
    }

    @Test("refuses a key that an earlier source has") func keys() async throws {
        let manifest = folder.path("list")
        try Data(
            """
            {"source": "\(folder.path("in/a.png"))", "key": "1"}
            {"source": "\(folder.path("in/b.jpg"))", "key": "1"}
            """.utf8
        ).write(to: URL(filePath: manifest))
        let answer = try await batch([
            "--manifest", manifest, "--outputs", "s=20", "--jobs", "1",
        ])
        #expect(answer.code == 1)
        #expect(answer.errors.contains("b.jpg: an earlier source has the key 1"))
    }

    @Test(
        "refuses invalid outputs before anything is written",
        arguments: [
            "400", "=400", "a/b=400", "x=", "x=0", "x=400,unknown", "x=400,q0", "x=400,ssim2",
        ])
    func invalid(output: String) async throws {
        let answer = try await batch([folder.path("in"), "--outputs", output])
        #expect(answer.code == 64)
        #expect(answer.errors.hasPrefix("Error: "), "\(answer.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("out")))
    }

    @Test("names what is missing") func missing() async throws {
        #expect(try await batch(["--outputs", "x=1"]).code == 64)
        #expect(try await batch([folder.path("in"), "--outputs", "x=1", "x=2"]).code == 64)
        let apply = try await batch([
            folder.path("in"), "--gain-map", "apply", "--outputs", "x=1",
        ])
        #expect(apply.code == 64 && apply.errors.contains("option of convert"))
        let answer = try await batch(["--manifest", folder.path("none"), "--outputs", "x=1"])
        #expect(answer.code == 1)
        #expect(answer.errors == "calotype: \(folder.path("none")): No such file or directory\n")
    }
}
