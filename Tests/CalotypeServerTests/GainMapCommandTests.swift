// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import ImageCommands

/// Needs the codecs of PNG and JPEG, which a build without their traits lacks.
@Suite(
    "Gain maps of the commands",
    .enabled(
        if: builtInCodecs.codec(named: "png") != nil && builtInCodecs.codec(named: "jpeg") != nil))
struct GainMapCommandTests: ~Copyable {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try makeFolder(folder)
        let map = try ImageDestination(format: "jpeg", codecs: builtInCodecs)
            .encode(TestImage.photograph(PixelSize(width: 20, height: 10), .gray8))
        var channel = GainMapMetadata.Channel()
        channel.maximum = 2
        var metadata = GainMapMetadata(channel)
        metadata.alternateHeadroom = 2
        let image = TestImage.photograph(PixelSize(width: 80, height: 40))
        let destination = try ImageDestination(format: "jpeg", codecs: builtInCodecs)
        try destination.write(image, to: "\(folder)/plain.jpg")
        try destination.adding(GainMap(metadata, file: map)).write(
            image, to: "\(folder)/hdr.jpg")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func convert(_ input: String, _ output: String, _ options: String...) async throws
        -> BuiltCommand.Answer
    {
        try await BuiltCommand.run(
            ["convert", "\(folder)/\(input)", "\(folder)/\(output)"] + options)
    }

    @Test("are applied for a headroom") func apply() async throws {
        var means: [Double] = []
        for headroom in ["0", "1", "2"] {
            let answer = try await convert(
                "hdr.jpg", "\(headroom).png", "--headroom", headroom, "--size", "40")
            #expect(answer.code == 0, "\(answer.errors)")
            let source = try ImageSource(
                EncodedBytes(mapping: "\(folder)/\(headroom).png"), codecs: builtInCodecs)
            #expect(source.pixelSize == PixelSize(width: 40, height: 20))
            #expect(source.header.bitsPerComponent == 16)
            #expect(source.header.colorProfile == .coded(CICP(primaries: 9, transfer: 16)))
            var options = DecodeOptions()
            options.convertsToSRGB = false
            let bytes = try source.image(options).packedBytes
            means.append(bytes.reduce(0) { $0 + Double($1) } / Double(bytes.count))
        }
        #expect(means[0] + 2 < means[1] && means[1] + 2 < means[2], "\(means)")
    }

    @Test("are made for images in PQ that become SDR") func made() async throws {
        #expect(try await convert("hdr.jpg", "pq.png", "--gain-map", "apply").code == 0)
        let answer = try await convert("pq.png", "made.jpg", "--size", "40")
        #expect(answer.code == 0, "\(answer.errors)")
        func source(_ name: String) throws -> ImageSource {
            try ImageSource(EncodedBytes(mapping: "\(folder)/\(name)"), codecs: builtInCodecs)
        }
        let map = try #require(try source("made.jpg").gainMap())
        #expect(try source("made.jpg").gainMapSize(map) == PixelSize(width: 20, height: 10))
        #expect((0.3...0.5).contains(map.metadata.alternateHeadroom))
        _ = try await convert("pq.png", "dropped.jpg", "--size", "40", "--gain-map", "drop")
        #expect(try source("dropped.jpg").gainMap() == nil)
        #expect(
            try source("dropped.jpg").image().packedBytes
                == source("made.jpg").image().packedBytes)
    }

    @Test("that are missing are an error if they are to be applied") func missing() async throws {
        let answer = try await convert("plain.jpg", "a.png", "--gain-map", "apply")
        #expect(answer.code == 1)
        #expect(answer.errors.contains("plain.jpg: an SDR image without a gain map"))
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/a.png"))
    }

    @Test("need a format and options that can express HDR") func invalid() async throws {
        for (output, options, message) in [
            ("a.jpg", ["--gain-map", "apply"], "cannot store HDR"),
            ("a.png", ["--headroom", "1", "--gain-map", "drop"], "exclude each other"),
            ("a.png", ["--gain-map", "apply", "--headroom", "7"], "from 0 to 6"),
            ("a.png", ["--gain-map", "apply", "--keep-profile"], "exclude each other"),
            ("a.png", ["--gain-map", "apply", "--blur", "1"], "excludes effects"),
        ] {
            let answer = try await BuiltCommand.run(
                ["convert", "\(folder)/hdr.jpg", "\(folder)/\(output)"] + options)
            #expect(answer.code != 0)
            #expect(answer.errors.contains(message), "\(options): \(answer.errors)")
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/\(output)"))
        }
    }
}
