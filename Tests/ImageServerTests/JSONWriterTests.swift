// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Testing

@testable import ImageServer

@Suite("JSON writer") struct JSONWriterTests {
    private struct Columns: Codable, Equatable {
        var name: [String]
        var width: [Int]
        var error: [Int: String]
        var next: Int?
    }

    private func written(_ columns: Columns) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("error", columns.error)
            writer.member("name", columns.name)
            writer.member("next", columns.next)
            writer.member("width", columns.width)
        }
        return writer.bytes
    }

    @Test("writes the bytes of Foundation's encoder") func equalBytes() throws {
        var random = SeededRandom(seed: 5)
        let planes: [ClosedRange<UInt32>] = [
            0...0x7F, 0x80...0x7FF, 0x2028...0x2029, 0x1F300...0x1F5FF,
        ]
        let names = (0..<2_000).map { _ in
            var name = ""
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                let plane = planes[Int.random(in: planes.indices, using: &random)]
                let value = UInt32.random(in: plane, using: &random)
                name.unicodeScalars.append(Unicode.Scalar(value) ?? "?")
            }
            return name
        }
        let columns = Columns(
            name: names, width: [0, -1, .max, .min],
            error: [10: "\"quoted\"", 9: "\\ and \u{1F}", 0: ""], next: 7)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(try encoder.encode(columns) == Data(written(columns)))
        let read = try JSONDecoder().decode(Columns.self, from: Data(written(columns)))
        #expect(read == columns)
    }

    @Test("writes members in their order, without spaces") func order() {
        let columns = Columns(name: ["a", "b"], width: [1, 2], error: [10: "x", 9: "y"], next: 7)
        let text = #"{"error":{"10":"x","9":"y"},"name":["a","b"],"next":7,"width":[1,2]}"#
        #expect(String(decoding: written(columns), as: UTF8.self) == text)
        let none = Columns(name: [], width: [], error: [:], next: nil)
        #expect(
            String(decoding: written(none), as: UTF8.self)
                == #"{"error":{},"name":[],"next":null,"width":[]}"#)
    }
}
