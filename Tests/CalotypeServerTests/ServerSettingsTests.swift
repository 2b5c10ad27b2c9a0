// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Testing

@testable import CalotypeServer
@testable import ImageCommands

@Suite("Server settings") struct ServerSettingsTests {
    private func settings(
        _ json: String, _ environment: [String: String] = [:]
    ) throws -> [String] {
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "settings.json")
            try Data(json.utf8).write(to: file)
            return try ServerSettings.arguments(file: file.path, environment: environment)
        }
    }

    @Test("are the options of calotype serve") func names() async throws {
        let answer = try await BuiltCommand.run(["serve", "--experimental-dump-help"])
        let help = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any])
        let command = try #require(help["command"] as? [String: Any])
        let arguments = try #require(command["arguments"] as? [[String: Any]])
        var kinds: [String: ServerSettings.Kind] = [:]
        for argument in arguments where argument["kind"] as? String != "positional" {
            let isRepeating = argument["isRepeating"] as? Bool == true
            let isFlag = argument["kind"] as? String == "flag"
            for name in argument["names"] as? [[String: Any]] ?? [] {
                let text = try #require(name["name"] as? String)
                kinds[text] = isFlag ? .flag : isRepeating ? .list : .value
            }
        }
        for other in ["config", "check-config", "help", "h", "version"] { kinds[other] = nil }
        #expect(kinds == ServerSettings.kinds)
        #expect(kinds["cache-size"] == .value && kinds["allow-origin"] == .list)
        #expect(kinds["metrics"] == .flag && kinds["no-sandbox"] == .flag)
    }

    @Test("derive the number of connections from descriptors and memory") func connections() {
        func count(_ descriptors: Int, _ memory: Int) -> Int {
            DescriptorLimit.connectionCount(
                descriptorCount: descriptors, processorCount: 2, memoryByteCount: memory)
        }
        #expect(count(65_536, 256 << 20) == 1_024)
        #expect(count(65_536, 64 << 20) == 256)
        #expect(count(65_536, 1 << 20) == 64)
        #expect(count(256, 256 << 20) == 76)
        #expect(count(20, 256 << 20) == 8)
        #expect(DescriptorLimit.raise() >= 20)
    }

    @Test("are read from a file, with names in camel case") func file() throws {
        let arguments = try settings(
            #"{"cacheSize": "5GB", "port": 80, "rateLimit": 2.5, "imgproxy": true, "metrics": false,"#
                + #" "preset": ["a=1x1,fill", "b=2x2"], "source": "x.example", "host": "::"}"#)
        #expect(
            arguments == [
                "--cache-size=5GB", "--host=::", "--imgproxy", "--port=80", "--preset=a=1x1,fill",
                "--preset=b=2x2", "--rate-limit=2.5", "--source=x.example",
            ])
    }

    @Test("are read from the environment, which overrides the file") func environment() throws {
        let arguments = try settings(
            #"{"port": 80}"#,
            [
                "CALOTYPE_PORT": "81", "CALOTYPE_PRESETS_ONLY": "yes", "CALOTYPE_METRICS": "0",
                "CALOTYPE_PRESET": "a=1x1 b=2x2", "CALOTYPE_CORPUS": "/photos", "PORT": "82",
            ])
        #expect(
            arguments == [
                "--port=80", "--port=81", "--preset=a=1x1", "--preset=b=2x2", "--presets-only",
            ])
    }

    @Test(
        "are named in errors if invalid",
        arguments: [
            (#"{"prot": 80}"#, "unknown setting: prot"),
            (#"{"cache-size": 80}"#, "unknown setting: cache-size"),
            (#"{"port": [80]}"#, "invalid port"),
            (#"{"port": ["80", "81"]}"#, "invalid port: use one"),
            (#"{"metrics": "on"}"#, "invalid metrics: use true or false"),
            (#"{"port": true}"#, "invalid port: use one"),
            ("[]", "not a JSON object"), ("{", "not a JSON object"), ("", "not a JSON object"),
        ])
    func invalid(json: String, complaint: String) throws {
        let error = #expect(throws: FileFailure.self) { try settings(json) }
        #expect(error?.description.contains(complaint) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("settings.json") == true)
    }

    @Test("name an invalid flag or an unreadable file") func flag() throws {
        #expect(
            throws: FileFailure("environment", "invalid CALOTYPE_METRICS: on; use true or false")
        ) {
            try ServerSettings.arguments(file: nil, environment: ["CALOTYPE_METRICS": "on"])
        }
        #expect(throws: FileFailure.self) {
            try ServerSettings.arguments(file: "/nowhere/settings.json", environment: [:])
        }
    }

    @Test("are inserted before the command line of serve only") func completed() throws {
        let environment = ["CALOTYPE_PORT": "81"]
        #expect(
            try ServerSettings.completed(["serve", "a", "--port", "82"], environment: environment)
                == ["serve", "--port=81", "a", "--port", "82"])
        for other in [["info", "a"], [], ["serve", "--help"]] {
            #expect(try ServerSettings.completed(other, environment: environment) == other)
        }
    }

    @Test(
        "are validated by --check-config without starting a server",
        arguments: [
            (#"{"port": 80, "preset": ["a=10x10,fill"]}"#, [], 0, ""),
            (#"{"port": 99999}"#, [], 64, "invalid port: 99999"),
            (#"{"port": 99999}"#, ["--port", "80"], 0, ""),
            (#"{"preset": ["a=fill"]}"#, [], 1, "preset a"),
            (#"{"formats": "exe"}"#, [], 64, "exe"),
            (#"{"sizes": "many"}"#, [], 64, "invalid --sizes"),
            (#"{"requestTimeout": 0}"#, [], 64, "0.001 to 86400"),
            (#"{"socket": "/nowhere/at/all", "requestTimeout": 2.5}"#, [], 0, ""),
            (#"{"animationMegapixels": -1}"#, [], 64, "0 to 1000000"),
            (#"{"redis": "redis://:secret@cache/2"}"#, [], 0, ""),
            (#"{"redis": "cache:99999"}"#, [], 64, "invalid --redis: invalid port: 99999"),
            (#"{"prot": 80}"#, [], 64, "unknown setting: prot"),
        ])
    func check(json: String, more: [String], code: Int32, complaint: String) async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("settings.json")
        try Data(json.utf8).write(to: URL(filePath: file))
        let answer = try await BuiltCommand.run(
            ["serve", folder.path, "--check-config", "--config", file] + more)
        #expect(answer.code == code, "\(answer.errors)")
        #expect(answer.output.hasPrefix("configuration is valid") == (code == 0))
        #expect(complaint.isEmpty ? answer.errors.isEmpty : answer.errors.contains(complaint))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    }
}
