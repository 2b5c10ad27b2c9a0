// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCommands
import ImageTesting
import Pixels
import Testing
import ViewerModel

@Suite("Culling") struct CullingTests {
    private let folder: TemporaryFolder
    private var viewer: Viewer

    init() throws {
        folder = try TemporaryFolder()
        try makeFolder(folder.path("in"))
        for name in ["a.jpg", "b.jpg", "c.jpg"] {
            try Data(name.utf8).write(to: URL(filePath: folder.path("in/\(name)")))
        }
        viewer = Viewer(
            folder: folder.path("in"), first: "a.jpg",
            editor: FolderEditor(trashFolder: folder.path("trash")))
        viewer.resize(to: PixelSize(width: 1280, height: 800))
        viewer.add(["a.jpg", "b.jpg", "c.jpg"])
    }

    private func files() throws -> [String: Data] {
        let root = folder.path("in")
        return try FileManager.default.subpathsOfDirectory(atPath: root).reduce(into: [:]) {
            $0[$1] = try? Data(contentsOf: URL(filePath: "\(root)/\($1)"))
        }
    }

    @Test("rejects, lists and then moves to the trash, each of which can be undone")
    func review() throws {
        var viewer = viewer
        let before = try files()
        #expect(viewer.perform(.review) == [.message(.nothingRejected)])
        #expect(viewer.perform(.reject) == [.message(.isRated("a.jpg", -1))])
        #expect(viewer.list.current == "b.jpg")
        _ = viewer.perform(.rate3)
        _ = viewer.perform(.reject)
        #expect(viewer.rating("a.jpg") == -1 && viewer.rating("b.jpg") == 3)
        #expect(viewer.perform(.review).isEmpty)
        #expect(viewer.review == ["a.jpg", "c.jpg"])
        #expect(try files().keys.contains("a.jpg"))
        // Escape keeps them.
        #expect(viewer.perform(.leave).isEmpty)
        #expect(viewer.review == nil && viewer.mode == .single)
        _ = viewer.perform(.review)
        #expect(viewer.perform(.open) == [.message(.areInTrash(count: 2))])
        // The sidecars follow their images.
        #expect(try files().keys.sorted() == ["b.jpg", "b.jpg.xmp"])
        #expect(viewer.list.count == 1)
        // All in one step.
        #expect(viewer.perform(.undo) == [.message(.areRestored(count: 2))])
        #expect(viewer.list.count == 3 && viewer.list.current == "a.jpg")
        while viewer.perform(.undo) != [.message(.nothingToUndo)] {}
        #expect(try files() == before)
        #expect(viewer.list.count == 3 && viewer.rating("a.jpg") == nil)
    }

    @Test("moves and copies to numbered folders with the sidecar, and back") func folders() throws {
        var viewer = viewer
        let before = try files()
        _ = viewer.perform(.rate5)
        _ = viewer.perform(.previous)
        #expect(viewer.perform(.copy2) == [.message(.isCopied("a.jpg", folder: "2"))])
        #expect(viewer.perform(.move1) == [.message(.isMoved("a.jpg", folder: "1"))])
        #expect(viewer.list.current == "b.jpg")
        let names = try files().keys.sorted()
        #expect(
            names == [
                "1/a.jpg", "1/a.jpg.xmp", "2/a.jpg", "2/a.jpg.xmp", "b.jpg", "c.jpg",
            ])
        #expect(viewer.perform(.undo) == [.message(.isRestored("a.jpg"))])
        #expect(viewer.list.current == "a.jpg")
        // An existing copy is never replaced.
        guard case .failure(let reason)? = viewer.perform(.copy2).first else {
            Issue.record("the copy was replaced")
            return
        }
        #expect(reason.contains("2/a.jpg"))
        while viewer.perform(.undo) != [.message(.nothingToUndo)] {}
        #expect(try files() == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("in")).count == 3)
    }

    @Test("forgets a rating when its sidecar changes") func changed() throws {
        var viewer = viewer
        #expect(viewer.rating("b.jpg") == nil)
        let sidecar = try #require(XMPSidecar.setting(4, in: nil))
        try Data(sidecar).write(to: URL(filePath: folder.path("in/b.jpg.xmp")))
        #expect(viewer.rating("b.jpg") == nil)
        viewer.forgetRating("b.jpg.xmp")
        #expect(viewer.rating("b.jpg") == 4)
    }

    @Test("compares two to four images, which leave together") func compare() {
        var viewer = viewer
        for count in [2, 3, 3, 1] {
            _ = viewer.perform(.compare)
            #expect(viewer.shown.count == count)
            #expect(viewer.panes.rects.count == count)
        }
        _ = viewer.perform(.compare)
        viewer.setImageSize(PixelSize(width: 4000, height: 3000))
        #expect(viewer.placement?.view == PixelSize(width: 638, height: 800))
        #expect(viewer.perform(.leave).isEmpty)
        #expect(viewer.shown.count == 1 && viewer.mode == .single)
        #expect(viewer.placement?.view.width == 1280)
        _ = viewer.perform(.filmstrip)
        #expect(viewer.placement?.view.height == 800 - 108)
    }

    @Test("shows all images in turn in a slideshow") func slideshow() {
        var viewer = viewer
        _ = viewer.perform(.grid)
        #expect(
            viewer.perform(.slideshow) == [
                .slideshow(true), .message(.slideshow(isOn: true)),
            ])
        #expect(viewer.mode == .single)
        var names: [String] = []
        for _ in 0..<4 {
            names.append(viewer.list.current ?? "")
            viewer.advanceSlideshow()
        }
        #expect(names == ["a.jpg", "b.jpg", "c.jpg", "a.jpg"])
        #expect(viewer.perform(.leave).first == .slideshow(false))
        #expect(!viewer.isSlideshow)
    }

    @Test("replaces the list after changes were lost, and keeps the current image") func relisted()
    {
        var viewer = viewer
        viewer.select(1)
        viewer.replaceList(["b.jpg", "d.jpg", "e.jpg"])
        #expect((0..<viewer.list.count).map { viewer.list[$0] } == ["b.jpg", "d.jpg", "e.jpg"])
        #expect(viewer.list.current == "b.jpg")
        viewer.replaceList([])
        #expect(viewer.list.current == nil && viewer.mode == .grid)
    }
}
