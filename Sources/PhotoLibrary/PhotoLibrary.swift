// SPDX-License-Identifier: Apache-2.0

package import ImageLoading
package import LoadScheduling
package import Logging
internal import Synchronization

/// All images below a folder by the time at which they were taken, with a search.
///
/// The files are listed and read in the background once ``start()`` was called, while ``run()`` runs;
/// what has been found is available at once. What was read is stored, so that only changed files are
/// read again. Nothing is written into the folder.
///
/// Locks: held for operations in memory.
package final class PhotoLibrary: Sendable {
    private struct State {
        var timeline = Timeline()
        var progress = IndexProgress.scanning
        var isStarted = false
        /// The images of selections that were requested last, the latest at the end.
        var selected: [SelectedImages] = []
    }

    /// The images of a selection, newest first, in a generation of the timeline.
    private struct SelectedImages {
        let selection: String
        let generation: Int
        let ids: [ImageID]
    }

    private static let maximumSelectedCount = 8

    /// The maximum number of images that a search lists.
    package static let maximumMatchCount = 10_000

    private let source: any LibrarySource
    private let store: LibraryStore
    private let finder: DuplicateFinder
    /// One thread scans; the others remain for requests.
    private let queue = WorkQueue(width: 3, maximumWaitingCount: 1_024)
    private let state = Mutex(State())
    private let loading = Mutex<Task<Void, Never>?>(nil)
    private let signal = ChangeSignal()
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    /// Distinguishes the generations of this process from those of others.
    private let session: String
    private let listingDelay: Duration

    /// Opens the database of a library; nothing is listed yet.
    ///
    /// - Parameters:
    ///   - source: lists and reads the files.
    ///   - directory: the folder of the database.
    ///   - session: a text that differs between processes.
    ///   - listingDelay: the time from ``start()`` until the folders of a library with stored images are listed
    ///     again, so that this does not take the processor from the first requests.
    ///   - logger: receives the errors of the database at `debug`.
    /// - Throws: `LoadError.storeFailed(reason:)`.
    package init(
        source: any LibrarySource, directory: String, session: String,
        listingDelay: Duration = .zero, logger: Logger
    ) throws(LoadError) {
        self.source = source
        self.session = session
        self.listingDelay = listingDelay
        store = try LibraryStore(directory: directory, root: source.root, logger: logger)
        finder = DuplicateFinder(source: source, store: store, queue: queue) {
            [root = source.root] () throws(LoadError) in
            try HashStore(directory: directory, root: root, logger: logger)
        }
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Lets ``run()`` begin, if it has not begun.
    package func start() {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        if isFirst { wake.yield() }
    }

    /// Waits for ``start()``, then keeps the library true until the task is cancelled.
    ///
    /// The timeline is loaded before, so that the first request does not wait for it.
    package func run() async {
        await load()
        var starts = wakes.makeAsyncIterator()
        if await starts.next() != nil {
            // An error is the cancellation of the task, which ends the indexer as well.
            if status.foundCount > 0 { try? await Task.sleep(for: listingDelay) }
            let indexer = LibraryIndexer(
                source: source, store: store, queue: queue, apply: { [self] in apply($0) },
                progress: { [self] progress in
                    state.withLock { $0.progress = progress }
                    signal.notify()
                })
            async let duplicates: Void = finder.run()
            await indexer.run(wakes, wake)
            await duplicates
        }
        signal.finish()
        store.close()
        queue.stop()
    }

    /// Loads what was stored into the timeline, once; later calls wait for that.
    private func load() async {
        let task = loading.withLock { task in
            if let task { return task }
            let new = Task<Void, Never> { [self] in
                // A full queue does not refuse it; a stopped one needs no timeline.
                try? await queue.run(.visible, continuing: true) { [self] () throws(LoadError) in
                    store.forEachPart { part in
                        state.withLock { $0.timeline.append(older: part) }
                    }
                }
            }
            task = new
            return new
        }
        await task.value
    }

    private func apply(_ changes: [Timeline.Change]) {
        state.withLock { $0.timeline.apply(changes) }
        signal.notify()
    }

    // MARK: Requests

    /// How far the files have been read.
    package var status: LibraryStatus {
        let (timeline, progress) = state.withLock { ($0.timeline, $0.progress) }
        let generation = generation(timeline)
        switch progress {
        case .scanning:
            return LibraryStatus(
                isComplete: false, foundCount: timeline.count, readCount: 0, secondsLeft: nil,
                generation: generation)
        case .reading(let unread, let secondsLeft):
            return LibraryStatus(
                isComplete: false, foundCount: timeline.count,
                readCount: max(0, timeline.count - unread), secondsLeft: secondsLeft,
                generation: generation)
        case .complete:
            return LibraryStatus(
                isComplete: true, foundCount: timeline.count, readCount: timeline.count,
                secondsLeft: nil, generation: generation)
        }
    }

    /// The generation of the timeline, once it contains what was stored.
    package var loadedGeneration: String {
        get async {
            await load()
            return status.generation
        }
    }

    /// Waits until the status meets a condition, the task is cancelled, or the library ends.
    package func wait(until isMet: @Sendable (LibraryStatus) -> Bool) async {
        // Before the first check, so that no change is lost.
        var changes = signal.changes().makeAsyncIterator()
        while !isMet(status), await changes.next() != nil {}
    }

    /// The days of the timeline.
    ///
    /// - Parameters:
    ///   - query: what the images must meet; empty for all.
    ///   - since: a generation of this process: only days that have changed since are returned.
    /// - Returns: all days of a search, or those since a generation.
    /// - Throws: `LoadError/cancelled`, `LoadError/queueFull`.
    package func timeline(
        matching query: String, since: String? = nil
    ) async throws(LoadError) -> LibraryTimeline {
        let query = SearchQuery(query)
        await load()
        let timeline = state.withLock { $0.timeline }
        let generation = generation(timeline)
        if query.isEmpty {
            let known = since.flatMap(number(ofGeneration:))
            return LibraryTimeline(timeline, since: known, generation)
        }
        guard query.isImpossible || query.hasConditions else {
            return LibraryTimeline(timeline, inDays: query.days, generation)
        }
        var ids = try await search(query, query.range, offset: 0, Self.maximumMatchCount + 1)
        let isCut = ids.count > Self.maximumMatchCount
        if isCut { ids.removeLast() }
        var found = LibraryTimeline(timeline.selecting(ids), since: nil, generation)
        found.isCut = isCut
        return found
    }

    /// The images of some days.
    ///
    /// - Parameters:
    ///   - query: what the images must meet; empty for all.
    ///   - days: the days, as days since 1970.
    ///   - offset: the number of newest images to leave out.
    ///   - limit: the maximum number of images.
    /// - Returns: the newest images, newest first.
    /// - Throws: `LoadError/cancelled`, `LoadError/queueFull`.
    package func images(
        matching query: String, inDays days: ClosedRange<Int>, offset: Int, limit: Int
    ) async throws(LoadError) -> [LibraryImage] {
        let query = SearchQuery(query)
        var days = days
        if let range = query.days {
            guard days.overlaps(range) else { return [] }
            days = days.clamped(to: range)
        }
        guard !query.isImpossible else { return [] }
        let range = ImageID.range(ofDays: days)
        let ids: [ImageID]? =
            query.hasConditions ? try await search(query, range, offset: offset, limit) : nil
        let root = source.root
        return try await queue.run(.visible) { [store] () throws(LoadError) in
            let files =
                ids.map { store.images($0) }
                ?? store.images(range, offset: offset, limit: limit)
            return files.map { LibraryImage($0, store.mark(of: $0), root: root) }
        }
    }

    /// Changes the marks of images.
    ///
    /// - Parameters:
    ///   - paths: the paths of the images in the library.
    ///   - change: the change.
    /// - Returns: those paths that are not in the library.
    /// - Throws: `LoadError/storeFailed(reason:)` if the marks could not be stored,
    ///   `LoadError/cancelled`, `LoadError/queueFull`.
    package func mark(
        _ paths: [String], _ change: MarkChange
    ) async throws(LoadError) -> [String] {
        let result = try await queue.run(.visible, continuing: true) {
            [store] () throws(LoadError) in store.mark(paths, change)
        }
        guard let result else { throw .storeFailed(reason: "the marks could not be written") }
        apply(result.changes)
        return result.unknown
    }

    /// The images of a folder that are favourites or rated, by the user or else by the file.
    ///
    /// - Throws: `LoadError/cancelled`, `LoadError/queueFull`.
    package func marks(
        inFolder path: String
    ) async throws(LoadError) -> [(name: String, mark: ImageMark)] {
        try await queue.run(.visible) { [store] () throws(LoadError) in
            store.files(inFolder: path).files.values.compactMap { row in
                let file = LibraryStore.KnownFile(row: row, folder: path)
                var mark = store.mark(of: file)
                mark.rating = mark.rating ?? row.rating
                return mark.isEmpty ? nil : (row.name, mark)
            }
        }
    }

    /// What the user has said about images, in the order of their paths in the library.
    ///
    /// - Returns: `nil` if one of the images is not in the library.
    /// - Throws: `LoadError/cancelled`, `LoadError/queueFull`.
    package func marks(
        of paths: [String]
    ) async throws(LoadError) -> [(identity: FileIdentity, mark: ImageMark)]? {
        let root = source.root
        return try await queue.run(.visible) { [store] () throws(LoadError) in
            var marks: [(identity: FileIdentity, mark: ImageMark)] = []
            for path in paths {
                guard let file = store.image(at: path) else { return nil }
                marks.append((file.identity(in: root), store.mark(of: file)))
            }
            return marks
        }
    }

    /// The newest images of folders, with those inside them.
    ///
    /// - Parameters:
    ///   - folders: the paths of the folders in the library.
    ///   - limit: the maximum number of images of each folder.
    /// - Returns: the files for each folder.
    /// - Throws: `LoadError/cancelled`, `LoadError/queueFull`.
    package func covers(
        ofFolders folders: [String], limit: Int
    ) async throws(LoadError) -> [[FileIdentity]] {
        let root = source.root
        return try await queue.run(.visible) { [store] () throws(LoadError) in
            folders.map { path in
                store.newest(inFolder: path, limit: limit).map { $0.identity(in: root) }
            }
        }
    }

    /// The values that complete a text.
    ///
    /// - Throws: `LoadError/cancelled`, `LoadError/queueFull`.
    package func completions(
        of text: String, limit: Int
    ) async throws(LoadError) -> [Completion] {
        try await queue.run(.visible) { [store] () throws(LoadError) in
            store.completions(text, limit: limit)
        }
    }

    /// Groups of images that look alike or whose files are equal.
    ///
    /// The first call starts the comparison, which decodes all images at a low priority.
    ///
    /// - Parameters:
    ///   - offset: the number of groups to leave out.
    ///   - limit: the maximum number of groups.
    /// - Returns: what has been found so far.
    /// - Throws: `LoadError/storeFailed(reason:)` if the database of hashes cannot be opened,
    ///   `LoadError/cancelled`, `LoadError/queueFull`.
    package func duplicates(
        offset: Int, limit: Int
    ) async throws(LoadError) -> LibraryDuplicates {
        // Read first: the timeline of a complete index has all images, so that its generation is the one
        // to compare.
        let isIndexed = status.isComplete
        let state = finder.state(state.withLock { $0.timeline.generation })
        if let failure = state.failure { throw failure }
        let chosen = state.groups.dropFirst(offset).prefix(limit)
        let root = source.root
        let groups = try await queue.run(.visible) { [store] () throws(LoadError) in
            chosen.compactMap { store.group($0, root: root) }
        }
        return LibraryDuplicates(
            isComplete: state.isComplete && isIndexed, readCount: state.readCount,
            totalCount: state.totalCount, groupCount: state.groups.count, groups: groups)
    }

    // MARK: Selections

    /// Searches for images by path.
    ///
    /// - Parameter paths: the paths of the images in the library.
    /// - Returns: whether the library has all of them.
    /// - Throws: `LoadError/cancelled`, `LoadError/queueFull`.
    package func contains(_ paths: [String]) async throws(LoadError) -> Bool {
        try await queue.run(.visible) { [store] () throws(LoadError) in
            store.ids(at: paths).count == paths.count
        }
    }

    /// The days of a selection.
    ///
    /// - Throws: `LoadError/cancelled`, `LoadError/queueFull`.
    package func timeline(
        of selection: ImageSelection
    ) async throws(LoadError) -> LibraryTimeline {
        await load()
        let timeline = state.withLock { $0.timeline }
        return LibraryTimeline(
            timeline.selecting(try await ids(of: selection, in: timeline)), since: nil,
            generation(timeline))
    }

    /// The images of a selection in some days, newest first; see ``images(matching:inDays:offset:limit:)``.
    ///
    /// - Throws: `LoadError/cancelled`, `LoadError/queueFull`.
    package func images(
        of selection: ImageSelection, inDays days: ClosedRange<Int>, offset: Int, limit: Int
    ) async throws(LoadError) -> [LibraryImage] {
        await load()
        let timeline = state.withLock { $0.timeline }
        let range = ImageID.range(ofDays: days)
        let inDays = try await ids(of: selection, in: timeline).filter { range.contains($0) }
        let ids = Array(inDays.dropFirst(offset).prefix(limit))
        let root = source.root
        return try await queue.run(.visible) { [store] () throws(LoadError) in
            store.images(ids).map { LibraryImage($0, store.mark(of: $0), root: root) }
        }
    }

    private func ids(
        of selection: ImageSelection, in timeline: Timeline
    ) async throws(LoadError) -> [ImageID] {
        let generation = timeline.generation
        let known = state.withLock { state in
            state.selected.first { $0.selection == selection.id && $0.generation == generation }
        }
        if let known { return known.ids }
        let ids = try await queue.run(.visible) { [store] () throws(LoadError) in
            store.ids(at: selection.paths).sorted(by: >)
        }
        state.withLock { state in
            state.selected.removeAll { $0.selection == selection.id }
            if state.selected.count == Self.maximumSelectedCount { state.selected.removeFirst() }
            state.selected.append(
                SelectedImages(selection: selection.id, generation: generation, ids: ids))
        }
        return ids
    }

    private func search(
        _ query: SearchQuery, _ range: ClosedRange<ImageID>, offset: Int, _ limit: Int
    ) async throws(LoadError) -> [ImageID] {
        try await queue.run(.visible) { [store] () throws(LoadError) in
            store.search(query, range, offset: offset, limit: limit)
        }
    }

    private func generation(_ timeline: Timeline) -> String {
        "\(session)-\(timeline.generation)"
    }

    private func number(ofGeneration text: String) -> Int? {
        guard text.hasPrefix(session + "-") else { return nil }
        return Int(text.dropFirst(session.count + 1))
    }
}

extension SearchQuery {
    /// Whether the database has to be searched.
    fileprivate var hasConditions: Bool { !words.isEmpty || place != nil }

    fileprivate var range: ClosedRange<ImageID> {
        ImageID.range(ofDays: days ?? -1_000_000...10_000_000)
    }
}
