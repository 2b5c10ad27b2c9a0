// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A cache of the contents of large folders.
///
/// The files of a small folder are checked for each request. Those of a large folder are checked again
/// after 50 µs per file, at most 5 s, which limits the processor time for it. A file that is added or
/// removed changes the folder's identity, so that the contents are read at once.
///
/// Lock: held for a table lookup.
final class RecentFolders: Sendable {
    private struct Entry {
        let contents: FolderContents
        let end: ContinuousClock.Instant
    }

    /// The number of files up to which a folder is not cached.
    static let smallCount = 1_000
    private static let lifetimePerFile = Duration.microseconds(50)
    private static let maximumLifetime = Duration.seconds(5)

    private let maximumFileCount: Int
    private let entries = Mutex<[FolderIdentity: Entry]>([:])

    /// - Parameter maximumFileCount: the maximum number of cached files of all folders together.
    init(maximumFileCount: Int) { self.maximumFileCount = maximumFileCount }

    /// Returns the cached contents of a folder.
    func contents(_ folder: FolderIdentity, now: ContinuousClock.Instant = .now) -> FolderContents?
    {
        entries.withLock { entries in
            guard let entry = entries[folder], now < entry.end else { return nil }
            return entry.contents
        }
    }

    /// Caches the contents of a large folder that were read after `folder`.
    func insert(
        _ contents: FolderContents, _ folder: FolderIdentity, now: ContinuousClock.Instant = .now
    ) {
        let count = contents.images.count + contents.folders.count
        guard count > Self.smallCount, count <= maximumFileCount, folder.isSettled else { return }
        let end = now + min(Self.lifetimePerFile * count, Self.maximumLifetime)
        entries.withLock { entries in
            entries = entries.filter { now < $0.value.end && !$0.key.isSameFolder(as: folder) }
            let total = entries.values.reduce(count) {
                $0 + $1.contents.images.count + $1.contents.folders.count
            }
            if total > maximumFileCount { entries = [:] }
            entries[folder] = Entry(contents: contents, end: end)
        }
    }
}

extension FolderReader {
    /// Returns ``contents(of:)``, or for a large folder its cached result.
    ///
    /// - Throws: ``ServerError/notFound``.
    func recentContents(of segments: [String]) throws(ServerError) -> FolderContents {
        guard let folder = FolderIdentity(try directory.folder(segments)) else { throw .notFound }
        if let known = recent.contents(folder) { return known }
        let contents = try contents(of: segments)
        recent.insert(contents, folder)
        return contents
    }
}
