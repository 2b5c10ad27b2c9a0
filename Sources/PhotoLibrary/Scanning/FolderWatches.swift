// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import EncodedImages
internal import Synchronization

/// The folders of a library that have changed since they were listed.
///
/// Lock: held for table lookups.
final class FolderWatches: Sendable {
    private struct State {
        var paths: [Int32: String] = [:]
        var changed: Set<ComparedByBytes> = []
        var replaced: Set<ComparedByBytes> = []
        var hasLost = false
    }

    /// The changes of some time.
    struct Changes {
        /// The paths of the folders with changed names.
        var folders: [String]
        /// The paths of folders that may be other ones than before, such as after they were renamed.
        var replaced: [String]
        /// Whether changes of unknown folders were lost.
        var isIncomplete: Bool
    }

    private let events: FolderEvents?
    private let state = Mutex(State())

    init() { events = FolderEvents() }

    /// Watches a folder, which is reported as changed from then on.
    ///
    /// - Returns: `false` if the system refuses.
    func watch(_ resolvedPath: String, as path: String) -> Bool {
        guard let number = events?.watch(resolvedPath, includesFolders: true) else { return false }
        state.withLock { $0.paths[number] = path }
        return true
    }

    /// Calls `body` after each change, until the returned source is cancelled.
    func notify(_ body: @escaping @Sendable () -> Void) -> (any DispatchSourceRead)? {
        guard let events else { return nil }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: events.descriptor, queue: .global(qos: .utility))
        source.setEventHandler { [self] in
            collect(events.events())
            body()
        }
        source.activate()
        return source
    }

    private func collect(_ events: [FolderEvents.Event]) {
        state.withLock { state in
            for event in events {
                if event.isLoss { state.hasLost = true }
                guard let path = state.paths[event.watch] else { continue }
                state.changed.insert(ComparedByBytes(path))
                if event.isFolder, let name = event.name {
                    state.replaced.insert(ComparedByBytes(path.appending(name: name)))
                }
                if event.endsWatch { state.paths[event.watch] = nil }
            }
        }
    }

    /// Returns the changes since the last call.
    func takeChanges() -> Changes {
        state.withLock { state in
            let changes = Changes(
                folders: state.changed.map(\.wrappedValue),
                replaced: state.replaced.map(\.wrappedValue), isIncomplete: state.hasLost)
            state.changed = []
            state.replaced = []
            state.hasLost = false
            return changes
        }
    }
}
