// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
public import EncodedImages
public import LoadScheduling
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Identifies a version of a file: a file that changes has another identity.
public struct FileIdentity: Hashable, Sendable, Codable {
    /// The path as it was passed to ``init(path:)``.
    @ComparedByBytes public private(set) var path: String
    /// The size of the file in bytes.
    public let byteCount: Int
    /// The time of the last change in nanoseconds since 1970, clamped to the range of `Int`, which
    /// ends in the year 2262.
    public let modificationTime: Int
    /// The number of the file in its file system.
    public let inode: UInt64

    /// Reads the status of the file at `path`, following links; blocks.
    ///
    /// - Throws: `LoadError/notFound(path:)` or `LoadError/unreadable(path:reason:)`, the latter
    ///   also if it is not a regular file.
    public init(path: String) throws(LoadError) {
        var status = stat()
        // The system would truncate a path at a NUL byte, and open another file.
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

    /// The identity that was stored when the status of the file was read.
    package init(path: String, byteCount: Int, modificationTime: Int, inode: UInt64) {
        self.path = path
        self.byteCount = byteCount
        self.modificationTime = modificationTime
        self.inode = inode
    }

    /// A version string of 13 characters that changes whenever the file changes; stable across runs.
    ///
    /// It does not depend on the path.
    public var version: String {
        var hash = StableHash()
        hash.combine(UInt64(bitPattern: Int64(byteCount)))
        hash.combine(UInt64(bitPattern: Int64(modificationTime)))
        hash.combine(inode)
        let digits = String(hash.value, radix: 36)
        return String(repeating: "0", count: 13 - digits.count) + digits
    }
}
