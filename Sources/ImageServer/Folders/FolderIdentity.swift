// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The identity of a state of a folder; it changes when a name is added, removed or renamed.
struct FolderIdentity: Hashable {
    let device: UInt64
    let inode: UInt64
    /// The modification time in nanoseconds since 1970.
    let modificationTime: Int

    /// Fails if there is no folder at `path`.
    init?(_ path: String) {
        guard let status = FileStatus(of: path), status.kind == .folder else { return nil }
        device = status.device
        inode = status.inode
        modificationTime = status.modificationTime
    }

    /// Whether the next change is certain to change the modification time.
    ///
    /// The clocks of file systems are coarse, some with ticks of two seconds. A name that is added in
    /// the tick in which the folder was read does not change the modification time.
    var isSettled: Bool {
        Int(time(nil)) - modificationTime / 1_000_000_000 > 2
    }

    /// Whether both are states of the same folder.
    func isSameFolder(as other: FolderIdentity) -> Bool {
        device == other.device && inode == other.inode
    }
}
