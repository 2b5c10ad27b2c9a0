// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

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

    private let events: FolderEvents

    /// The descriptor, which is readable when there are changes; it is closed with this object.
    package var descriptor: Int32 { events.descriptor }

    /// Watches a folder; fails if the system refuses, such as because too many folders are watched.
    package init?(_ folder: String) {
        guard let events = FolderEvents(), events.watch(folder) != nil else { return nil }
        self.events = events
    }

    /// Returns all changes that have been reported, without waiting.
    ///
    /// Names that are hidden or invalid UTF-8 are omitted.
    package func changes() -> Changes {
        var exists: [ComparedByBytes: Bool] = [:]
        var changes = Changes()
        for event in events.events() {
            if event.isLoss { changes.isIncomplete = true }
            guard let name = event.name, !event.isFolder else { continue }
            exists[ComparedByBytes(name)] = event.exists
        }
        let names = exists.sorted { $0.key.wrappedValue < $1.key.wrappedValue }
        changes.written = names.filter(\.value).map(\.key.wrappedValue)
        changes.removed = names.filter { !$0.value }.map(\.key.wrappedValue)
        return changes
    }
}
