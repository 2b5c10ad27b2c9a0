// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The `file:` URI of a local file, escaped as file managers do, because thumbnails are found by it.
///
/// File names are bytes, which may be invalid UTF-8.
/// - SeeAlso: RFC 8089, and `g_filename_to_uri` of GLib, which escapes the same characters.
package struct FileURI: Hashable, Sendable {
    /// The absolute path.
    package let path: [UInt8]

    /// Reads a `file:` URI or a path; fails for a URI that is invalid or refers to another host or
    /// scheme.
    ///
    /// - Parameters:
    ///   - argument: A URI, an absolute path, or a path relative to `folder`.
    ///   - folder: The absolute path of the working directory.
    package init?(_ argument: [UInt8], relativeTo folder: [UInt8]) {
        if argument.starts(with: Array("file:".utf8)) {
            guard let path = Self.decodedPath(argument.dropFirst(5)) else { return nil }
            self.path = path
            return
        }
        guard !argument.isEmpty, !Self.hasScheme(argument) else { return nil }
        let slash = UInt8(ascii: "/")
        let absolute = argument.first == slash ? argument : folder + [slash] + argument
        // As file managers name it; symbolic links stay.
        var names: [ArraySlice<UInt8>] = []
        for name in absolute.split(separator: slash) {
            switch Array(name) {
            case [UInt8(ascii: ".")]: break
            case [UInt8(ascii: "."), UInt8(ascii: ".")]: _ = names.popLast()
            default: names.append(name)
            }
        }
        path = names.flatMap { [slash] + $0 }
    }

    /// Reads a path relative to the working directory of the process, or a URI.
    package init?(_ argument: String) {
        self.init(Array(argument.utf8), relativeTo: workingDirectory())
    }

    /// The escaped URI.
    package var text: String {
        path.reduce(into: "file://") { text, byte in
            if Self.isKept(byte) {
                text.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }

    private static func isKept(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!$&'()*+,-./:=@_~".utf8.contains(byte)
        }
    }

    /// Whether an argument is a URI of any scheme with an authority.
    private static func hasScheme(_ argument: [UInt8]) -> Bool {
        guard let colon = argument.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let isName = argument[..<colon].allSatisfy { isKept($0) && $0 != UInt8(ascii: "/") }
        return isName && argument[colon...].starts(with: Array("://".utf8))
    }

    /// Returns the absolute path of the part of a URI after its scheme.
    private static func decodedPath(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = text
        if rest.starts(with: Array("//".utf8)) {
            let host = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
            guard host.isEmpty || host.elementsEqual("localhost".utf8) else { return nil }
            rest = rest.dropFirst(2 + host.count)
        }
        guard rest.first == UInt8(ascii: "/") else { return nil }
        var path: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                path.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(),
                let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16),
                high != UInt8(ascii: "+")
            else { return nil }
            path.append(value)
        }
        return path.contains(0) ? nil : path
    }
}

/// Returns the absolute path of the working directory; `/` if it was removed.
func workingDirectory() -> [UInt8] {
    guard let path = unsafe getcwd(nil, 0) else { return [UInt8(ascii: "/")] }
    defer { unsafe free(path) }
    return unsafe Array(UnsafeBufferPointer(start: path, count: strlen(path)))
        .map(UInt8.init(bitPattern:))
}
