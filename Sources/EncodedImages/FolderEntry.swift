// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A name in a folder.
package struct FolderEntry {
    /// The type of an entry, without following symbolic links.
    package enum Kind {
        case file, folder, link
        /// The file system does not store types with names.
        case unknown
        case other
    }

    package let name: String
    package let kind: Kind

    /// Calls `body` for each entry of a folder, unordered, without opening its files.
    ///
    /// Hidden names, `.` and `..` are omitted, as are names that are not UTF-8: they cannot be
    /// printed or passed on.
    ///
    /// - Returns: `false` if the folder cannot be opened; `errno` contains the error.
    package static func forEach(in folder: String, _ body: (FolderEntry) -> Void) -> Bool {
        guard let stream = unsafe opendir(folder) else { return false }
        defer { unsafe _ = closedir(stream) }
        while let entry = unsafe readdir(stream) {
            // By offset: the name may be longer than the declared size of the field.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let start = unsafe UnsafeRawPointer(entry).advanced(by: offset)
            guard
                let name = unsafe String(
                    validatingCString: start.assumingMemoryBound(to: CChar.self)),
                !name.hasPrefix(".")
            else { continue }
            body(FolderEntry(name: name, kind: unsafe Kind(Int(entry.pointee.d_type))))
        }
        return true
    }
}

extension FolderEntry.Kind {
    fileprivate init(_ type: Int) {
        switch type {
        case Int(DT_REG): self = .file
        case Int(DT_DIR): self = .folder
        case Int(DT_LNK): self = .link
        case Int(DT_UNKNOWN): self = .unknown
        default: self = .other
        }
    }
}
