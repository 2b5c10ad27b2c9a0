// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The pattern of output paths, with placeholders that are replaced for each input.
struct OutputPattern: Hashable, Sendable {
    enum Placeholder: String, CaseIterable {
        /// The folder of the input; `.` if its path has no folder.
        case dir
        /// The file name of the input without its extension.
        case name
        /// The folder of the input below the one that `--recursive` was used for, with a slash at its
        /// end; empty for files that were named.
        case subfolder
        /// The value of `--size`.
        case size
        /// The preferred extension of the output format.
        case ext
    }

    private enum Piece: Hashable {
        case text(String)
        case placeholder(Placeholder)
    }

    private let pieces: [Piece]

    /// Parses a pattern.
    ///
    /// - Parameter text: A path with any placeholders. `{subfolder}{name}.{ext}` is appended to a path
    ///   that ends in a slash or is that of an existing folder.
    /// - Throws: `ValidationError` for an unknown placeholder or a brace that is not closed.
    init(parsing text: String) throws {
        var pieces: [Piece] = []
        let folder = text.hasSuffix("/") ? text : isFolder(text) ? text + "/" : nil
        var rest = Substring(folder.map { $0 + "{subfolder}{name}.{ext}" } ?? text)
        while let start = rest.firstIndex(of: "{") {
            let after = rest[rest.index(after: start)...]
            guard let end = after.firstIndex(of: "}"),
                let placeholder = Placeholder(rawValue: String(after[..<end]))
            else {
                let known = Placeholder.allCases.map { "{\($0.rawValue)}" }
                throw ValidationError(
                    "invalid placeholder in \(text); use \(known.joined(separator: ", "))")
            }
            pieces += [.text(String(rest[..<start])), .placeholder(placeholder)]
            rest = after[after.index(after: end)...]
        }
        self.pieces = pieces + [.text(String(rest))]
    }

    /// The literal extension of the pattern; `nil` if it has none or ends with a placeholder.
    var fixedExtension: String? {
        guard case .text(let end)? = pieces.last else { return nil }
        // In `{name}.jpg` the last piece is `.jpg`, which alone would be a name without extension.
        return splitExtension(pieces.count > 1 ? "name" + end : end).fileExtension
    }

    /// Replaces the placeholders for an input.
    func path(for input: InputFile, size: String, fileExtension: String) -> String {
        let (folder, file) = splitFolder(input.path)
        return pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .placeholder(.dir): folder
            case .placeholder(.subfolder): input.subfolder
            case .placeholder(.name): splitExtension(file).name
            case .placeholder(.size): size
            case .placeholder(.ext): fileExtension
            }
        }.joined()
    }
}

// Slashes and dots are searched as bytes: a combining mark at the start of a name forms one
// `Character` with the slash before it.

/// Splits a path into its folder, `.` if it has none, and the file name.
package func splitFolder(_ path: String) -> (folder: String, file: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let folder = slash == path.startIndex ? "/" : String(path[..<slash])
    return (folder, String(path[path.utf8.index(after: slash)...]))
}

/// Splits a path into the part before the extension and the extension; `.hidden` has no extension.
package func splitExtension(_ path: String) -> (name: String, fileExtension: String?) {
    let bytes = path.utf8
    let fileStart =
        bytes.lastIndex(of: UInt8(ascii: "/")).map(bytes.index(after:)) ?? bytes.startIndex
    guard let dot = bytes[fileStart...].lastIndex(of: UInt8(ascii: ".")), dot > fileStart,
        bytes.index(after: dot) < bytes.endIndex
    else { return (path, nil) }
    return (String(path[..<dot]), String(path[bytes.index(after: dot)...]))
}
