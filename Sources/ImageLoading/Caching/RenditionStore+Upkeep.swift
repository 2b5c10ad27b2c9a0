// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import GRDB
internal import LoadScheduling
internal import Synchronization

/// The schedule of the maintenance of a store.
struct StoreUpkeep: ~Copyable {
    /// The number of insertions between two runs, unless another change requires one.
    static let insertionCount = 64
    /// The number of originals that each run checks.
    static let originalCount = 64
    /// The number of pages that one transaction frees; other writers wait for it.
    static let pageCount = 256

    let queue = WorkQueue(width: 1, maximumWaitingCount: 1)
    let insertions = Atomic<Int>(0)
    /// Whether the entries have been counted since the store was opened.
    let hasCounted = Atomic<Bool>(false)
    /// The path after which the next run continues to check originals.
    let lastPath = Mutex("")
}

extension RenditionStore {
    /// Runs the maintenance after a number of insertions.
    func tidyNowAndThen() {
        let count = upkeep.insertions.add(1, ordering: .relaxed).newValue
        if count % StoreUpkeep.insertionCount == 0 { tidySoon() }
    }

    /// Runs the maintenance in the background, once for all calls until it begins.
    func tidySoon() {
        // Rejected if a run waits already, or after the store was closed.
        _ = try? upkeep.queue.submit(.background) { [weak self] in self?.tidy() }
    }

    /// Writes uses, removes expired renditions and those of removed originals, and shrinks the file; the
    /// first run also counts the entries, whose sum may be damaged.
    func tidy() {
        if !upkeep.hasCounted.exchange(true, ordering: .relaxed) {
            write { db in try self.recount(db) }
        }
        write { db in
            try self.writeUses(db)
            try self.dropTooOld(db)
        }
        forgetOriginalsGone()
        while shrink() {}
    }

    func writeUses(_ db: Database) throws {
        try PendingUses.write(uses, to: "rendition", db)
    }

    /// Checks whether the next originals, in the order of their paths, still exist.
    private func forgetOriginalsGone() {
        let start = upkeep.lastPath.withLock { $0 }
        let paths = read { db in
            try String.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT path FROM original WHERE path > ? AND typeof(path) = 'text'
                        ORDER BY path LIMIT ?
                        """),
                arguments: [start, StoreUpkeep.originalCount])
        }
        guard let paths else { return }
        let last = paths.count == StoreUpkeep.originalCount ? paths.last : nil
        upkeep.lastPath.withLock { $0 = last ?? "" }
        let gone = paths.filter(isGone)
        guard !gone.isEmpty else { return }
        write { db in
            for path in gone {
                try db.execute(sql: "DELETE FROM original WHERE path = ?", arguments: [path])
                try db.execute(sql: "DELETE FROM rendition WHERE path = ?", arguments: [path])
            }
        }
    }

    private func isGone(_ path: String) -> Bool {
        do throws(LoadError) {
            _ = try FileIdentity(path: path)
            return false
        } catch .notFound {
            return true
        } catch {
            // It exists and may be readable later.
            return false
        }
    }

    /// Returns some pages to the file system if a large part of them is free.
    ///
    /// A full store constantly frees pages for later insertions; those stay.
    ///
    /// - Returns: whether there are more pages to return.
    private func shrink() -> Bool {
        let hasMore = write { db -> Bool? in
            let pageCount = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            guard free > max(StoreUpkeep.pageCount, pageCount / 4) else { return false }
            try db.execute(sql: "PRAGMA incremental_vacuum(\(StoreUpkeep.pageCount))")
            return try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0 < pageCount
        }
        return hasMore ?? false
    }
}
