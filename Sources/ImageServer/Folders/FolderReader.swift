// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import Synchronization

/// The contents of a folder at one time.
struct FolderContents: Sendable {
    /// The names of subfolders in natural order.
    let folders: [String]
    /// The number of images directly inside each of `folders`.
    let imageCounts: [Int]
    /// The names of images in natural order.
    let images: [String]
    /// The identity of each of `images`.
    let identities: [FileIdentity]
    /// A fingerprint of all names, identities and counts.
    let revision: String
}

/// Reads folders, and caches their sorted names.
///
/// Names are read again when the folder's modification time has changed. The status of every file is
/// read for each request, because writing to a file does not change its folder. There is no file
/// system watcher: idle folders cost nothing, and network drives work.
///
/// Lock: held for a table lookup, never while the disk is read. All functions block on the disk.
final class FolderReader: Sendable {
    private struct Cache {
        var sorted: [FolderIdentity: SortedNames] = [:]
        var counts: [FolderIdentity: Int] = [:]
    }

    private struct SortedNames {
        let folders: [String]
        let images: [String]
        /// The resolved path of each of `images`.
        let paths: [String]

        var count: Int { folders.count + images.count }
    }

    let directory: ServedDirectory
    private let extensions: Set<String>
    /// The maximum number of cached names of all folders together.
    private let maximumNameCount: Int
    private let cache = Mutex(Cache())
    let recent: RecentFolders

    /// - Parameters:
    ///   - directory: the served folder.
    ///   - extensions: the file name extensions of images in lower case.
    ///   - maximumNameCount: the maximum number of cached names of all folders together.
    init(
        _ directory: ServedDirectory, extensions: Set<String>, maximumNameCount: Int = 500_000
    ) {
        self.directory = directory
        self.extensions = extensions
        self.maximumNameCount = maximumNameCount
        recent = RecentFolders(maximumFileCount: maximumNameCount)
    }

    /// Reads the current contents of a folder.
    ///
    /// - Parameter segments: the names of folders below the served one.
    /// - Returns: the contents, with images and subfolders in natural order.
    /// - Complexity: reads the status of every image; names only if the folder has changed.
    /// - Throws: ``ServerError/notFound``.
    func contents(of segments: [String]) throws(ServerError) -> FolderContents {
        let path = try directory.folder(segments)
        let names = try sortedNames(in: path)
        let counts = names.folders.map { imageCount(in: "\(path)/\($0)") }
        var images: [String] = []
        var identities: [FileIdentity] = []
        images.reserveCapacity(names.images.count)
        identities.reserveCapacity(names.images.count)
        var revision = Fingerprint()
        for (name, count) in zip(names.folders, counts) {
            revision.add(name)
            revision.add(UInt64(count))
        }
        revision.add(UInt64(names.folders.count))
        for (name, path) in zip(names.images, names.paths) {
            // The file may have been removed since the names were read.
            guard let identity = try? FileIdentity(path: path) else { continue }
            images.append(name)
            identities.append(identity)
            revision.add(name)
            revision.add(UInt64(identity.byteCount))
            revision.add(UInt64(bitPattern: Int64(identity.modificationTime)))
            revision.add(identity.inode)
        }
        return FolderContents(
            folders: names.folders, imageCounts: counts, images: images,
            identities: identities, revision: revision.text)
    }

    private func sortedNames(in path: String) throws(ServerError) -> SortedNames {
        guard let identity = FolderIdentity(path) else { throw .notFound }
        if let known = cache.withLock({ $0.sorted[identity] }) { return known }
        guard let names = FolderNames(path, in: directory, extensions: extensions) else {
            throw .notFound
        }
        let images = NaturalOrder.sorted(names.images)
        let sorted = SortedNames(
            folders: NaturalOrder.sorted(names.folders), images: images,
            paths: images.map { names.targets[ComparedByBytes($0)] ?? "\(path)/\($0)" })
        if identity.isSettled {
            cache.withLock { cache in
                cache.sorted = cache.sorted.filter { !$0.key.isSameFolder(as: identity) }
                let total = cache.sorted.values.reduce(sorted.count) { $0 + $1.count }
                // Rare: only with that many names in use.
                if total > maximumNameCount { cache.sorted = [:] }
                cache.sorted[identity] = sorted
            }
        }
        return sorted
    }

    private func imageCount(in path: String) -> Int {
        guard let identity = FolderIdentity(path) else { return 0 }
        if let known = cache.withLock({ $0.counts[identity] }) { return known }
        // Subfolders may be symbolic links.
        let resolved = directory.target(ofLink: path) ?? path
        let names = FolderNames(resolved, in: directory, extensions: extensions)
        let count = names?.images.count ?? 0
        if identity.isSettled {
            cache.withLock { cache in
                if cache.counts.count >= maximumNameCount { cache.counts = [:] }
                cache.counts[identity] = count
            }
        }
        return count
    }
}
