// SPDX-License-Identifier: Apache-2.0

import Drawing
import Foundation
import ImageTesting
import Pixels
import Testing

@Suite("Templates") struct TemplateTests {
    private static let folder = SampleFiles.packageDirectory.appending(
        path: "Documentation/templates")

    @Test(
        "of the documentation are drawn",
        arguments: ["article", "plain", "quote", "product", "event", "avatar"])
    func examples(_ name: String) throws {
        let file = Self.folder.appending(path: "\(name).json")
        let template = try Template(parsing: String(contentsOf: file, encoding: .utf8))
        var values: [String: String] = [:]
        for key in [
            "title", "quote", "name", "price", "month", "day", "photo", "avatar", "author", "logo",
        ] { values[key] = key }
        var requests: [Template.ImageRequest] = []
        let image = try template.image(values, fonts: try FontCollection()) { request in
            requests.append(request)
            return TestImage.photograph(PixelSize(width: 60, height: 40))
        }
        #expect(image.size == template.size)
        #expect(requests.allSatisfy { values.values.contains($0.source) })
        #expect(image.format == (name == "avatar" ? .rgba8 : .rgb8))
    }

    @Test("match their JSON schema, which rejects what the parser rejects")
    func schema() throws {
        let script = """
            import json, sys, glob
            import jsonschema
            folder = sys.argv[1]
            schema = json.load(open(folder + "/schema.json"))
            check = jsonschema.Draft202012Validator(schema)
            for path in glob.glob(folder + "/*.json"):
                if not path.endswith("schema.json"): check.validate(json.load(open(path)))
            for text in sys.argv[2:]:
                try: value = json.loads(text)
                except json.JSONDecodeError: continue
                assert not check.is_valid(value), text
            print("P5 1 1 255 x")
            """
        let invalid = Self.invalid.map(\.0).filter { $0.hasPrefix("{") && $0.hasSuffix("}") }
        let python = URL(filePath: "/usr/bin/python3")
        for text in invalid {
            #expect(throws: DrawingError.self) { try Template(parsing: text) }
        }
        // A package of Debian; nothing to compare with where it is missing.
        guard FileManager.default.isExecutableFile(atPath: python.path),
            try PeerTool.run(python, ["-c", "import jsonschema"]) != nil
        else { return }
        let arguments: [String] = ["-c", script, Self.folder.path] + invalid
        #expect(try PeerTool.run(python, arguments) != nil)
    }

    private static let invalid: [(String, String)] = [
        (#"{"size": [10, 10]}"#, "layers: is missing"),
        (#"{"size": [10, 0], "layers": []}"#, "size: 0.0 is not from 1.0 to 8192.0"),
        (#"{"size": [10, 10], "layers": [], "colour": "red"}"#, "colour: unknown property"),
        (
            #"{"size": [10, 10], "layers": [{"type": "rect", "box": [0, 0, 1]}]}"#,
            "layers[0].box: an array of 4 numbers is expected"
        ),
        (
            #"{"size": [10, 10], "layers": [{"type": "circle", "box": [0, 0, 1, 1]}]}"#,
            "layers[0].type: unknown value \"circle\""
        ),
        (
            #"{"size": [10, 10], "layers": [{"type": "rect", "box": [0, 0, 1, 1], "fill": "red"}]}"#,
            "layers[0].fill: invalid colour"
        ),
        ("{\"size\": [10, 10],\n\"layers\": [}", "line 2: a value is expected"),
        (#"{"size": [10, 10], "layers": []"#, "line 1: a comma or } is expected"),
        (String(repeating: "[", count: 100), "more than 32 nested values"),
    ]

    @Test("name the property or the line of an error", arguments: invalid)
    func errors(_ text: String, _ reason: String) {
        let error = #expect(throws: DrawingError.self) { try Template(parsing: text) }
        #expect(error.map { "\($0)".contains(reason) } == true, "\(String(describing: error))")
    }

    @Test("replace placeholders and reject those without a value")
    func placeholders() throws {
        let template = try Template(
            parsing: #"{"size": [200, 50], "layers": [{"type": "text", "text": "{a} {{b}", "#
                + #""box": [0, 0, 200, 50]}]}"#)
        let fonts = try FontCollection()
        func image(_ values: [String: String]) throws -> PixelBuffer {
            try template.image(values, fonts: fonts) { _ in
                TestImage.photograph(PixelSize(width: 1, height: 1))
            }
        }
        #expect(throws: DrawingError.self) { try image([:]) }
        _ = try image(["a": "text"])
    }

    @Test(
        "take the letters of the first and last word",
        arguments: [
            ("Grace Hopper", "GH"), ("ada", "A"), ("Jean-Luc de la Tour", "JT"), ("", ""),
            ("  ", ""), ("élise ørsted", "ÉØ"), ("李 小龙", "李小"),
        ])
    func initials(_ name: String, _ letters: String) {
        #expect(Initials(of: name).text == letters)
        #expect(Initials.color(of: name) == Initials.color(of: name))
    }
}
