// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

/// Needs the PNG codec, which a build without that trait lacks.
@Suite(
    "An interrupted command", .timeLimit(.minutes(10)),
    .enabled(if: builtInCodecs.codec(named: "png") != nil))
struct InterruptionTests {
    private let folder: TemporaryFolder
    private let temporary: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        temporary = try TemporaryFolder()
    }

    /// Creates an image file and hard links to it.
    private func images(_ count: Int) throws -> [String] {
        let image = TestImage.photograph(PixelSize(width: 1600, height: 1200))
        let paths = (0..<count).map { folder.path("\($0).png") }
        try ImageDestination(format: "png", codecs: builtInCodecs).write(image, to: paths[0])
        for path in paths.dropFirst() {
            try FileManager.default.linkItem(atPath: paths[0], toPath: path)
        }
        return paths
    }

    private func files(_ folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    @Test(
        "leaves complete thumbnails and exits with the code of the signal",
        arguments: [SIGINT, SIGTERM, SIGHUP])
    func thumbnail(signal: Int32) async throws {
        let inputs = try images(300)
        let small = folder.path("small")
        try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: false)
        let answer = try await BuiltCommand.interrupt(
            ["thumbnail", "--size", "200", "--format", "png", "--output", "\(small)/"] + inputs,
            signal,
            temporaryFolder: temporary.path, whenFileAppearsIn: small)
        #expect(answer.code == 128 + signal)
        #expect(
            answer.errors == "calotype: interrupted; the files that were written are complete\n")
        let written = files(small)
        #expect((1..<300).contains(written.count))
        #expect(written.allSatisfy { $0.hasSuffix(".png") })
        for name in written.suffix(50) {
            let source = try ImageSource(
                EncodedBytes(reading: "\(small)/\(name)"), codecs: builtInCodecs)
            #expect(try source.image().size == PixelSize(width: 200, height: 150))
        }
    }

    @Test("ends early and leaves no temporary files with a sandbox")
    func sandboxed() async throws {
        let inputs = try images(300)
        let small = folder.path("small")
        try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: false)
        let answer = try await BuiltCommand.interrupt(
            ["thumbnail", "--sandbox", "--size", "200", "--format", "png", "--output", "\(small)/"]
                + inputs,
            SIGTERM, temporaryFolder: temporary.path, whenFileAppearsIn: small)
        #expect(answer.code == 128 + SIGTERM)
        #expect(
            answer.errors == "calotype: interrupted; the files that were written are complete\n")
        #expect((1..<300).contains(files(small).count))
        #expect(files(small).allSatisfy { $0.hasSuffix(".png") } && files(temporary.path) == [])
    }

    @Test("leaves no temporary files of bench scroll", arguments: [SIGINT, SIGTERM])
    func scroll(signal: Int32) async throws {
        _ = try images(4)
        let arguments = [
            "bench", "scroll", folder.path, "--layout", "grid", "--seconds", "0.2", "--count", "8",
        ]
        // Early, when links to images exist, and later, when the store contains renditions.
        for sign in ["calotype-scroll-", "calotype-kept-"] {
            let answer = try await BuiltCommand.interrupt(
                arguments, signal, temporaryFolder: temporary.path,
                whenFileAppearsIn: temporary.path, prefix: sign)
            #expect(answer.code == 128 + signal)
            #expect(answer.errors == "calotype: interrupted; nothing was measured\n")
            #expect(files(temporary.path) == [])
        }
        #expect(files(folder.path).count == 4)
    }

    @Test("leaves no temporary files of bench formats") func formats() async throws {
        let photo = try images(1)[0]
        let arguments = ["--seconds", "0.1", "--photo", photo, "--output", folder.path("chart")]
        let answer = try await BuiltCommand.interrupt(
            ["bench", "formats"] + arguments, SIGTERM, temporaryFolder: temporary.path,
            whenFileAppearsIn: temporary.path)
        #expect(answer.code == 128 + SIGTERM)
        #expect(answer.errors == "calotype: interrupted; nothing was measured\n")
        #expect(files(temporary.path) == [] && files(folder.path).count == 1)
    }
}
