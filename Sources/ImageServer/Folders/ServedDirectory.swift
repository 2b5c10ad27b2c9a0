// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import EncodedImages
internal import ImageLoading

/// The served folder, which resolves the names in URL paths to files.
///
/// A path is resolved once, with all symbolic links, and must then be inside the folder; callers open
/// the resolved path. All functions block on the disk.
struct ServedDirectory: Sendable {
    /// The absolute path without symbolic links, and without a trailing slash unless it is `/`.
    let path: String

    /// - Throws: ``ServerError/notAFolder(path:)``.
    init(_ path: String) throws(ServerError) {
        guard let resolved = Self.realPath(path), FileStatus(of: resolved)?.kind == .folder else {
            throw .notAFolder(path: path)
        }
        self.path = resolved
    }

    /// Finds a regular file.
    ///
    /// - Parameter segments: the names of folders and of the file.
    /// - Returns: the identity of the file.
    /// - Throws: ``ServerError/notFound`` for a path that is missing, outside, or no regular file.
    func original(_ segments: [String]) throws(ServerError) -> FileIdentity {
        let path = try resolve(segments)
        guard FileStatus(of: path)?.kind == .file, let identity = try? FileIdentity(path: path)
        else {
            throw .notFound
        }
        return identity
    }

    /// Finds a folder.
    ///
    /// - Parameter segments: the names of folders; none for the served folder itself.
    /// - Returns: the resolved path of the folder.
    /// - Throws: ``ServerError/notFound`` for a path that is missing, outside, or no folder.
    func folder(_ segments: [String]) throws(ServerError) -> String {
        let path = try resolve(segments)
        guard FileStatus(of: path)?.kind == .folder else { throw .notFound }
        return path
    }

    /// Returns the target of a symbolic link; `nil` if it is outside.
    func target(ofLink path: String) -> String? {
        Self.realPath(path).flatMap { contains($0) ? $0 : nil }
    }

    private func resolve(_ segments: [String]) throws(ServerError) -> String {
        let path = ([path == "/" ? "" : path] + segments).joined(separator: "/")
        guard let resolved = target(ofLink: path.isEmpty ? "/" : path) else { throw .notFound }
        return resolved
    }

    private func contains(_ resolved: String) -> Bool {
        // By bytes: `hasPrefix` accepts siblings with canonically equivalent names, and combines a
        // slash with a combining mark that follows it.
        resolved.hasSameBytes(as: path)
            || resolved.utf8.starts(with: (path == "/" ? "/" : path + "/").utf8)
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(validatingCString: resolved)
    }
}
