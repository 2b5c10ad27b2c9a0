// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading

/// The folders of a library, compared with the files that exist.
///
/// A round lists folders until none is left, and only then removes the images that are missing, so that
/// a file that was moved from one folder to another keeps what was read from it.
struct ScanRound {
    /// The number of files whose rows are changed in one transaction.
    private static let chunkSize = 1_000

    let source: any LibrarySource
    let store: LibraryStore
    let watches: FolderWatches
    /// Receives the changes of the timeline.
    let apply: @Sendable ([Timeline.Change]) -> Void

    /// The resolved paths of all folders that were listed, by their paths in the library.
    private(set) var known: [ComparedByBytes: ComparedByBytes] = [:]
    private var resolved: Set<ComparedByBytes> = []
    /// The folders to list, the next one last.
    private var waiting: [String] = []
    /// The images that were missing when their folders were listed, unless they were found since.
    private var missing: Set<ImageID> = []
    /// Whether all folders are being listed, so that those that are not found are missing.
    private var isWhole = false
    /// Whether the next step is the first one of all folders.
    private var isFirstStep = false
    private var start = ContinuousClock.now
    /// The time that the last listing of all folders took.
    private(set) var duration = Duration.zero
    /// Whether the system reports the changes of all folders.
    private(set) var watchesAll = true

    init(
        source: any LibrarySource, store: LibraryStore, watches: FolderWatches,
        apply: @escaping @Sendable ([Timeline.Change]) -> Void
    ) {
        self.source = source
        self.store = store
        self.watches = watches
        self.apply = apply
    }

    /// Whether nothing is left to do.
    var isComplete: Bool { waiting.isEmpty && !isWhole && missing.isEmpty }

    /// Begins to list all folders.
    mutating func beginAll() {
        isFirstStep = true
        known = [:]
        resolved = []
        watchesAll = true
        isWhole = true
        start = .now
        waiting = [""]
    }

    /// Adds folders that have changed; those that are unknown are part of one that is not.
    ///
    /// - Parameters:
    ///   - paths: the paths of the folders.
    ///   - replaced: the paths of folders inside them that may be other ones than before.
    mutating func add(_ paths: [String], replaced: [String]) {
        for path in replaced where known[ComparedByBytes(path)] != nil { forget(path) }
        let new = Set(paths.map { ComparedByBytes($0) })
            .subtracting(waiting.map { ComparedByBytes($0) })
        waiting += new.filter { known[$0] != nil }.map(\.wrappedValue)
    }

    /// Lists the next folder, or removes missing images once there is none; blocks.
    mutating func step() {
        if isFirstStep { return removeImagesWithoutFolder() }
        if let path = waiting.popLast() { return list(path) }
        if isWhole {
            isWhole = false
            duration = start.duration(to: .now)
            // A library that cannot be listed, such as on a drive that is not mounted, stays as it was.
            guard !known.isEmpty else { return }
            for path in store.folders() where known[ComparedByBytes(path)] == nil { miss(path) }
        }
        let part = Array(missing.prefix(Self.chunkSize))
        missing.subtract(part)
        apply(store.remove(part))
        if missing.isEmpty { store.removeEmptyFolders() }
    }

    /// Removes images that have no folder before any is listed: one that is added could get the number of theirs.
    private mutating func removeImagesWithoutFolder() {
        isFirstStep = false
        let damaged = store.imagesWithoutFolder()
        for start in stride(from: 0, to: damaged.count, by: Self.chunkSize) {
            let end = min(damaged.count, start + Self.chunkSize)
            apply(store.remove(Array(damaged[start..<end])))
        }
    }

    private mutating func list(_ path: String) {
        let isKnown = known[ComparedByBytes(path)] != nil
        // Watched before it is listed, so that no change is lost between the two.
        let place = path.isEmpty ? source.root : "\(source.root)/\(path)"
        if !isKnown, !watches.watch(place, as: path) {
            watchesAll = false
        }
        guard let listing = source.list(path), isOnlyPath(path, of: listing.resolvedPath) else {
            return forget(path)
        }
        compare(listing.images, with: path)
        // The names of years and dates in ascending order: the last is taken first.
        let folders = listing.folders.map { path.appending(name: $0) }.sorted()
        if isKnown {
            let current = Set(folders.map { ComparedByBytes($0) })
            for gone in subfolders(of: path) where !current.contains(gone) {
                forget(gone.wrappedValue)
            }
        }
        waiting += folders.filter { known[ComparedByBytes($0)] == nil }
    }

    /// Whether a folder has no other path in the library, as it has by a symbolic link.
    private mutating func isOnlyPath(_ path: String, of resolvedPath: String) -> Bool {
        let (path, target) = (ComparedByBytes(path), ComparedByBytes(resolvedPath))
        if known[path] == target { return true }
        guard resolved.insert(target).inserted else { return false }
        known[path] = target
        return true
    }

    /// The folders that were listed directly inside another one.
    private func subfolders(of path: String) -> [ComparedByBytes] {
        let prefix = path.isEmpty ? "" : path + "/"
        return known.keys.filter { key in
            let name = key.wrappedValue.utf8
            return !name.isEmpty && name.starts(with: prefix.utf8)
                && !name.dropFirst(prefix.utf8.count).contains(UInt8(ascii: "/"))
        }
    }

    /// Removes a folder with those inside it.
    private mutating func forget(_ path: String) {
        let inside = (path + "/").utf8
        let gone = known.keys.filter {
            $0.wrappedValue.hasSameBytes(as: path) || $0.wrappedValue.utf8.starts(with: inside)
        }
        for key in gone {
            if let target = known.removeValue(forKey: key) { resolved.remove(target) }
            miss(key.wrappedValue)
        }
    }

    private mutating func miss(_ path: String) {
        let (files, damaged) = store.files(inFolder: path)
        missing.formUnion(files.values.map(\.id) + damaged)
    }

    private mutating func compare(
        _ images: [(name: String, identity: FileIdentity)], with path: String
    ) {
        var (rows, damaged) = store.files(inFolder: path)
        if !damaged.isEmpty { apply(store.remove(damaged)) }
        var added: [FoundFile] = []
        var changed: [(id: ImageID, file: FoundFile)] = []
        for (name, identity) in images {
            let file = FoundFile(name: name, identity: identity)
            guard let row = rows.removeValue(forKey: ComparedByBytes(name)) else {
                added.append(file)
                continue
            }
            if row.describes(identity) {
                missing.remove(row.id)
            } else {
                changed.append((row.id, file))
            }
        }
        missing.formUnion(rows.values.map(\.id))
        // The order of the images of one second.
        added.sort { $0.name < $1.name }
        for start in stride(from: 0, to: added.count, by: Self.chunkSize) {
            let end = min(added.count, start + Self.chunkSize)
            record(store.add(Array(added[start..<end]), toFolder: path))
        }
        for start in stride(from: 0, to: changed.count, by: Self.chunkSize) {
            let end = min(changed.count, start + Self.chunkSize)
            record(store.replace(Array(changed[start..<end]), inFolder: path))
        }
    }

    /// Applies changes; a number that was that of a missing image can be that of another one now.
    private mutating func record(_ changes: [Timeline.Change]) {
        for case .set(let id, _) in changes { missing.remove(id) }
        apply(changes)
    }
}
