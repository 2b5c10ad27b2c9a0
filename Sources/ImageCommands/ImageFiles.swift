// SPDX-License-Identifier: Apache-2.0

package import EncodedImages
internal import Glibc

/// An input of a batch.
package struct InputFile: Hashable, Sendable {
    @ComparedByBytes package var path: String
    /// The folder below the one on the command line that contains the file, with a slash at its end;
    /// empty for files that were named.
    package let subfolder: String
}

/// Finds the input files of a batch.
///
/// Files are accepted whatever their names are, but in folders only those with the extension of an
/// image format. Hidden files are skipped, and symbolic links to folders are not followed.
package struct InputFiles {
    /// The file name extensions of images in lower case.
    let extensions: Set<String>
    /// Whether folders are accepted.
    let isRecursive: Bool

    package init(_ codecs: CodecSet, isRecursive: Bool) {
        extensions = Set(codecs.codecs.flatMap(\.format.extensions).map { $0.lowercased() })
        self.isRecursive = isRecursive
    }

    /// Returns the files of a command line in order, those of folders sorted by their names.
    ///
    /// - Parameter paths: files and folders.
    /// - Returns: for each file its path, or the reason why a path has no files.
    package func find(_ paths: [String]) -> [Result<InputFile, FileFailure>] {
        var results: [Result<InputFile, FileFailure>] = []
        for path in paths {
            guard isFolder(path) else {
                results.append(.success(InputFile(path: path, subfolder: "")))
                continue
            }
            guard isRecursive else {
                let reason = "is a folder; use --recursive for the images in it"
                results.append(.failure(FileFailure(path, reason)))
                continue
            }
            let count = results.count
            addFiles(of: path.hasSuffix("/") ? String(path.dropLast()) : path, "", to: &results)
            if results.count == count {
                results.append(.failure(FileFailure(path, "no images in the folder")))
            }
        }
        return results
    }

    private func addFiles(
        of folder: String, _ subfolder: String, to results: inout [Result<InputFile, FileFailure>]
    ) {
        var entries: [(name: String, isFolder: Bool)] = []
        let isRead = FolderEntry.forEach(in: folder.isEmpty ? "/" : folder) { entry in
            guard let isFolder = isListedFolder(entry, in: folder) else { return }
            entries.append((entry.name, isFolder))
        }
        guard isRead else {
            results.append(.failure(FileFailure(folder.isEmpty ? "/" : folder, lastSystemError())))
            return
        }
        entries.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for (name, isFolder) in entries {
            let path = "\(folder)/\(name)"
            if isFolder {
                addFiles(of: path, "\(subfolder)\(name)/", to: &results)
            } else if let suffix = splitExtension(name).fileExtension,
                extensions.contains(suffix.lowercased())
            {
                results.append(.success(InputFile(path: path, subfolder: subfolder)))
            }
        }
    }

    /// Returns whether an entry is a folder; `nil` if it is neither a file nor a folder, and for
    /// symbolic links to folders.
    private func isListedFolder(_ entry: FolderEntry, in folder: String) -> Bool? {
        switch entry.kind {
        case .file: return false
        case .folder: return true
        case .link, .unknown:
            var status = stat()
            guard unsafe stat("\(folder)/\(entry.name)", &status) == 0 else { return nil }
            let kind = status.st_mode & S_IFMT
            if kind == S_IFREG { return false }
            return kind == S_IFDIR && entry.kind == .unknown ? true : nil
        case .other: return nil
        }
    }
}

/// Returns whether a path is that of a folder, or of a symbolic link to one.
package func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}
