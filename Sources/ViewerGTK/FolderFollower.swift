// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import Dispatch
internal import ViewerModel

/// Lists the folder that is displayed, and follows its changes.
@MainActor
final class FolderFollower {
    /// What happens in a folder.
    enum Event {
        /// Names were found.
        case found([String])
        /// Other programs have changed files.
        case changed(FolderWatch.Changes)
        /// The names of all images, after changes were lost.
        case listed([String])
        /// The folder cannot be listed; the message is for the user.
        case failed(String)
    }

    private let folder: any ImageFolder
    private let placeholders: CellPlaceholders
    private let take: @MainActor (Event) -> Void
    private var listing: Task<Void, Never>?
    private var watchSource: (any DispatchSourceRead)?

    /// - Parameters:
    ///   - folder: the folder.
    ///   - path: the path whose changes are followed; `nil` for none.
    ///   - placeholders: reads those of the images that are listed.
    ///   - take: receives the events.
    init(
        _ folder: any ImageFolder, watching path: String?, _ placeholders: CellPlaceholders,
        take: @escaping @MainActor (Event) -> Void
    ) {
        self.folder = folder
        self.placeholders = placeholders
        self.take = take
        if let path { watch(path) }
    }

    /// Whether changes are reported.
    var isWatching: Bool { watchSource != nil }

    /// Lists the folder, after `preparation` if there is one.
    func list(after preparation: (@MainActor () async -> Void)? = nil) {
        // Names are read while the main actor opens the window.
        let started = preparation == nil ? folder.names() : nil
        listing = Task { [weak self, folder] in
            await preparation?()
            do {
                for try await names in started ?? folder.names() {
                    guard let self, !Task.isCancelled else { return }
                    take(.found(names))
                    await placeholders.read(names)
                }
            } catch {
                guard let self, !Task.isCancelled else { return }
                take(.failed("\(error)"))
            }
        }
    }

    /// Lists the folder again, after changes were lost.
    private func listAgain() {
        listing?.cancel()
        listing = Task { [weak self, folder] in
            var all: [String] = []
            do {
                for try await names in folder.names() { all += names }
            } catch {
                return
            }
            guard let self, !Task.isCancelled else { return }
            take(.listed(all))
            await placeholders.read(all)
        }
    }

    private func watch(_ path: String) {
        guard let watch = FolderWatch(path) else { return }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: watch.descriptor, queue: .main)
        source.setEventHandler { [weak self] in
            MainActor.assumeIsolated {
                let changes = watch.changes()
                if changes.isIncomplete { self?.listAgain() } else { self?.take(.changed(changes)) }
            }
        }
        source.activate()
        watchSource = source
    }

    /// Ends all work.
    func stop() {
        listing?.cancel()
        watchSource?.cancel()
        watchSource = nil
        placeholders.stop()
    }
}
#endif
