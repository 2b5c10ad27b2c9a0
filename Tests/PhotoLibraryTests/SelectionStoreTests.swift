// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import Logging
import Testing

@testable import PhotoLibrary

@Suite("The selections of a library") struct SelectionStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store() throws -> SelectionStore {
        try SelectionStore(directory: folder.path, root: "/photos", logger: Logger(label: "test"))
    }

    @Test("keep their paths until they expire")
    func expiry() throws {
        let paths = ["1.jpg", "a b/2\n.jpg", "e\u{301}.jpg", "\u{E9}.jpg"]
        let first = try store()
        #expect(first.add("one", paths, expires: 10, now: 5))
        first.close()
        let store = try store()
        defer { store.close() }
        let found = try #require(store.paths(of: "one", now: 9))
        #expect(found.map { Array($0.utf8) } == paths.map { Array($0.utf8) })
        #expect(store.paths(of: "one", now: 10) == nil)
        #expect(store.paths(of: "two", now: 9) == nil)
        #expect(store.add("two", ["3.jpg"], expires: 20, now: 10))
        // It was removed, whatever the time.
        #expect(store.paths(of: "one", now: 0) == nil)
        #expect(store.paths(of: "two", now: 19) == ["3.jpg"])
    }
}
