// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import CalotypeServer
@testable import ImageCommands

@Suite("Grouped paths") struct PathGroupTests {
    @Test("reduce the number of arguments to that of the options")
    func count() throws {
        let files = (0..<20_000).map { "photo \($0).jpg" }
        #expect(groupingPaths(["info"] + files).count == 2)
        #expect(groupingPaths(["sign"] + files).count == 2)
        let arguments =
            ["thumbnail"] + files + ["-qo", "out/", "a.jpg"] + files + ["--size", "400"] + files
            + ["--json", "b.jpg"] + files + ["--", "-c.jpg"] + files
        let grouped = groupingPaths(arguments)
        #expect(grouped.count == 14)
        let thumbnail = try Thumbnail.parse(Array(grouped.dropFirst()))
        #expect(thumbnail.files.count == 7)
        let expected = files + ["a.jpg"] + files + files + ["b.jpg"] + files + ["-c.jpg"] + files
        #expect(thumbnail.files.paths == expected)
        #expect(thumbnail.output == "out/" && thumbnail.quiet && thumbnail.json)
    }

    @Test(
        "leave results and errors of the parser unchanged",
        arguments: [
            [], ["info"], ["info", "a"], ["info", "a", "b", "c"], ["info", "", "", "a"],
            ["info", "--json", "a", "b", "-", "c", "d"], ["info", "a", "--json", "b", "c"],
            ["info", "a", "--", "-b", "--json", "c"], ["info", "--", "--", "a", "b"],
            ["info", "--size", "400", "a", "b"], ["info", "--size=400", "a", "b"],
            ["info", "a", "b", "--size"], ["info", "--siz", "400", "a", "b"],
            ["info", "---", "a", "b"], ["info", "a", "b", "--help"],
            ["info", "/\u{301}a", "\u{301}b", "e\u{301}"],
            ["thumbnail", "a", "b", "--size", "x", "c"], ["thumbnail", "a", "b"],
            ["thumbnail", "-qo", "p/", "a", "b", "c", "--size", "20"],
            ["thumbnail", "-oj", "p/", "3", "a", "b", "--size=20"],
            ["thumbnail", "-jq", "a", "3", "b", "c", "--size=20"],
            ["thumbnail", "-x", "a", "b", "c", "--size", "20"],
            ["thumbnail", "--size", "400", "--", "a", "b"],
            ["thumbnail", "--size", "--", "400", "a"],
            ["sign", "/a", "/b", "c", "/d"], ["sign", "/a", "/b", "--expires-in", "5", "/c", "/d"],
            ["convert", "a", "b", "c", "d"], ["help", "info"], ["no", "a", "b"],
        ])
    func equivalence(arguments: [String]) {
        #expect(outcome(groupingPaths(arguments)) == outcome(arguments))
    }

    /// The values of the parsed command, or the text of the error.
    private func outcome(_ arguments: [String]) -> String {
        do {
            let command = try CalotypeCommand.parseAsRoot(arguments)
            switch command {
            case let info as Info: return "\(info.files.paths) \(info.json) \(info.size as Any)"
            case let sign as Sign: return "\(sign.urls.paths) \(sign.expiresIn as Any)"
            case let explained as ExplainedThumbnail:
                let thumbnail = explained.thumbnail
                return "\(thumbnail.files.paths) \(thumbnail.size) \(thumbnail.output) "
                    + "\(thumbnail.jobs as Any) \(thumbnail.quiet)"
            default: return "\(type(of: command))"
            }
        } catch {
            return "\(CalotypeCommand.exitCode(for: error).rawValue) "
                + CalotypeCommand.fullMessage(for: error)
        }
    }
}
