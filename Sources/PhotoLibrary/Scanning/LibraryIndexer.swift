// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import ImageLoading
internal import LoadScheduling
internal import Synchronization

/// Lists, reads and watches the files of a library, one step after the other.
final class LibraryIndexer: Sendable {
    /// The number of files that are read together.
    private static let chunkSize = 128
    /// The time between two listings of all folders when the system does not report all changes, in
    /// multiples of the time that a listing takes.
    private static let restFactor = 50.0
    private static let minimumRest = Duration.seconds(5)

    private let source: any LibrarySource
    private let store: LibraryStore
    private let queue: WorkQueue
    private let apply: @Sendable ([Timeline.Change]) -> Void
    private let progress: @Sendable (IndexProgress) -> Void
    private let watches = FolderWatches()
    /// Locked during a step, which only ``run(_:_:)`` makes.
    private let round: Mutex<ScanRound>

    /// - Parameters:
    ///   - source: lists and reads the files.
    ///   - store: receives what was found.
    ///   - queue: runs the steps that block, at the priority of prefetching.
    ///   - apply: receives the changes of the timeline.
    ///   - progress: receives the progress after each step.
    init(
        source: any LibrarySource, store: LibraryStore, queue: WorkQueue,
        apply: @escaping @Sendable ([Timeline.Change]) -> Void,
        progress: @escaping @Sendable (IndexProgress) -> Void
    ) {
        self.source = source
        self.store = store
        self.queue = queue
        self.apply = apply
        self.progress = progress
        round = Mutex(
            ScanRound(source: source, store: store, watches: watches, apply: apply))
    }

    /// Keeps the library true until the task is cancelled.
    ///
    /// - Parameters:
    ///   - wakes: has an element after each change of a folder.
    ///   - wake: adds an element to `wakes`.
    func run(_ wakes: AsyncStream<Void>, _ wake: AsyncStream<Void>.Continuation) async {
        var wakes = wakes.makeAsyncIterator()
        let events = watches.notify { wake.yield() }
        defer { events?.cancel() }
        try? await onQueue { [self] in
            store.resumePostponed()
            round.withLock { $0.beginAll() }
        }
        var pace = IndexPace()
        while !Task.isCancelled {
            do throws(LoadError) {
                if try await scan() {
                    pace.restart(unreadCount: try await onQueue { [store] in store.unreadCount() })
                    progress(pace.progress)
                }
                let count = try await readNext()
                if count > 0 {
                    pace.add(count)
                    progress(pace.progress)
                    continue
                }
            } catch {
                return
            }
            progress(.complete)
            let timer = rest(wake)
            defer { timer?.cancel() }
            guard await wakes.next() != nil else { return }
        }
    }

    /// Lists the folders that have changed, until none is left.
    ///
    /// - Returns: whether there was one.
    private func scan() async throws(LoadError) -> Bool {
        var hasScanned = false
        while true {
            let isComplete = try await onQueue { [self] in
                round.withLock { round in
                    let changes = watches.takeChanges()
                    if changes.isIncomplete { round.beginAll() }
                    round.add(changes.folders, replaced: changes.replaced)
                    guard !round.isComplete else { return true }
                    // Before the step, so that what it finds is never reported as read.
                    progress(.scanning)
                    round.step()
                    return false
                }
            }
            if isComplete { return hasScanned }
            hasScanned = true
        }
    }

    /// Reads the newest files that have not been read.
    ///
    /// - Returns: their number.
    private func readNext() async throws(LoadError) -> Int {
        let files = try await onQueue { [store] in store.unread(limit: Self.chunkSize) }
        guard !files.isEmpty else { return 0 }
        let root = source.root
        let descriptions = await source.describe(files.map { $0.identity(in: root) })
        guard !Task.isCancelled, descriptions.count == files.count else { throw .cancelled }
        let changes = try await onQueue { [store] in
            store.describe(zip(files, descriptions).map { ($0, $1) })
        }
        apply(changes)
        // Nothing could be stored, such as on a full disk: not again until a folder changes.
        return changes.isEmpty ? 0 : files.count
    }

    private func onQueue<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value
    ) async throws(LoadError) -> Value {
        try await queue.run(.prefetch) { () throws(LoadError) in work() }
    }

    /// Returns a timer that lists all folders again, unless the system reports all changes.
    private func rest(_ wake: AsyncStream<Void>.Continuation) -> (any DispatchSourceTimer)? {
        guard let duration = round.withLock({ $0.watchesAll ? nil : $0.duration }) else {
            return nil
        }
        let rest = max(Self.minimumRest, duration * Self.restFactor)
        let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
        timer.schedule(deadline: .now() + rest / .seconds(1))
        timer.setEventHandler { [self] in
            round.withLock { $0.beginAll() }
            wake.yield()
        }
        timer.activate()
        return timer
    }
}
