// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

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
        guard let stream = unsafe opendir(path) else { return nil }
        defer { unsafe _ = closedir(stream) }
        while let entry = unsafe readdir(stream) {
            let type = unsafe Int(entry.pointee.d_type)
            // By offset: the name may be longer than the declared size of the field.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let start = unsafe UnsafeRawPointer(entry).advanced(by: offset)
            guard
                let name = unsafe String(
                    validatingCString: start.assumingMemoryBound(to: CChar.self)),
                RequestPath.isServed(name)
            else { continue }
            switch type {
            case Int(DT_REG): add(name, .file, extensions)
            case Int(DT_DIR): add(name, .folder, extensions)
            case Int(DT_LNK), Int(DT_UNKNOWN):
                guard let target = directory.target(ofLink: "\(path)/\(name)"),
                    let kind = FileStatus(of: target)?.kind
                else { continue }
                if type == Int(DT_LNK) { targets[ComparedByBytes(name)] = target }
                add(name, kind, extensions)
            default: continue
            }
        }
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
