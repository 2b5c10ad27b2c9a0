// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Pixels
import Testing

@testable import ImageCommands

@Suite struct ArgumentTests {
    @Test(
        "A size specifies the longer side, both sides, or one of them",
        arguments: [
            ("400", PixelSize(width: 400, height: 400)),
            ("400x300", PixelSize(width: 400, height: 300)),
            ("400x", PixelSize(width: 400, height: .max)),
            ("x300", PixelSize(width: .max, height: 300)),
        ])
    func parsesSize(text: String, box: PixelSize) throws {
        #expect(try SizeArgument(parsing: text).box == box)
    }

    @Test(
        "Invalid sizes are rejected",
        arguments: [
            "", "x", "0", "-4", "4x0", "65536", "4x4x4", "4,5", " 4", "+4", "9999999999999999999",
        ])
    func refusesSize(text: String) {
        #expect(throws: (any Error).self) { try SizeArgument(parsing: text) }
    }

    @Test("The viewer parses the options of view itself")
    func passesOptionsOfView() throws {
        let arguments = ["--size", "800x600", "--no-profile", "a.jpg"]
        #expect(try View.parse(arguments).arguments == arguments)
    }

    @Test(
        "Units of byte counts are powers of 1000, or of 1024 with an i",
        arguments: [("5", 5), ("2GB", 2_000_000_000), ("256mib", 256 << 20), ("1KiB", 1024)])
    func parsesByteCount(text: String, expected: Int) throws {
        #expect(try parseByteCount(text) == expected)
    }

    @Test(
        "Invalid byte counts are rejected",
        arguments: ["", "GB", "1.5GB", "-1", "2 GB", "9999999999TB"])
    func refusesByteCount(text: String) {
        #expect(throws: (any Error).self) { try parseByteCount(text) }
    }

    @Test("JSON text keeps the order of keys and escapes special characters")
    func writesJSON() {
        let value = JSON.object([
            .init("b", .string("a\"\\\n\u{1}é")),
            .init("a", .array([.integer(1), .null, .bool(true)])),
            .init("c", .object([])),
        ])
        #expect(
            value.text()
                == "{\n  \"b\": \"a\\\"\\\\\\n\\u0001é\",\n  \"a\": [\n    1,\n    null,\n    true\n  ],\n  \"c\": {}\n}"
        )
    }

    @Test("A progress bar is full at the end and contains the number of failures")
    func drawsProgress() {
        #expect(ProgressBar.line(0, 0, of: 4).hasPrefix("░"))
        #expect(!ProgressBar.line(4, 1, of: 4).contains("░"))
        #expect(ProgressBar.line(4, 1, of: 4).hasSuffix("4 of 4, 1 failed"))
    }
}
