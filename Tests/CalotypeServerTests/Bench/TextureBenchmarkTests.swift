// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
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
        let answer = try await BuiltCommand.run([
            "bench", "formats", "--formats", "etc2,pvrtc", "--seconds", "0", "--json", "--quiet",
        ])
        #expect(answer.code == 0, "\(answer.errors)")
        let results = try JSONDecoder().decode(Report.self, from: Data(answer.output.utf8)).results
        #expect(Set(results.map(\.format)) == ["etc2", "pvrtc"])
        for result in results {
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
        let decoded = try await BuiltCommand.run([
            "bench", "formats", "--formats", "qoi", "--seconds", "0", "--json", "--quiet",
        ])
        let pixels = try JSONDecoder().decode(Report.self, from: Data(decoded.output.utf8)).results
        #expect(pixels.contains { $0.shown })
        for result in pixels where !result.shown {
            #expect(result.memoryByteCount >= result.width * result.height * 3)
        }
    }
}
