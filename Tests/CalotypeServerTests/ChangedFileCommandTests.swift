// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Needs the PNG codec, which a build without that trait lacks.
@Suite(
    "A command whose input is truncated while it is read", .timeLimit(.minutes(10)),
    .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct ChangedFileCommandTests {
    /// The number of runs of each command, higher in deep tests.
    private static let roundCount =
        ProcessInfo.processInfo.environment["CALOTYPE_DEEP_FILES"].flatMap(Int.init).map {
            max(10, $0 / 100)
        } ?? 3

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "reports that file and processes the others",
        arguments: [
            ["info", "--explain"], ["info", "--json"], ["thumbnail", "--size", "50"],
            ["thumbnail", "--sandbox", "--size", "50"], ["convert"],
        ])
    func race(command: [String]) async throws {
        let image = TestImage.photograph(PixelSize(width: 700, height: 500))
        let original = try ImageDestination(format: "png", codecs: builtInCodecs).encode(image)
        let (good, changing) = (folder.path("good.png"), folder.path("changing.png"))
        for path in [good, changing] { try Data(original).write(to: URL(filePath: path)) }

        let (ended, end) = AsyncStream.makeStream(of: Never.self)
        let writer = Thread {
            var round: UInt64 = 0
            while !FileManager.default.fileExists(atPath: changing + ".stop") {
                round += 1
                guard let handle = FileHandle(forWritingAtPath: changing) else { continue }
                try? handle.truncate(atOffset: round % 7 * 10_000)
                try? handle.write(contentsOf: Data(original))
                try? handle.close()
            }
            end.finish()
        }
        writer.start()
        let result: Result<Void, any Error>
        do {
            result = .success(try await run(command, changing: changing, good: good))
        } catch { result = .failure(error) }
        _ = FileManager.default.createFile(atPath: changing + ".stop", contents: nil)
        for await _ in ended {}
        try result.get()
    }

    private func run(_ command: [String], changing: String, good: String) async throws {
        for round in 0..<Self.roundCount {
            let output = folder.path("out\(round)")
            let answer =
                switch command[0] {
                case "convert":
                    try await BuiltCommand.run(["convert", changing, "\(output).bmp"])
                case "thumbnail":
                    try await BuiltCommand.run(
                        command + ["--quiet", "--output", "\(output)/", changing, good])
                default: try await BuiltCommand.run(command + [changing, good])
                }
            #expect([0, 1].contains(answer.code), "\(answer.errors)")
            let lines = answer.errors.split(separator: "\n")
            if answer.code == 1 {
                #expect(lines.count { $0.contains("changing.png") } == 1, "\(answer.errors)")
            }
            #expect(!answer.errors.contains("good.png"), "\(answer.errors)")
            switch command[0] {
            case "thumbnail":
                let thumbnail = try ImageSource(
                    EncodedBytes(reading: "\(output)/good.jpg"), codecs: builtInCodecs)
                #expect(thumbnail.pixelSize.width == 50)
            case "info": #expect(answer.output.contains("good.png"))
            default:
                // The output is complete or missing.
                guard answer.code == 0 else { continue }
                let whole = try ImageSource(
                    EncodedBytes(reading: "\(output).bmp"), codecs: builtInCodecs)
                #expect(whole.pixelSize == PixelSize(width: 700, height: 500))
            }
        }
    }
}
