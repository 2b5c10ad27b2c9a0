// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageCommands

@Suite struct OutputPatternTests {
    @Test(
        "Placeholders are replaced by parts of the input path",
        arguments: [
            ("{dir}/{name}-{size}.{ext}", "a/b/photo.JPG", "a/b/photo-400.png"),
            ("{dir}/{name}-{size}.{ext}", "photo.JPG", "./photo-400.png"),
            ("{dir}/{name}.{ext}", "/photo", "//photo.png"),
            ("small/", "a/photo.tar.gz", "small/2024/photo.tar.png"),
            ("/", "a/photo.jpg", "/2024/photo.png"), ("/tmp", "photo.jpg", "/tmp/2024/photo.png"),
            ("x-{subfolder}{name}", "a/photo.jpg", "x-2024/photo"),
            ("{name}.web.jpg", ".hidden", ".hidden.web.jpg"),
            ("fixed", "a.jpg", "fixed"),
        ])
    func fills(pattern: String, input: String, output: String) throws {
        let path = try OutputPattern(parsing: pattern)
            .path(
                for: InputFile(path: input, subfolder: "2024/"), size: "400", fileExtension: "png")
        #expect(path == output)
    }

    @Test(
        "A literal extension in the pattern selects the format",
        arguments: [
            ("{name}.png", "png"), ("x/{name}-{size}.web.jpg", "jpg"), ("fixed.jpeg", "jpeg"),
            ("{name}.{ext}", nil), ("{name}", nil), ("small/", nil), ("a.b/{name}", nil),
        ] as [(String, String?)])
    func fixesExtension(pattern: String, expected: String?) throws {
        #expect(try OutputPattern(parsing: pattern).fixedExtension == expected)
    }

    @Test("Unknown placeholders are rejected", arguments: ["{foo}.jpg", "{name"])
    func refuses(pattern: String) {
        #expect(throws: (any Error).self) { try OutputPattern(parsing: pattern) }
    }
}
