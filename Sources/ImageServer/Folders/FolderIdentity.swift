// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Which state of which folder was read; it changes when a name is added, removed or changed.
struct FolderIdentity: Hashable {
    let device: UInt64
    let inode: UInt64
    /// Nanoseconds since 1970.
    let modificationTime: Int

    /// `nil` if there is no folder at `path`.
    init?(_ path: String) {
        guard let status = FileStatus(of: path), status.kind == .folder else { return nil }
        device = status.device
        inode = status.inode
        modificationTime = status.modificationTime
    }

    /// Whether the next change will certainly bring another modification time.
    ///
    /// File systems stamp files with a clock that ticks seldom, some every two seconds, so a name
    /// that is added in the tick in which the folder was read leaves no trace.
    var isSettled: Bool {
        Int(time(nil)) - modificationTime / 1_000_000_000 > 2
    }

    func isSameFolder(as other: FolderIdentity) -> Bool {
        device == other.device && inode == other.inode
    }
}
