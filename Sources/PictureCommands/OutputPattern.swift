// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A path with placeholders, one of which each result fills in its own way.
struct OutputPattern: Hashable, Sendable {
    enum Placeholder: String, CaseIterable {
        /// The folder of the picture, `.` if its path names none.
        case dir
        /// The picture's file name without its extension.
        case name
        /// The size as it was asked for.
        case size
        /// The usual file name extension of the format that is written.
        case ext
    }

    private enum Piece: Hashable {
        case text(String)
        case placeholder(Placeholder)
    }

    private let pieces: [Piece]

    /// - Parameter text: a path with `{dir}`, `{name}`, `{size}` and `{ext}`; if it ends in a slash,
    ///   `{name}.{ext}` is meant to follow.
    /// - Throws: `ValidationError` for another word in braces.
    init(parsing text: String) throws {
        var pieces: [Piece] = []
        var rest = Substring(text.hasSuffix("/") ? text + "{name}.{ext}" : text)
        while let start = rest.firstIndex(of: "{") {
            let after = rest[rest.index(after: start)...]
            guard let end = after.firstIndex(of: "}"),
                let placeholder = Placeholder(rawValue: String(after[..<end]))
            else {
                let known = Placeholder.allCases.map { "{\($0.rawValue)}" }
                throw ValidationError(
                    "what stands in braces is one of \(known.joined(separator: " "))")
            }
            pieces += [.text(String(rest[..<start])), .placeholder(placeholder)]
            rest = after[after.index(after: end)...]
        }
        self.pieces = pieces + [.text(String(rest))]
    }

    /// The extension that every result gets whatever its format; `nil` if the pattern leaves it open.
    var fixedExtension: String? {
        guard case .text(let end)? = pieces.last else { return nil }
        // In `{name}.jpg` the text begins with the extension, before which the name is to stand.
        return splitExtension(pieces.count > 1 ? "name" + end : end).fileExtension
    }

    func path(for input: String, size: String, fileExtension: String) -> String {
        let (folder, file) = splitFolder(input)
        return pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .placeholder(.dir): folder
            case .placeholder(.name): splitExtension(file).name
            case .placeholder(.size): size
            case .placeholder(.ext): fileExtension
            }
        }.joined()
    }
}

// Slashes and dots are looked for among bytes: a name may begin with a combining mark, which makes one
// character of the slash and itself.

/// A path's folder, `.` if it names none, and the name in it.
func splitFolder(_ path: String) -> (folder: String, file: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let folder = slash == path.startIndex ? "/" : String(path[..<slash])
    return (folder, String(path[path.utf8.index(after: slash)...]))
}

/// A file's name and its extension; a dot at the start of a name begins no extension.
func splitExtension(_ path: String) -> (name: String, fileExtension: String?) {
    let bytes = path.utf8
    let fileStart =
        bytes.lastIndex(of: UInt8(ascii: "/")).map(bytes.index(after:)) ?? bytes.startIndex
    guard let dot = bytes[fileStart...].lastIndex(of: UInt8(ascii: ".")), dot > fileStart,
        bytes.index(after: dot) < bytes.endIndex
    else { return (path, nil) }
    return (String(path[..<dot]), String(path[bytes.index(after: dot)...]))
}
