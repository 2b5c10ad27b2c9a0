// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// An input of a batch.
struct InputFile: Hashable, Sendable {
    @ComparedByBytes var path: String
    /// The folder below the one on the command line that contains the file, with a slash at its end;
    /// empty for files that were named.
    let subfolder: String
}

/// Finds the input files of a batch.
///
/// Files are accepted whatever their names are, but in folders only those with the extension of an
/// image format. Hidden files are skipped, and symbolic links to folders are not followed.
struct InputFiles {
    /// The file name extensions of images in lower case.
    let extensions: Set<String>
    /// Whether folders are accepted.
    let isRecursive: Bool

    init(_ codecs: CodecSet, isRecursive: Bool) {
        extensions = Set(codecs.codecs.flatMap(\.format.extensions).map { $0.lowercased() })
        self.isRecursive = isRecursive
    }

    /// Returns the files of a command line in order, those of folders sorted by their names.
    ///
    /// - Parameter paths: files and folders.
    /// - Returns: for each file its path, or the reason why a path has no files.
    func find(_ paths: [String]) -> [Result<InputFile, FileFailure>] {
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
        let entries: [FolderEntry]
        do throws(FileFailure) {
            entries = try FolderEntry.entries(of: folder.isEmpty ? "/" : folder)
        } catch {
            results.append(.failure(error))
            return
        }
        for entry in entries {
            let path = "\(folder)/\(entry.name)"
            if entry.isFolder {
                addFiles(of: path, "\(subfolder)\(entry.name)/", to: &results)
            } else if let suffix = splitExtension(entry.name).fileExtension,
                extensions.contains(suffix.lowercased())
            {
                results.append(.success(InputFile(path: path, subfolder: subfolder)))
            }
        }
    }
}

/// Returns whether a path is that of a folder, or of a symbolic link to one.
func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

/// A file or a folder in a folder.
private struct FolderEntry {
    let name: String
    let isFolder: Bool

    /// Lists the entries that are not hidden, sorted by the bytes of their names.
    ///
    /// - Throws: ``FileFailure`` with the error of the system.
    static func entries(of folder: String) throws(FileFailure) -> [FolderEntry] {
        guard let stream = unsafe opendir(folder) else {
            throw FileFailure(folder, lastSystemError())
        }
        defer { unsafe _ = closedir(stream) }
        var entries: [FolderEntry] = []
        while let entry = unsafe readdir(stream) {
            // By offset: the name may be longer than the declared size of the field.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let start = unsafe UnsafeRawPointer(entry).advanced(by: offset)
            // Names that are not UTF-8 cannot be printed or passed on.
            guard
                let name = unsafe String(
                    validatingCString: start.assumingMemoryBound(to: CChar.self)),
                !name.hasPrefix(".")
            else { continue }
            let type = unsafe Int(entry.pointee.d_type)
            switch type {
            case Int(DT_REG): entries.append(FolderEntry(name: name, isFolder: false))
            case Int(DT_DIR): entries.append(FolderEntry(name: name, isFolder: true))
            case Int(DT_LNK), Int(DT_UNKNOWN):
                var status = stat()
                guard unsafe stat("\(folder)/\(name)", &status) == 0 else { continue }
                let kind = status.st_mode & S_IFMT
                if kind == S_IFREG || kind == S_IFDIR && type == Int(DT_UNKNOWN) {
                    entries.append(FolderEntry(name: name, isFolder: kind == S_IFDIR))
                }
            default: continue
            }
        }
        return entries.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
