// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
// Includes the same header, and may be taken for the module that declares `stat`.
internal import CNIOLinux
internal import Glibc
#else
internal import Darwin
#endif
internal import EncodedImages

/// The status of a file or folder; symbolic links are followed.
struct FileStatus {
    /// The type of the file.
    enum Kind {
        case file, folder, other
    }

    let kind: Kind
    let device: UInt64
    let inode: UInt64
    let byteCount: Int
    /// The modification time in nanoseconds since 1970.
    let modificationTime: Int

    /// Calls `stat`; fails if there is no file at `path`.
    init?(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Calls `fstat`.
    init?(ofOpenFile descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        #if canImport(Glibc)
        let time = status.st_mtim
        #else
        let time = status.st_mtimespec
        #endif
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(status.st_ino)
        byteCount = Int(status.st_size)
        modificationTime = nanoseconds(seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec))
    }
}
