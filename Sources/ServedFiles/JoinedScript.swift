// SPDX-License-Identifier: Apache-2.0

/// The modules of the page as one script, which a browser loads with one request.
///
/// Each module becomes a function that is called once, after those that it imports, and returns its exports:
///
///     const timeline_days_js = (() => {
///     const { lastIndex } = binary_search_js;
///     class TimelineDays { … }
///     return { TimelineDays };
///     })();
///
/// The modules use the part of the language for which this is equivalent: each import is one line
/// `import { NAME, … } from "./FILE";` without other names, there are no cycles, and exports are declarations of
/// functions, classes and constants. Other lines are copied, which the tests of the server detect.
struct JoinedScript {
    private(set) var bytes: [UInt8] = []
    private let modules: [String: [UInt8]]
    private var visited: Set<String> = []

    /// Joins a module with all those that it imports.
    init(of main: String, in modules: [String: [UInt8]]) {
        self.modules = modules
        append(main)
    }

    private mutating func append(_ name: String) {
        guard let module = modules[name], visited.insert(name).inserted else { return }
        var imports: [Import] = []
        var exports: [String] = []
        var body: [UInt8] = []
        body.reserveCapacity(module.count)
        var copied = module.startIndex
        var start = module.startIndex
        while start < module.endIndex {
            let rest = module[start...]
            let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? module.endIndex
            if let line = Import(rest[..<end]) {
                imports.append(line)
                body += module[copied..<start]
                copied = end
            } else if let export = Export(rest[..<end]) {
                exports.append(export.name)
                body += module[copied..<start]
                copied = export.declaration
            }
            start = end
        }
        body += module[copied...]
        for line in imports { append(line.file) }
        bytes += "const \(Self.variable(name)) = (() => {\n".utf8
        for line in imports {
            bytes += "const {\(line.names)} = \(Self.variable(line.file));\n".utf8
        }
        bytes += body
        bytes += "return { \(exports.joined(separator: ", ")) };\n})();\n".utf8
    }

    /// The constant with the exports of a module.
    private static func variable(_ file: String) -> String {
        String(file.map { $0 == "-" || $0 == "." ? "_" : $0 })
    }
}

/// A line that imports names from another module.
private struct Import {
    let names: Substring
    let file: String

    init?(_ line: ArraySlice<UInt8>) {
        guard line.starts(with: "import {".utf8) else { return nil }
        let parts = String(decoding: line, as: UTF8.self)
            .split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].hasSuffix("} from "), parts[1].hasPrefix("./"),
            [";", ";\n"].contains(parts[2])
        else { return nil }
        names = parts[0].dropFirst("import {".count).dropLast("} from ".count)
        file = String(parts[1].dropFirst(2))
    }
}

/// A line that begins an exported declaration.
private struct Export {
    let name: String
    /// The offset of the declaration, after `export`.
    let declaration: Int

    init?(_ line: ArraySlice<UInt8>) {
        guard line.starts(with: "export ".utf8) else { return nil }
        declaration = line.startIndex + "export ".utf8.count
        let words = String(decoding: line[declaration...], as: UTF8.self).split(separator: " ")
        let keyword = words.first == "async" ? 1 : 0
        guard words.count > keyword + 1,
            ["class", "const", "function"].contains(words[keyword])
        else { return nil }
        name = String(words[keyword + 1].prefix { $0.isLetter || $0.isNumber || "_$".contains($0) })
    }
}
