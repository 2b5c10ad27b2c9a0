// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import Synchronization

/// A folder as it was at one moment.
struct FolderContents: Sendable {
    /// In natural order.
    let folders: [String]
    /// The pictures directly inside each of `folders`.
    let pictureCounts: [Int]
    /// In natural order.
    let pictures: [String]
    /// Of each of `pictures`.
    let identities: [FileIdentity]
    /// Changes whenever a name, a picture or a count does.
    let revision: String
}

/// Reads folders, and remembers what reading them again would bring anyway.
///
/// Names are read and sorted again when the folder's modification time has changed. Every file is
/// looked at again for each answer, because writing to one leaves no mark on its folder. Nothing
/// watches: a folder that nobody asks for costs nothing, and network drives work like others.
///
/// A lock: held for a look into a table, never while the disk is read. All calls wait for the disk.
final class FolderReader: Sendable {
    private struct Cache {
        var sorted: [FolderIdentity: SortedNames] = [:]
        var counts: [FolderIdentity: Int] = [:]
    }

    private struct SortedNames {
        let folders: [String]
        let pictures: [String]
        /// The resolved path of each of `pictures`.
        let paths: [String]

        var count: Int { folders.count + pictures.count }
    }

    let directory: PhotoDirectory
    private let extensions: Set<String>
    /// The names that are remembered, of all folders together.
    private let maximumNameCount: Int
    private let cache = Mutex(Cache())
    let recent: RecentFolders

    /// - Parameters:
    ///   - directory: what is served.
    ///   - extensions: file name extensions of pictures, in lower case.
    ///   - maximumNameCount: the names that are remembered, of all folders together.
    init(
        _ directory: PhotoDirectory, extensions: Set<String>, maximumNameCount: Int = 500_000
    ) {
        self.directory = directory
        self.extensions = extensions
        self.maximumNameCount = maximumNameCount
        recent = RecentFolders(maximumFileCount: maximumNameCount)
    }

    /// Reads a folder, or as much of it as may have changed.
    ///
    /// - Parameter segments: the folder's place below the folder that is served.
    /// - Returns: the folder as it is now.
    /// - Throws: ``ServerError/notFound``.
    func contents(of segments: [String]) throws(ServerError) -> FolderContents {
        let path = try directory.folder(segments)
        let names = try sortedNames(in: path)
        let counts = names.folders.map { pictureCount(in: "\(path)/\($0)") }
        var pictures: [String] = []
        var identities: [FileIdentity] = []
        pictures.reserveCapacity(names.pictures.count)
        identities.reserveCapacity(names.pictures.count)
        var revision = Digest()
        for (name, count) in zip(names.folders, counts) {
            revision.add(name)
            revision.add(UInt64(count))
        }
        revision.add(UInt64(names.folders.count))
        for (name, path) in zip(names.pictures, names.paths) {
            // It may have been removed since the names were read.
            guard let identity = try? FileIdentity(path: path) else { continue }
            pictures.append(name)
            identities.append(identity)
            revision.add(name)
            revision.add(UInt64(identity.byteCount))
            revision.add(UInt64(bitPattern: Int64(identity.modificationTime)))
            revision.add(identity.inode)
        }
        return FolderContents(
            folders: names.folders, pictureCounts: counts, pictures: pictures,
            identities: identities, revision: revision.text)
    }

    private func sortedNames(in path: String) throws(ServerError) -> SortedNames {
        guard let identity = FolderIdentity(path) else { throw .notFound }
        if let known = cache.withLock({ $0.sorted[identity] }) { return known }
        guard let names = FolderNames(path, in: directory, extensions: extensions) else {
            throw .notFound
        }
        let pictures = NaturalOrder.sorted(names.pictures)
        let sorted = SortedNames(
            folders: NaturalOrder.sorted(names.folders), pictures: pictures,
            paths: pictures.map { names.targets[ComparedByBytes($0)] ?? "\(path)/\($0)" })
        if identity.isSettled {
            cache.withLock { cache in
                cache.sorted = cache.sorted.filter { !$0.key.isSameFolder(as: identity) }
                let total = cache.sorted.values.reduce(sorted.count) { $0 + $1.count }
                // Simple, and rare: it takes folders of that many names in use at once.
                if total > maximumNameCount { cache.sorted = [:] }
                cache.sorted[identity] = sorted
            }
        }
        return sorted
    }

    private func pictureCount(in path: String) -> Int {
        guard let identity = FolderIdentity(path) else { return 0 }
        if let known = cache.withLock({ $0.counts[identity] }) { return known }
        // The link to a folder leads where the folder is.
        let resolved = directory.target(ofLink: path) ?? path
        let names = FolderNames(resolved, in: directory, extensions: extensions)
        let count = names?.pictures.count ?? 0
        if identity.isSettled {
            cache.withLock { cache in
                if cache.counts.count >= maximumNameCount { cache.counts = [:] }
                cache.counts[identity] = count
            }
        }
        return count
    }
}
