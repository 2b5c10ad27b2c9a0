// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Needs the PNG and JPEG codecs, which a build without these traits lacks.
@Suite(
    "The command worker", .timeLimit(.minutes(5)),
    .enabled(if: ["png", "jpeg"].allSatisfy { builtInCodecs.codec(named: $0) != nil }))
struct WorkerCommandTests {
    /// A response and the bytes that follow its line.
    private struct Response {
        let line: [String: Any]
        let bytes: Data

        var id: String? { line["id"] as? String }
        var status: String? { line["status"] as? String }
        var kind: String? { (line["error"] as? [String: Any])?["kind"] as? String }
        var outputs: [[String: Any]] { line["outputs"] as? [[String: Any]] ?? [] }
    }

    private let folder: TemporaryFolder
    private let photograph: Data

    init() throws {
        folder = try TemporaryFolder()
        let image = TestImage.photograph(PixelSize(width: 400, height: 300))
        try ImageDestination(format: "jpeg", codecs: builtInCodecs)
            .write(image, to: folder.path("a.jpg"))
        photograph = try Data(contentsOf: URL(filePath: folder.path("a.jpg")))
    }

    private func request(
        _ id: String, _ members: [String: Any] = [:], options: String = "40",
        to path: String? = nil,
        bytes: Data? = nil
    ) throws -> Data {
        var output = ["name": "s", "options": options]
        output["path"] = path
        var object: [String: Any] = ["id": id, "outputs": [output]]
        if let bytes {
            object["byteCount"] = bytes.count
        } else {
            object["source"] = folder.path("a.jpg")
        }
        return try JSONSerialization.data(withJSONObject: object.merging(members) { $1 })
            + Data("\n".utf8) + (bytes ?? Data())
    }

    /// Runs the worker with requests; returns its responses by their ids.
    private func work(
        _ requests: [Data], _ arguments: [String] = [], code: Int32 = 0
    ) async throws -> [String?: Response] {
        let (answer, output) = try await BuiltCommand.outputBytes(
            ["worker"] + arguments, input: requests.reduce(Data(), +))
        #expect(answer.code == code, "\(answer.errors)")
        var rest = output[...]
        var responses: [Response] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = try JSONSerialization.jsonObject(with: Data(rest[..<end]))
            let members = try #require(line as? [String: Any])
            let count = members["byteCount"] as? Int ?? 0
            rest = rest[(end + 1)...]
            responses.append(Response(line: members, bytes: Data(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        #expect(rest.isEmpty)
        let hello = try #require(responses.first?.line)
        #expect(hello["worker"] as? String == "calotype" && hello["protocol"] as? Int == 1)
        #expect((hello["formats"] as? [String])?.contains("jpeg") == true)
        return Dictionary(responses.dropFirst().map { ($0.id, $0) }) { first, _ in
            Issue.record("two responses to \(first.id ?? "no request")")
            return first
        }
    }

    @Test("makes the files of batch, with one decode") func likeBatch() async throws {
        let outputs = ["s=40,q70", "m=200,png", "c=30x30,fill"]
        let batch = try await BuiltCommand.run(
            ["batch", "--quiet", folder.path("a.jpg"), "-o", folder.path("batch"), "--outputs"]
                + outputs)
        #expect(batch.code == 0)
        let request = try request(
            "1",
            [
                "outputs": outputs.map { text in
                    let parts = text.split(separator: "=").map(String.init)
                    return [
                        "name": parts[0], "options": parts[1],
                        "path": folder.path("out/\(parts[0])"),
                    ]
                }
            ])
        let response = try #require(try await work([request])["1"])
        #expect(response.status == "made" && response.outputs.count == 3)
        #expect(response.line["format"] as? String == "jpeg")
        #expect(response.line["width"] as? Int == 400 && response.line["height"] as? Int == 300)
        for (name, file) in [("s", "s/a.jpg"), ("m", "m/a.png"), ("c", "c/a.jpg")] {
            let made = try Data(contentsOf: URL(filePath: folder.path("out/\(name)")))
            #expect(try made == Data(contentsOf: URL(filePath: folder.path("batch/\(file)"))))
            let output = try #require(response.outputs.first { $0["name"] as? String == name })
            #expect(output["byteCount"] as? Int == made.count)
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("out"))
        #expect(files.sorted() == ["c", "m", "s"], "no temporary file is left")
    }

    @Test("takes and returns bytes, which may contain lines") func bytes() async throws {
        let hostile = try request("evil", to: folder.path("evil.jpg"))
        let responses = try await work(
            [
                request("1", bytes: photograph), request("2", bytes: Data("\n".utf8) + hostile),
                request("3"), request("4", bytes: photograph),
            ])
        #expect(responses.count == 4)
        #expect(responses["2"]?.kind == "damaged")
        let file = try #require(responses["3"]?.bytes)
        let image = try ImageSource(EncodedBytes(Array(file)), codecs: builtInCodecs)
        #expect(image.pixelSize == PixelSize(width: 40, height: 30))
        #expect(responses["1"]?.bytes == file && responses["4"]?.bytes == file)
        #expect(!FileManager.default.fileExists(atPath: folder.path("evil.jpg")))
    }

    /// Bytes that are moved from a pipe to the memory that decoders map.
    @Test("takes sources larger than a pipe") func largeBytes() async throws {
        let path = folder.path("large.png")
        try ImageDestination(format: "png", codecs: builtInCodecs)
            .write(TestImage.noise(PixelSize(width: 700, height: 500)), to: path)
        let large = try Data(contentsOf: URL(filePath: path))
        try #require(large.count > 1 << 19)
        let stored = folder.path("out/{digest}.jpg")
        let requests = try [
            request("address", ["source": path]), request("1", bytes: large),
            request("small", bytes: photograph), request("2", bytes: large),
            request("file", to: stored, bytes: large),
            request("damaged", bytes: large.prefix(200_000)),
            request("other", to: stored, bytes: large.prefix(400_000)),
        ]
        for arguments in [[], ["--no-sandbox"]] {
            try? FileManager.default.removeItem(atPath: folder.path("out"))
            let responses = try await work(requests, arguments)
            let file = try #require(responses["address"]?.bytes)
            #expect(!file.isEmpty)
            #expect(responses["1"]?.bytes == file && responses["2"]?.bytes == file)
            #expect(responses["small"]?.status == "made")
            let warnings = try #require(responses["damaged"]?.line["warnings"] as? [String])
            #expect(!warnings.isEmpty)
            let written = try #require(responses["file"]?.outputs.first?["path"] as? String)
            #expect(try Data(contentsOf: URL(filePath: written)) == file)
            let other = try #require(responses["other"]?.outputs.first?["path"] as? String)
            #expect(other != written)
        }
        let cut = try request("cut", bytes: large).dropLast(100_000)
        let responses = try await work([request("0"), cut], ["--jobs", "1"], code: 1)
        #expect(responses["0"]?.status == "made" && responses[nil]?.kind == "request")
    }

    @Test("names a file after what its bytes depend on, and skips it if it exists")
    func digests() async throws {
        let path = folder.path("out/{digest}.jpg")
        func name(_ request: Data, _ status: String) async throws -> String {
            let response = try #require(try await work([request])["1"])
            #expect(response.status == status)
            return try #require(response.outputs.first?["path"] as? String)
        }
        let first = try await name(request("1", to: path), "made")
        #expect(try await name(request("1", to: path), "skipped") == first)
        #expect(try await name(request("1", options: "41", to: path), "made") != first)
        let passed = try await name(request("1", to: path, bytes: photograph), "made")
        #expect(try await name(request("1", to: path, bytes: photograph), "skipped") == passed)
        let version = ["version": "1"]
        let versioned = try await name(request("1", version, to: path), "made")
        let past = Date(timeIntervalSince1970: 1_000_000_000)
        try FileManager.default.setAttributes(
            [.modificationDate: past], ofItemAtPath: folder.path("a.jpg"))
        #expect(try await name(request("1", to: path), "made") != first)
        #expect(try await name(request("1", version, to: path), "skipped") == versioned)
    }

    @Test("skips files that exist unless they are replaced") func existing() async throws {
        let path = folder.path("s.jpg")
        try Data("old".utf8).write(to: URL(filePath: path))
        let request = try request("1", to: path)
        #expect(try await work([request])["1"]?.status == "skipped")
        #expect(try Data(contentsOf: URL(filePath: path)).count == 3)
        #expect(try await work([request], ["--replace"])["1"]?.status == "made")
        #expect(try Data(contentsOf: URL(filePath: path)).count > 3)
    }

    @Test("reports each failure with the request, and continues") func failures() async throws {
        let requests = try [
            ("missing", request("missing", ["source": folder.path("none.jpg")]), "unreachable"),
            ("text", request("text", bytes: Data("no image".utf8)), "damaged"),
            ("empty", request("empty", bytes: Data()), "damaged"),
            ("short", request("short", bytes: photograph.prefix(5000)), "truncated"),
            ("large", request("large", bytes: Data(count: 200_000)), "limit"),
            ("options", request("options", options: "40,webq"), "request"),
            ("size", request("size", options: "0"), "request"),
            ("nothing", request("nothing", ["outputs": [String]()]), "request"),
            ("folder", request("folder", to: folder.path("a.jpg/s.jpg")), "destination"),
            ("late", request("late", ["deadlineMilliseconds": 0]), "request"),
            ("local", request("local", ["source": "http://127.0.0.1:9/1.jpg"]), "request"),
            (
                "unversioned",
                request(
                    "unversioned", ["source": "https://calotype.invalid/1.jpg"], to: "{digest}"),
                "request"
            ),
        ]
        let responses = try await work(
            requests.map(\.1) + [request("last", bytes: photograph)],
            ["--strict", "--source-limit", "100KB"])
        #expect(responses.count == requests.count + 1)
        for (id, _, kind) in requests {
            #expect(responses[id]?.status == "failed")
            #expect(responses[id]?.kind == kind, "\(id): \(responses[id]?.line ?? [:])")
            #expect(responses[id]?.bytes.isEmpty == true)
        }
        #expect(responses["last"]?.status == "made")
    }

    @Test("ends a request at its deadline") func deadline() async throws {
        let image = TestImage.photograph(PixelSize(width: 3000, height: 2000))
        try ImageDestination(format: "png", codecs: builtInCodecs)
            .write(image, to: folder.path("large.png"))
        let responses = try await work([
            request(
                "1", ["source": folder.path("large.png"), "deadlineMilliseconds": 1],
                options: "3000,png"), request("2"),
        ])
        #expect(responses["1"]?.kind == "timeout")
        #expect(responses["2"]?.status == "made")
    }

    @Test(
        "ends after a line that is not a request",
        arguments: [
            "no JSON", #"{"id":"1"}"#, #"{"id":"1","outputs":[],"deadline":1}"#,
            #"{"id":"1","outputs":[],"byteCount":-1}"#, #"{"id":"1","outputs":[],"byteCount":9}"#,
        ])
    func invalidLine(line: String) async throws {
        let responses = try await work(
            [request("0"), Data("\(line)\n".utf8), Data("\n".utf8)], ["--jobs", "1"], code: 1)
        #expect(responses["0"]?.status == "made")
        #expect(responses[nil]?.kind == "request")
        #expect(responses.count == 2)
    }

    @Test(
        "refuses invalid arguments",
        arguments: [["--jobs", "0"], ["--deadline", "0"], ["--allow-network", "x"]])
    func invalid(arguments: [String]) async throws {
        let answer = try await BuiltCommand.run(["worker"] + arguments, input: Data())
        #expect(answer.code == 64 && answer.errors.hasPrefix("Error: "))
    }
}
