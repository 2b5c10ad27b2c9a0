// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import EncodedImages
internal import ImageLoading
internal import Logging
internal import Synchronization

/// The served folder, which resolves the names in URL paths to files.
///
/// A path is resolved once, with all symbolic links, and must then be inside the folder, unless links
/// out of it are followed; callers open the resolved path. All functions block on the disk.
struct ServedDirectory: Sendable {
    /// The absolute path without symbolic links, and without a trailing slash unless it is `/`.
    let path: String
    private let followsLinks: Bool
    private let ignoredLinks: IgnoredLinks

    /// - Parameters:
    ///   - path: the path of the folder.
    ///   - followsLinks: whether symbolic links may lead out of the folder.
    ///   - logger: receives one line at `warning` for each link that does and is ignored.
    /// - Throws: ``ServerError/notAFolder(path:)``.
    init(
        _ path: String, followsLinks: Bool = false, logger: Logger? = nil
    ) throws(ServerError) {
        guard let resolved = Self.realPath(path), FileStatus(of: resolved)?.kind == .folder else {
            throw .notAFolder(path: path)
        }
        self.path = resolved
        self.followsLinks = followsLinks
        ignoredLinks = IgnoredLinks(logger: logger)
    }

    /// Finds a regular file.
    ///
    /// - Parameter segments: the names of folders and of the file.
    /// - Returns: the identity of the file.
    /// - Throws: ``ServerError/notFound`` for a path that is missing, outside, or no regular file.
    func original(_ segments: [String]) throws(ServerError) -> FileIdentity {
        let path = try resolve(segments)
        guard let identity = try? FileIdentity(path: path) else { throw .notFound }
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

    /// Returns the target of a symbolic link; `nil` if it is missing, or outside and not followed.
    func target(ofLink path: String) -> String? {
        guard let target = Self.realPath(path) else { return nil }
        if followsLinks || contains(target) { return target }
        ignoredLinks.add(path)
        return nil
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

/// Logs the links out of the served folder, each once.
///
/// Lock: held for a table lookup.
private final class IgnoredLinks: Sendable {
    /// Further links are not logged.
    private static let maximumCount = 1_000

    private let logger: Logger?
    private let known = Mutex(Set<ComparedByBytes>())

    init(logger: Logger?) { self.logger = logger }

    func add(_ path: String) {
        guard let logger else { return }
        let isNew = known.withLock {
            $0.count < Self.maximumCount && $0.insert(ComparedByBytes(path)).inserted
        }
        guard isNew else { return }
        logger.warning(
            "ignored a symbolic link out of the served folder; --follow-links follows it",
            metadata: ["link": "\(path)"])
    }
}
