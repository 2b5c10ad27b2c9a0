// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@Suite("Textures in bench formats") struct TextureBenchmarkTests {
    private struct Report: Decodable {
        struct Result: Decodable {
            let format: String
            let width, height, byteCount, memoryByteCount: Int
            let shown: Bool
            let milliseconds, loadMilliseconds: Double
        }
        let results: [Result]
    }

    @Test("are loaded, and not decoded", .enabled(if: builtProgram("calotype-server") != nil))
    func rows() async throws {
        let folder = try TemporaryFolder()
        // Instead of the generated photograph, which takes 7 s without optimization.
        try ImageDestination(format: "qoi", codecs: builtInCodecs).write(
            TestImage.photograph(PixelSize(width: 640, height: 480)), to: folder.path("a.qoi"))
        let answer = try await BuiltCommand.run([
            "bench", "formats", "--formats", "etc2,pvrtc,qoi", "--seconds", "0", "--json",
            "--quiet", "--photo", folder.path("a.qoi"),
        ])
        #expect(answer.code == 0, "\(answer.errors)")
        let results = try JSONDecoder().decode(Report.self, from: Data(answer.output.utf8)).results
        #expect(Set(results.map(\.format)) == ["etc2", "pvrtc", "qoi"])
        for result in results where result.format != "qoi" {
            // Both have four bits per pixel; PVRTC has a square of powers of two.
            let area =
                result.format == "etc2"
                ? result.width * result.height : max(result.width, result.height) * result.width
            #expect(result.memoryByteCount == area / 2, "\(result)")
            #expect(result.byteCount == result.memoryByteCount + 52)
            #expect(!result.shown)
            #expect(result.milliseconds >= result.loadMilliseconds)
        }
        // A pixel takes 4 or 3 bytes when it is decoded.
        let decoded = results.filter { $0.format == "qoi" }
        #expect(decoded.contains { $0.shown })
        for result in decoded where !result.shown {
            #expect(result.memoryByteCount >= result.width * result.height * 3)
        }
    }
}
