// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Glibc

/// The folder in which file managers share thumbnails.
///
/// - SeeAlso: Thumbnail Managing Standard, “Thumbnail directory”.
package struct ThumbnailCache: Sendable {
    /// A size of thumbnails: a subfolder, and the maximum length of the longer side.
    enum Size: String, CaseIterable, Sendable {
        case normal
        case large
        case xLarge = "x-large"
        case xxLarge = "xx-large"

        /// The maximum length of the longer side, in pixels.
        var side: Int {
            switch self {
            case .normal: 128
            case .large: 256
            case .xLarge: 512
            case .xxLarge: 1024
            }
        }
    }

    /// The absolute path.
    let folder: String

    /// Creates the cache at a path.
    init(folder: String) { self.folder = folder }

    /// Creates the cache of the user: `thumbnails` in `$XDG_CACHE_HOME`, or in `~/.cache`; fails if
    /// neither variable is set to an absolute path.
    package init?(ofUser environment: (String) -> String?) {
        // The base directory specification ignores relative paths.
        func absolute(_ name: String) -> String? {
            environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let home = absolute("HOME").map { "\($0)/.cache" }
        guard let cache = absolute("XDG_CACHE_HOME") ?? home else { return nil }
        folder = "\(cache)/thumbnails"
    }

    /// The path of a thumbnail.
    func path(of uri: FileURI, _ size: Size) -> String {
        "\(folder)/\(size.rawValue)/\(Self.name(of: uri))"
    }

    /// The path of the entry of a file that cannot be read.
    func failurePath(of uri: FileURI) -> String {
        "\(folder)/fail/calotype/\(Self.name(of: uri))"
    }

    /// Returns the path of the smallest valid thumbnail of a file; `nil` if there is none.
    package func thumbnail(of path: String) -> String? {
        guard let uri = FileURI(path), let identity = try? ThumbnailedFile(uri).identity else {
            return nil
        }
        return Size.allCases.lazy.map { self.path(of: uri, $0) }.first {
            isValid($0, for: identity)
        }
    }

    /// Returns whether an entry exists and belongs to this version of the file.
    func isValid(_ path: String, for identity: ThumbnailText) -> Bool {
        guard let bytes = try? EncodedBytes(mapping: path) else { return false }
        let text = bytes.withBytes { ThumbnailText(png: $0) }
        let hasEqualSize = text.values["Thumb::Size"].map { $0 == identity.values["Thumb::Size"] }
        return text.values["Thumb::URI"] == identity.values["Thumb::URI"]
            && text.values["Thumb::MTime"] == identity.values["Thumb::MTime"]
            && hasEqualSize ?? true
    }

    /// Writes an entry atomically, readable by its owner alone, as the folders are.
    ///
    /// - Throws: ``FileFailure`` with the error of the system.
    func write(_ entry: [UInt8], to path: String) throws(FileFailure) {
        try makeFolder(splitFolder(path).folder, mode: 0o700)
        do throws(CodecError) {
            try ImageDestination.write(privately: entry, to: path)
        } catch {
            throw FileFailure(path, error)
        }
    }

    private static func name(of uri: FileURI) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let digest = MD5.digest(Array(uri.text.utf8)).flatMap {
            [digits[Int($0 >> 4)], digits[Int($0 & 15)]]
        }
        return String(decoding: digest, as: UTF8.self) + ".png"
    }
}
