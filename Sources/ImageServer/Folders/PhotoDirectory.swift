// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import EncodedImages
internal import ImageLoading

/// The folder that is served, and the only way from an address to a file.
///
/// A path is resolved once, through every symbolic link, and must then still be inside the folder;
/// whoever asks gets the resolved path and opens that. All calls wait for the disk.
struct PhotoDirectory: Sendable {
    /// Absolute, without symbolic links and without a slash at the end unless it is `/`.
    let path: String

    /// - Throws: ``ServerError/notAFolder(path:)``.
    init(_ path: String) throws(ServerError) {
        guard let resolved = Self.realPath(path), FileStatus(of: resolved)?.kind == .folder else {
            throw .notAFolder(path: path)
        }
        self.path = resolved
    }

    /// The picture, or any other ordinary file, with these names of folders and its own.
    ///
    /// - Throws: ``ServerError/notFound``, equally for what is missing, outside, or no file.
    func original(_ segments: [String]) throws(ServerError) -> FileIdentity {
        let path = try resolve(segments)
        guard FileStatus(of: path)?.kind == .file, let identity = try? FileIdentity(path: path)
        else {
            throw .notFound
        }
        return identity
    }

    /// The resolved path of a folder; of this one itself for no names.
    ///
    /// - Throws: ``ServerError/notFound``, equally for what is missing, outside, or no folder.
    func folder(_ segments: [String]) throws(ServerError) -> String {
        let path = try resolve(segments)
        guard FileStatus(of: path)?.kind == .folder else { throw .notFound }
        return path
    }

    /// Where a symbolic link leads, if that is inside.
    func target(ofLink path: String) -> String? {
        Self.realPath(path).flatMap { contains($0) ? $0 : nil }
    }

    private func resolve(_ segments: [String]) throws(ServerError) -> String {
        let path = ([path == "/" ? "" : path] + segments).joined(separator: "/")
        guard let resolved = target(ofLink: path.isEmpty ? "/" : path) else { throw .notFound }
        return resolved
    }

    private func contains(_ resolved: String) -> Bool {
        // By bytes: `hasPrefix` takes a sibling of an equivalent name for this folder, and a name
        // that begins with a combining mark for a part of the slash before it.
        resolved.hasSameBytes(as: path)
            || resolved.utf8.starts(with: (path == "/" ? "/" : path + "/").utf8)
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(validatingCString: resolved)
    }
}
