// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import Logging
import Testing

@testable import PhotoLibrary

@Suite("The links of a library") struct LinkStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store() throws -> LinkStore {
        try LinkStore(directory: folder.path, root: "/photos", logger: Logger(label: "test"))
    }

    private func add(
        _ goal: SharedLink.Goal, expires: Int, now: Int, to store: LinkStore
    ) throws -> String {
        try #require(try store.add(goal, expires: expires, now: now, limit: 3))
    }

    @Test("keep what they show until they expire")
    func expiry() throws {
        let paths = ["1.jpg", "a b/2\n.jpg", "e\u{301}.jpg", "\u{E9}.jpg"]
        var first: LinkStore? = try store()
        let one = try add(.images(paths), expires: 10, now: 5, to: try #require(first))
        first = nil
        let store = try store()
        guard case .images(let found) = store.goal(of: one, now: 9) else {
            Issue.record("a link to images")
            return
        }
        #expect(found.map { Array($0.utf8) } == paths.map { Array($0.utf8) })
        #expect(store.goal(of: one, now: 10) == nil)
        #expect(store.goal(of: "other", now: 9) == nil)
        let two = try add(.folder("a/\u{E9}"), expires: 20, now: 10, to: store)
        // It was removed, whatever the time.
        #expect(store.goal(of: one, now: 0) == nil)
        #expect(store.goal(of: two, now: 19) == .folder("a/\u{E9}"))
    }

    @Test("are listed, the latest first, and withdrawn for all times")
    func withdrawn() throws {
        let store = try store()
        let one = try add(.images(["1.jpg", "2.jpg"]), expires: 100, now: 5, to: store)
        let two = try add(.folder("a"), expires: 30, now: 6, to: store)
        #expect(store.links(now: 20).map(\.id) == [two, one])
        #expect(store.links(now: 20).map(\.folder) == ["a", nil])
        #expect(store.links(now: 20).map(\.imageCount) == [0, 2])
        #expect(store.links(now: 20).map(\.created) == [6, 5])
        #expect(store.links(now: 30).map(\.id) == [one])
        #expect(try store.remove(one))
        #expect(try !store.remove(one))
        #expect(try !store.remove("other"))
        let next = try self.store()
        #expect(next.goal(of: one, now: 7) == nil)
        #expect(next.goal(of: two, now: 7) == .folder("a"))
    }

    @Test("are limited in number; those that have expired do not count")
    func limit() throws {
        let store = try store()
        for _ in 0..<3 { _ = try add(.folder("a"), expires: 10, now: 5, to: store) }
        #expect(try store.add(.folder("b"), expires: 90, now: 9, limit: 3) == nil)
        #expect(try store.add(.folder("b"), expires: 90, now: 10, limit: 3) != nil)
        #expect(store.links(now: 10).count == 1)
    }
}
