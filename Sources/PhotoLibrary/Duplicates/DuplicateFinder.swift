// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import EncodedImages
internal import GRDB
internal import ImageLoading
internal import LoadScheduling
internal import Synchronization

/// Reads and compares the images of a library in the background, once they were requested.
///
/// Lock: held for operations in memory.
final class DuplicateFinder: Sendable {
    /// An image of a group, and the hash of its bytes if another file has the same length.
    struct Member: Sendable {
        let id: ImageID
        let content: Int64?
    }

    struct State: Sendable {
        var isComplete = false
        var readCount = 0
        var totalCount = 0
        /// That with the newest image first; in each, the newest image first.
        var groups: [[Member]] = []
        var failure: LoadError?
        /// The generation of the timeline that was compared last, or is being compared.
        fileprivate var generation = -1
    }

    /// The number of images that are read together.
    private static let chunkSize = 32
    /// The number of images after which those that were read are compared for the first time.
    private static let firstCount = 256

    private let source: any LibrarySource
    private let store: LibraryStore
    private let queue: WorkQueue
    /// Opens the database of hashes.
    private let open: @Sendable () throws(LoadError) -> HashStore
    private let shared = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init(
        source: any LibrarySource, store: LibraryStore, queue: WorkQueue,
        open: @escaping @Sendable () throws(LoadError) -> HashStore
    ) {
        self.source = source
        self.store = store
        self.queue = queue
        self.open = open
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Returns what has been found, and compares the images again if they have changed.
    ///
    /// - Parameter generation: that of the timeline.
    /// - Returns: the state before the comparison.
    func state(_ generation: Int) -> State {
        let (state, isNew) = shared.withLock { state -> (State, Bool) in
            let isNew = state.generation != generation
            if isNew { state.isComplete = false }
            state.generation = generation
            return (state, isNew)
        }
        if isNew { wake.yield() }
        return state
    }

    /// Compares the images after each request, until the task is cancelled.
    func run() async {
        var hashes: HashStore?
        defer { hashes?.close() }
        for await _ in wakes {
            do throws(LoadError) {
                let opened =
                    if let hashes {
                        hashes
                    } else {
                        try await queue.run(.prefetch) { [open] () throws(LoadError) in
                            try open()
                        }
                    }
                hashes = opened
                try await compare(opened)
            } catch {
                if Task.isCancelled { return }
                // Repeated with the next request.
                shared.withLock { state in
                    state.failure = error
                    state.generation = -1
                }
            }
        }
    }

    private typealias File = (id: ImageID, version: FileVersion)

    private func compare(_ hashes: HashStore) async throws(LoadError) {
        let generation = shared.withLock(\.generation)
        let files = try await onQueue { [store] in store.readFiles() }
        var unread = zip(files, hashes.hashes(of: files.map(\.version)))
            .filter { $1 == nil }.map(\.0)[...]
        var nextCount = max(Self.firstCount, 2 * (files.count - unread.count))
        shared.withLock { state in
            state.failure = nil
            state.totalCount = files.count
            state.readCount = files.count - unread.count
        }
        while !unread.isEmpty {
            try await read(Array(unread.prefix(Self.chunkSize)), hashes)
            unread = unread.dropFirst(Self.chunkSize)
            let count = files.count - unread.count
            shared.withLock { $0.readCount = count }
            if count >= nextCount {
                nextCount *= 2
                try await group(files, hashes)
            }
        }
        try await readContents(files, hashes)
        try await group(files, hashes)
        _ = try await onQueue { hashes.keep(only: Set(files.map(\.version))) }
        shared.withLock { $0.isComplete = $0.generation == generation }
    }

    /// Reads images.
    private func read(_ files: [File], _ hashes: HashStore) async throws(LoadError) {
        let root = source.root
        let known = try await onQueue { [store] in store.images(files.map(\.id)) }
        let identities = known.map { $0.identity(in: root) }
        let found = await source.perceptualHashes(of: identities)
        guard !Task.isCancelled, found.count == identities.count else { throw .cancelled }
        let new = zip(identities, found).compactMap { identity, hash in
            let version = FileVersion(identity)
            switch hash {
            case .known(let hash): return (version, HashStore.Hashes(image: hash))
            case .none: return (version, HashStore.Hashes())
            case .postponed: return nil
            }
        }
        _ = try await onQueue { hashes.set(new) }
    }

    /// Reads the bytes of files of the same length.
    private func readContents(_ files: [File], _ hashes: HashStore) async throws(LoadError) {
        let known = hashes.hashes(of: files.map(\.version))
        let byLength = Dictionary(grouping: files.indices) { files[$0].version.byteCount }
        let unread = byLength.values.filter { $0.count > 1 }.joined()
            .filter { known[$0]?.content == nil && known[$0] != nil }
        let root = source.root
        for index in unread {
            let file = files[index]
            try await onQueue { [store] in
                guard let path = store.images([file.id]).first?.identity(in: root).path,
                    let bytes = try? EncodedBytes(opening: path)
                else { return }
                var hash = StableHash()
                bytes.forEachPiece { hash.combine($0) }
                // A file that changed meanwhile is read again as another version.
                guard let now = try? FileIdentity(path: path), FileVersion(now) == file.version,
                    var new = hashes.hashes(of: [file.version])[0]
                else { return }
                new.content = Int64(bitPattern: hash.value)
                hashes.set([(file.version, new)])
            }
        }
    }

    private func group(_ files: [File], _ hashes: HashStore) async throws(LoadError) {
        let groups = try await onQueue {
            Self.groups(files, hashes.hashes(of: files.map(\.version)))
        }
        shared.withLock { $0.groups = groups }
    }

    private static func groups(
        _ files: [File], _ hashes: [HashStore.Hashes?]
    ) -> [[Member]] {
        var near = NearHashes(count: files.count)
        near.joinNear(
            hashes.enumerated().compactMap { index, known in
                known?.image.map { (index, $0) }
            })
        var firsts: [Int64: Int] = [:]
        for (index, known) in hashes.enumerated() {
            guard let content = known?.content else { continue }
            if let first = firsts[content] {
                near.join(first, index)
            } else {
                firsts[content] = index
            }
        }
        return near.groups().map { group in
            group.map { Member(id: files[$0].id, content: hashes[$0]?.content) }
                .sorted { $0.id > $1.id }
        }.sorted { $0[0].id > $1[0].id }
    }

    private func onQueue<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value
    ) async throws(LoadError) -> Value {
        try await queue.run(.background) { () throws(LoadError) in work() }
    }
}

extension LibraryStore {
    /// The images of a group that exist, the largest first; `nil` if there are less than two.
    func group(_ members: [DuplicateFinder.Member], root: String) -> LibraryDuplicates.Group? {
        let contents = Dictionary(
            members.map { ($0.id, $0.content) }, uniquingKeysWith: { first, _ in first })
        let files = images(members.map(\.id)).sorted {
            ($0.row.width * $0.row.height, $0.row.byteCount)
                > ($1.row.width * $1.row.height, $1.row.byteCount)
        }
        guard files.count > 1 else { return nil }
        let equal = files.map { contents[$0.row.id] ?? nil }
        return LibraryDuplicates.Group(
            images: files.map { LibraryImage($0, mark(of: $0), root: root) },
            firstEqual: equal.indices.map { index in
                equal[index].flatMap { equal.firstIndex(of: $0) } ?? index
            })
    }

    /// All images that have been read, with the versions of their files, newest first.
    func readFiles() -> [(id: ImageID, version: FileVersion)] {
        let rows = database.read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT id, byte_count, modified, inode FROM image WHERE state = 1
                        ORDER BY id DESC
                        """))
            var files: [(id: ImageID, version: FileVersion)] = []
            while let row = try rows.next() {
                guard let id = try? row.decode(Int64.self, atIndex: 0),
                    let byteCount = try? row.decode(Int.self, atIndex: 1),
                    let modified = try? row.decode(Int.self, atIndex: 2),
                    let inode = try? row.decode(Int64.self, atIndex: 3)
                else { continue }
                files.append(
                    (
                        ImageID(rawValue: id),
                        FileVersion(
                            byteCount: byteCount, modificationTime: modified,
                            inode: UInt64(bitPattern: inode))
                    ))
            }
            return files
        }
        return rows ?? []
    }
}
