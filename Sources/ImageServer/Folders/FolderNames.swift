// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The names in a folder that are served, in no order; those that are not UTF-8, which no address can
/// name, are not.
struct FolderNames {
    var folders: [String] = []
    /// Files that look like pictures by their extension.
    var pictures: [String] = []
    /// Where those of the names lead that are symbolic links.
    var targets: [ComparedByBytes: String] = [:]

    /// Reads a folder without opening any of its files; `nil` if that is impossible.
    ///
    /// - Parameters:
    ///   - path: the folder's resolved path.
    ///   - directory: what links may lead into.
    ///   - extensions: file name extensions of pictures, in lower case.
    init?(_ path: String, in directory: PhotoDirectory, extensions: Set<String>) {
        guard let stream = unsafe opendir(path) else { return nil }
        defer { unsafe _ = closedir(stream) }
        while let entry = unsafe readdir(stream) {
            let type = unsafe Int(entry.pointee.d_type)
            // As a closure on the pointer: the name may be longer than the field's declared size.
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
        case .file where Self.looksLikePicture(name, extensions): pictures.append(name)
        case .file, .other: break
        }
    }

    private static func looksLikePicture(_ name: String, _ extensions: Set<String>) -> Bool {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
        return extensions.contains(name[name.utf8.index(after: dot)...].lowercased())
    }
}
