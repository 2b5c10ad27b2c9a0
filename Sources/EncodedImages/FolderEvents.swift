// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc

/// The changes in folders that the system reports (inotify).
package final class FolderEvents: Sendable {
    /// A change of a name in a folder.
    package struct Event: Sendable {
        /// The number that ``watch(_:)`` returned for the folder; -1 if events were lost.
        package let watch: Int32
        /// The name that was changed; `nil` for the folder itself.
        package let name: String?
        fileprivate let mask: UInt32

        /// Whether events were lost, so that all folders have to be listed again.
        package var isLoss: Bool { mask & UInt32(IN_Q_OVERFLOW) != 0 }
        /// Whether the name is that of a folder.
        package var isFolder: Bool { mask & UInt32(IN_ISDIR) != 0 }
        /// Whether the name exists after the event.
        package var exists: Bool {
            mask & UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE) != 0
        }
        /// Whether the folder is no longer watched, because it was removed.
        package var endsWatch: Bool { mask & UInt32(IN_IGNORED) != 0 }
    }

    /// The descriptor, which is readable when there are events; it is closed with this object.
    package let descriptor: Int32

    /// Fails if the system refuses, such as because a user has too many objects of this kind.
    package init?() {
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Watches the names in a folder.
    ///
    /// A file that is being written is reported when it is closed.
    ///
    /// - Parameters:
    ///   - folder: the path.
    ///   - includesFolders: whether new subfolders are reported when they are created, and files
    ///     whose modification times are set, as copying does once a file is complete.
    /// - Returns: the number of the folder; `nil` if the system refuses, such as because too many
    ///   folders are watched.
    package func watch(_ folder: String, includesFolders: Bool = false) -> Int32? {
        var events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR
        if includesFolders { events |= IN_CREATE | IN_ATTRIB }
        let number = unsafe inotify_add_watch(descriptor, folder, UInt32(events))
        return number >= 0 ? number : nil
    }

    /// Returns all events that have been reported, without waiting.
    ///
    /// Names that are hidden or invalid UTF-8 are omitted.
    package func events() -> [Event] {
        var events: [Event] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe read(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return events }
            Self.parse(buffer.span.extracting(first: count), &events)
        }
    }

    /// Parses `inotify_event` structures: watch, mask, cookie, length, name.
    private static func parse(_ bytes: Span<UInt8>, _ events: inout [Event]) {
        var offset = 0
        while let watch = bytes.integer(at: offset, byteCount: 4, .littleEndian),
            let mask = bytes.integer(at: offset + 4, byteCount: 4, .littleEndian),
            let length = bytes.integer(at: offset + 12, byteCount: 4, .littleEndian)
        {
            let field = (offset + 16..<min(bytes.count, offset + 16 + length)).map { bytes[$0] }
            offset += 16 + length
            let text = field.prefix { $0 != 0 }
            let name = String(validating: text, as: UTF8.self)
            guard text.isEmpty || name?.hasPrefix(".") == false else { continue }
            events.append(
                Event(
                    watch: Int32(truncatingIfNeeded: watch), name: text.isEmpty ? nil : name,
                    mask: UInt32(truncatingIfNeeded: mask)))
        }
    }
}
#endif
