// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The contents of large folders, for as long as looking at all of their files again costs much.
///
/// A small folder is looked at for each request. A large one is looked at again after 50 µs for each
/// of its files, at most 5 s, so that requests for it take a bounded part of one processor. A file
/// that is added or removed changes the folder, whose contents are then read at once.
///
/// Lock: held for a table lookup.
final class RecentFolders: Sendable {
    private struct Entry {
        let contents: FolderContents
        let end: ContinuousClock.Instant
    }

    /// The number of files up to which a folder is looked at for each request.
    static let smallCount = 1_000
    private static let timePerFile = Duration.microseconds(50)
    private static let longestTime = Duration.seconds(5)

    private let maximumFileCount: Int
    private let entries = Mutex<[FolderIdentity: Entry]>([:])

    /// - Parameter maximumFileCount: the files that are remembered, of all folders together.
    init(maximumFileCount: Int) { self.maximumFileCount = maximumFileCount }

    /// The contents of a folder if they were read a moment ago.
    func contents(_ folder: FolderIdentity, now: ContinuousClock.Instant = .now) -> FolderContents?
    {
        entries.withLock { entries in
            guard let entry = entries[folder], now < entry.end else { return nil }
            return entry.contents
        }
    }

    /// Keeps the contents of a large folder, read when it had that identity.
    func insert(
        _ contents: FolderContents, _ folder: FolderIdentity, now: ContinuousClock.Instant = .now
    ) {
        let count = contents.pictures.count + contents.folders.count
        guard count > Self.smallCount, count <= maximumFileCount, folder.isSettled else { return }
        let end = now + min(Self.timePerFile * count, Self.longestTime)
        entries.withLock { entries in
            entries = entries.filter { now < $0.value.end && !$0.key.isSameFolder(as: folder) }
            let total = entries.values.reduce(count) {
                $0 + $1.contents.pictures.count + $1.contents.folders.count
            }
            if total > maximumFileCount { entries = [:] }
            entries[folder] = Entry(contents: contents, end: end)
        }
    }
}

extension FolderReader {
    /// ``contents(of:)``, or what it returned a moment ago of a large folder.
    func recentContents(of segments: [String]) throws(ServerError) -> FolderContents {
        guard let folder = FolderIdentity(try directory.folder(segments)) else { throw .notFound }
        if let known = recent.contents(folder) { return known }
        let contents = try contents(of: segments)
        recent.insert(contents, folder)
        return contents
    }
}
