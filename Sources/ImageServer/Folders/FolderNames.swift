// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// The served names in a folder, unordered; names that are not UTF-8 are omitted.
struct FolderNames {
    var folders: [String] = []
    /// The files with the extension of an image format.
    var images: [String] = []
    /// The resolved targets of the names that are symbolic links.
    var targets: [ComparedByBytes: String] = [:]

    /// Reads a folder without opening its files; fails if it is unreadable.
    ///
    /// - Parameters:
    ///   - path: the resolved path of the folder.
    ///   - directory: the served folder; links to targets outside are omitted.
    ///   - extensions: the file name extensions of images in lower case.
    init?(_ path: String, in directory: ServedDirectory, extensions: Set<String>) {
        let isRead = FolderEntry.forEach(in: path) { entry in
            let name = entry.name
            guard RequestPath.isServed(name) else { return }
            switch entry.kind {
            case .file: add(name, .file, extensions)
            case .folder: add(name, .folder, extensions)
            case .link, .unknown:
                guard let target = directory.target(ofLink: "\(path)/\(name)"),
                    let kind = FileStatus(of: target)?.kind
                else { return }
                if entry.kind == .link { targets[ComparedByBytes(name)] = target }
                add(name, kind, extensions)
            case .other: break
            }
        }
        guard isRead else { return nil }
    }

    private mutating func add(_ name: String, _ kind: FileStatus.Kind, _ extensions: Set<String>) {
        switch kind {
        case .folder: folders.append(name)
        case .file where Self.isImageName(name, extensions): images.append(name)
        case .file, .other: break
        }
    }

    private static func isImageName(_ name: String, _ extensions: Set<String>) -> Bool {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
        return extensions.contains(name[name.utf8.index(after: dot)...].lowercased())
    }
}
