// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
public import EncodedImages
public import LoadScheduling
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Which original a file is: a file that changes becomes another original.
public struct FileIdentity: Hashable, Sendable, Codable {
    @ComparedByBytes public private(set) var path: String
    public let byteCount: Int
    /// The time of the last change in nanoseconds since 1970; one beyond what fits, in the year 2262,
    /// is the last that does.
    public let modificationTime: Int
    public let inode: UInt64

    /// Looks at the file that `path` leads to, through links.
    ///
    /// - Throws: ``LoadError/notFound(path:)`` or ``LoadError/unreadable(path:reason:)``; the latter
    ///   also for what is no regular file.
    public init(path: String) throws(LoadError) {
        var status = stat()
        // A name with a NUL in it would be cut there by the system and mean another file.
        guard !path.utf8.contains(0) else { throw .notFound(path: path) }
        guard unsafe stat(path, &status) == 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { throw .notFound(path: path) }
            throw .unreadable(path: path, reason: systemError(code))
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .unreadable(path: path, reason: "not a regular file")
        }
        self.path = path
        byteCount = Int(status.st_size)
        modificationTime = nanoseconds(
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        inode = UInt64(status.st_ino)
    }

    /// 13 characters that change whenever the original changes, the same in every run.
    ///
    /// The path is not part of them, so that a link can carry both.
    public var version: String {
        var hash = StableHash()
        hash.combine(UInt64(bitPattern: Int64(byteCount)))
        hash.combine(UInt64(bitPattern: Int64(modificationTime)))
        hash.combine(inode)
        let digits = String(hash.value, radix: 36)
        return String(repeating: "0", count: 13 - digits.count) + digits
    }
}
