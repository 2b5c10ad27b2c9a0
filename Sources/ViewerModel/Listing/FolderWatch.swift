// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import EncodedImages
internal import Glibc

/// Reports the files of a folder that other programs create, change, rename or delete.
package final class FolderWatch: Sendable {
    /// The changes since the last call of ``FolderWatch/changes()``, at most one for each name.
    package struct Changes: Equatable, Sendable {
        /// The files that were written or moved into the folder.
        package var written: [String] = []
        /// The files that were deleted or moved away.
        package var removed: [String] = []
        /// Whether changes were lost, so that the folder has to be listed again.
        package var isIncomplete = false

        package init() {}
    }

    /// The descriptor, which is readable when there are changes; it is closed with this object.
    package let descriptor: Int32

    /// Watches a folder; fails if the system refuses, such as because too many folders are watched.
    package init?(_ folder: String) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        // A file that is being written is reported when it is closed.
        let events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR
        guard unsafe inotify_add_watch(descriptor, folder, UInt32(events)) >= 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// Returns all changes that have been reported, without waiting.
    ///
    /// Names that are hidden or invalid UTF-8 are omitted.
    package func changes() -> Changes {
        var exists: [ComparedByBytes: Bool] = [:]
        var changes = Changes()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe read(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { break }
            Self.parse(buffer.span.extracting(first: count), &exists, &changes)
        }
        let names = exists.sorted { $0.key.wrappedValue < $1.key.wrappedValue }
        changes.written = names.filter(\.value).map(\.key.wrappedValue)
        changes.removed = names.filter { !$0.value }.map(\.key.wrappedValue)
        return changes
    }

    /// Parses `inotify_event` structures: watch, mask, cookie, length, name.
    private static func parse(
        _ bytes: Span<UInt8>, _ exists: inout [ComparedByBytes: Bool], _ changes: inout Changes
    ) {
        var offset = 0
        while let mask = bytes.integer(at: offset + 4, byteCount: 4, .littleEndian),
            let length = bytes.integer(at: offset + 12, byteCount: 4, .littleEndian)
        {
            let field = (offset + 16..<min(bytes.count, offset + 16 + length)).map { bytes[$0] }
            offset += 16 + length
            if mask & Int(IN_Q_OVERFLOW) != 0 { changes.isIncomplete = true }
            guard mask & Int(IN_ISDIR) == 0,
                let name = String(validating: field.prefix { $0 != 0 }, as: UTF8.self),
                !name.isEmpty, !name.hasPrefix(".")
            else { continue }
            exists[ComparedByBytes(name)] = mask & Int(IN_CLOSE_WRITE | IN_MOVED_TO) != 0
        }
    }
}
#endif
