// SPDX-License-Identifier: Apache-2.0

internal import DiskStore
internal import GRDB
internal import LoadScheduling
internal import Synchronization

/// When a store tidies itself up.
struct StoreUpkeep: ~Copyable {
    /// So many insertions lie between two times, if nothing else makes it needed.
    static let insertionCount = 64
    /// Originals that are looked at each time.
    static let originalCount = 64
    /// Pages that are given back in one transaction, for which others wait.
    static let pageCount = 256

    let queue = WorkQueue(width: 1, maximumWaitingCount: 1)
    let insertions = Atomic<Int>(0)
    /// Whether the entries were counted since the store was opened.
    let hasCounted = Atomic<Bool>(false)
    /// Behind which path the next originals are looked at.
    let lastPath = Mutex("")
}

extension RenditionStore {
    /// Tidies up after so many insertions.
    func tidyNowAndThen() {
        let count = upkeep.insertions.add(1, ordering: .relaxed).newValue
        if count % StoreUpkeep.insertionCount == 0 { tidySoon() }
    }

    /// Tidies up on a thread that nobody waits for, once however often it is asked for meanwhile.
    func tidySoon() {
        // Refused if it waits already, or when closed.
        _ = try? upkeep.queue.submit(.background) { [weak self] in self?.tidy() }
    }

    /// Writes down uses, forgets what is too old and what is of originals that are gone, and makes
    /// the file smaller; the first time also counts the entries, whose sum may be damaged.
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

    /// Looks whether the next originals, in the order of their paths, are still there.
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
            // It is there and may be readable another time.
            return false
        }
    }

    /// Gives some pages back to the file system if a large part of them is free.
    ///
    /// A full store frees pages for what comes next all the time; those stay.
    ///
    /// - Returns: whether there are more to give back.
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
