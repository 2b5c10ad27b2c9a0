// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Testing
import ViewerModel

@Suite("The watch of a folder") struct FolderWatchTests {
    private let folder: TemporaryFolder
    private let watch: FolderWatch

    init() throws {
        folder = try TemporaryFolder()
        watch = try #require(FolderWatch(folder.path))
    }

    private func write(_ name: String) throws {
        try Data("x".utf8).write(to: URL(filePath: folder.path(name)))
    }

    @Test("reports each name once, with its last state") func coalesced() throws {
        #expect(watch.changes() == FolderWatch.Changes())
        for name in ["a", "b", "a", "c"] { try write(name) }
        try FileManager.default.removeItem(atPath: folder.path("b"))
        try FileManager.default.moveItem(atPath: folder.path("c"), toPath: folder.path("d"))
        #expect(watch.changes() == FolderWatch.Changes(["a", "d"], removed: ["b", "c"]))
        #expect(watch.changes() == FolderWatch.Changes())
        try FileManager.default.removeItem(atPath: folder.path("a"))
        try write("a")
        #expect(watch.changes() == FolderWatch.Changes(["a"], removed: []))
    }

    @Test("omits folders and hidden files") func omitted() throws {
        try write(".hidden")
        try FileManager.default.createDirectory(
            atPath: folder.path("sub"), withIntermediateDirectories: false)
        try FileManager.default.removeItem(atPath: folder.path("sub"))
        #expect(watch.changes() == FolderWatch.Changes())
    }

    @Test("reports a file only when it has been written") func incomplete() throws {
        let path = folder.path("a")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        _ = watch.changes()
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.write(contentsOf: Data("x".utf8))
        #expect(watch.changes() == FolderWatch.Changes())
        try file.close()
        #expect(watch.changes() == FolderWatch.Changes(["a"], removed: []))
    }

    @Test("fails for a folder that does not exist") func missing() {
        #expect(FolderWatch(folder.path("none")) == nil)
    }
}

extension FolderWatch.Changes {
    fileprivate init(_ written: [String], removed: [String]) {
        self.init()
        self.written = written
        self.removed = removed
    }
}
