// SPDX-License-Identifier: Apache-2.0

internal import ImageLoading

/// The version of a file, whatever its path.
struct FileVersion: Hashable, Sendable {
    let byteCount: Int
    /// In nanoseconds since 1970.
    let modificationTime: Int
    let inode: UInt64

    init(byteCount: Int, modificationTime: Int, inode: UInt64) {
        self.byteCount = byteCount
        self.modificationTime = modificationTime
        self.inode = inode
    }

    init(_ identity: FileIdentity) {
        self.init(
            byteCount: identity.byteCount, modificationTime: identity.modificationTime,
            inode: identity.inode)
    }
}
