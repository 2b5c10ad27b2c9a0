// SPDX-License-Identifier: Apache-2.0

/// The table of keys and their commands.
///
/// A file changes it: one `KEY = COMMAND` on each line, such as `Ctrl+d = trash`, and `none` to
/// remove a key. Keys have the names of X11 keysyms after the modifiers `Ctrl`, `Alt` and `Shift` in
/// this order. Upper case letters need no `Shift`.
package struct KeyMap: Sendable {
    /// A line of a file that is invalid, which the author of the file can correct.
    package enum ParseError: Error, Hashable, CustomStringConvertible {
        /// The line is not `KEY = COMMAND`.
        case malformedLine(Int, text: String)
        /// The command does not exist.
        case unknownCommand(Int, name: String)

        /// A message for the user.
        package var description: String {
            switch self {
            case .malformedLine(let line, let text):
                "line \(line): invalid key binding: \(text); use KEY = COMMAND"
            case .unknownCommand(let line, let name):
                "line \(line): unknown command: \(name); use none, "
                    + ViewerCommand.allCases.map(\.rawValue).joined(separator: ", ")
            }
        }
    }

    private var commands: [String: ViewerCommand] = [:]

    /// The default table.
    package init() {
        for (keys, command) in Self.defaults {
            for key in keys { commands[key] = command }
        }
    }

    private static let defaults: [([String], ViewerCommand)] = [
        (["Right", "space"], .next), (["Left", "BackSpace"], .previous),
        (["Up"], .up), (["Down"], .down), (["Page_Up"], .pageUp), (["Page_Down"], .pageDown),
        (["Home"], .first), (["End"], .last),
        (["Return", "KP_Enter"], .open), (["g"], .grid), (["Escape"], .leave),
        (["q", "Ctrl+q", "Ctrl+w"], .quit), (["f", "F11"], .fullScreen),
        (["plus", "equal", "KP_Add"], .zoomIn), (["minus", "KP_Subtract"], .zoomOut),
        (["Ctrl+0", "w"], .zoomFit), (["Ctrl+1", "z"], .zoomFull),
        (["Delete"], .trash), (["F2"], .rename), (["Ctrl+z"], .undo), (["x"], .reject),
        (["0"], .rate0), (["1"], .rate1), (["2"], .rate2), (["3"], .rate3), (["4"], .rate4),
        (["5"], .rate5), (["v"], .review), (["e"], .explain), (["i"], .info),
        (["question", "F1"], .keys), (["t"], .filmstrip), (["s"], .slideshow), (["c"], .compare),
        (["p"], .pause), (["period"], .nextFrame), (["comma"], .previousFrame),
        (["r"], .turnRight), (["R"], .turnLeft), (["Ctrl+c"], .copy), (["o"], .openWith),
        (["Ctrl+p"], .print), (["b"], .wallpaper),
        (["Alt+1"], .move1), (["Alt+2"], .move2), (["Alt+3"], .move3), (["Alt+4"], .move4),
        (["Alt+5"], .move5), (["Alt+6"], .move6), (["Alt+7"], .move7), (["Alt+8"], .move8),
        (["Alt+9"], .move9), (["Ctrl+Alt+1"], .copy1), (["Ctrl+Alt+2"], .copy2),
        (["Ctrl+Alt+3"], .copy3), (["Ctrl+Alt+4"], .copy4), (["Ctrl+Alt+5"], .copy5),
        (["Ctrl+Alt+6"], .copy6), (["Ctrl+Alt+7"], .copy7), (["Ctrl+Alt+8"], .copy8),
        (["Ctrl+Alt+9"], .copy9),
    ]

    /// Returns the command of a key.
    package subscript(key: String) -> ViewerCommand? { commands[key] }

    /// Changes the table by the text of a file.
    ///
    /// On an error, nothing is changed.
    ///
    /// - Throws: ``ParseError``.
    package mutating func apply(_ text: String) throws(ParseError) {
        var changed = commands
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let line = Self.trimmed(line)
            if line.isEmpty || line.first == "#" { continue }
            // The key itself may be "=".
            guard let equals = line.dropFirst().firstIndex(of: "=") else {
                throw .malformedLine(index + 1, text: String(line))
            }
            let key = Self.trimmed(line[..<equals])
            let name = Self.trimmed(line[line.index(after: equals)...])
            guard !key.isEmpty, !key.contains(where: \.isWhitespace), !name.isEmpty else {
                throw .malformedLine(index + 1, text: String(line))
            }
            if name == "none" {
                changed[String(key)] = nil
            } else if let command = ViewerCommand(rawValue: String(name)) {
                changed[String(key)] = command
            } else {
                throw .unknownCommand(index + 1, name: String(name))
            }
        }
        commands = changed
    }

    /// The keys of each command that has any, in the order of the commands.
    package var help: [(keys: [String], command: ViewerCommand)] {
        let keys = Dictionary(grouping: commands.keys) { commands[$0] }
        return ViewerCommand.allCases.compactMap { command in
            keys[command].map { ($0.sorted { ($0.count, $0) < ($1.count, $1) }, command) }
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let end = text.lastIndex { !$0.isWhitespace }.map(text.index(after:)) ?? text.startIndex
        return text[..<end].drop(while: \.isWhitespace)
    }
}
