// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageCommands
import ImageTesting
import Pixels
import Testing
import ViewerModel

@Suite("The viewer") struct ViewerTests {
    private let folder: TemporaryFolder
    private let names = (0..<60).map { "p\($0).jpg" }

    init() throws {
        folder = try TemporaryFolder()
        try makeFolder(folder.path("in"))
        for name in names {
            try Data(name.utf8).write(to: URL(filePath: folder.path("in/\(name)")))
        }
    }

    private func viewer(_ first: String?) -> Viewer {
        var viewer = Viewer(
            folder: folder.path("in"), first: first,
            editor: FolderEditor(trashFolder: folder.path("trash")))
        viewer.resize(to: PixelSize(width: 1280, height: 800))
        return viewer
    }

    @Test("shows the image that was opened before the folder is read") func first() {
        var viewer = viewer("p30.jpg")
        #expect(viewer.mode == .single)
        #expect(viewer.list.current == "p30.jpg")
        viewer.setImageSize(PixelSize(width: 4000, height: 3000))
        let placement = viewer.placement
        viewer.add(names)
        #expect(viewer.list.current == "p30.jpg")
        #expect(viewer.placement == placement)
        #expect(viewer.perform(.next).isEmpty)
        #expect(viewer.list.current == "p31.jpg")
        #expect(viewer.placement == nil)
    }

    @Test("knows the images that the next keys show, more in the direction of the last movement")
    func neighbours() {
        var viewer = viewer("p0.jpg")
        viewer.add(names)
        #expect(viewer.neighbours == [1, 2])
        for _ in 0..<3 { _ = viewer.perform(.next) }
        #expect(viewer.neighbours == [4, 5, 2])
        _ = viewer.perform(.previous)
        #expect(viewer.neighbours == [1, 0, 3])
        _ = viewer.perform(.compare)
        #expect(viewer.neighbours == [1, 0, 4])
        _ = viewer.perform(.last)
        #expect(viewer.neighbours == [58])
    }

    @Test("shows what another program opens, and reverts changes in the folder before")
    func another() throws {
        var viewer = viewer("p30.jpg")
        viewer.add(names)
        _ = viewer.perform(.slideshow)
        viewer.show("p5.jpg", in: folder.path("in"))
        #expect(viewer.list.current == "p5.jpg")
        #expect(viewer.list.count == 60)
        #expect(!viewer.isSlideshow)
        viewer.show(nil, in: folder.path("in"))
        #expect(viewer.mode == .grid)
        #expect(viewer.list.current == "p5.jpg")
        _ = viewer.perform(.trash)
        #expect(!FileManager.default.fileExists(atPath: folder.path("in/p5.jpg")))
        viewer.show("c.jpg", in: folder.path("other"))
        #expect(viewer.folder == folder.path("other"))
        #expect(viewer.mode == .single)
        #expect(viewer.view == PixelSize(width: 1280, height: 800))
        _ = viewer.perform(.undo)
        #expect(FileManager.default.fileExists(atPath: folder.path("in/p5.jpg")))
        #expect((0..<viewer.list.count).map { viewer.list[$0] } == ["c.jpg"])
    }

    @Test("opens a file in its folder, and a folder") func opened() throws {
        let file = try OpenedPath(folder.path("in/p5.jpg"))
        #expect(file.folder == folder.path("in"))
        #expect(file.file == "p5.jpg")
        #expect(try OpenedPath(file.uri) == file)
        let whole = try OpenedPath(folder.path("in/"))
        #expect(whole.folder == folder.path("in"))
        #expect(whole.file == nil)
        #expect(throws: FileFailure.self) { try OpenedPath(folder.path("in/missing.jpg")) }
        #expect(throws: FileFailure.self) { try OpenedPath("ftp://example.com/p5.jpg") }
    }

    @Test("renames the current image with its sidecar, and back, but never to no name")
    func rename() throws {
        var viewer = viewer("p3.jpg")
        viewer.add(names)
        _ = viewer.perform(.rate4)
        _ = viewer.perform(.previous)
        #expect(viewer.perform(.rename) == [.askForName("p3.jpg")])
        for name in ["", ".", "..", "1/p3.jpg", "/p3.jpg"] {
            #expect(viewer.rename(to: name) == [.message(.isNoName(name))])
        }
        #expect(viewer.rename(to: "p3.jpg").isEmpty)
        // An existing file is never replaced.
        guard case .failure? = viewer.rename(to: "p4.jpg").first else {
            Issue.record("p4.jpg was replaced")
            return
        }
        #expect(viewer.rename(to: "z.jpg") == [.message(.isRenamed("p3.jpg", to: "z.jpg"))])
        #expect(viewer.list.current == "z.jpg" && viewer.list.count == 60)
        #expect(viewer.rating("z.jpg") == 4 && viewer.rating("p3.jpg") == nil)
        #expect(viewer.perform(.undo) == [.message(.isRestored("p3.jpg"))])
        #expect(viewer.list.current == "p3.jpg" && viewer.list.count == 60)
        #expect(viewer.rating("p3.jpg") == 4)
    }

    @Test("has cells of the same size on displays of any density") func density() {
        var viewer = viewer(nil)
        viewer.add(names)
        viewer.resize(to: PixelSize(width: 2560, height: 1600), density: 2)
        #expect(viewer.grid.columnCount == 6)
        #expect(viewer.grid.side == 384)
    }

    @Test("moves by rows in the grid, and keeps the current cell visible") func rows() {
        var viewer = viewer(nil)
        viewer.add(names)
        let columns = viewer.grid.columnCount
        #expect(columns == 6)
        for command in [ViewerCommand.down, .down, .pageDown, .up, .last, .first, .up, .previous] {
            _ = viewer.perform(command)
            viewer.motion.advance(by: 10)
            let index = viewer.list.currentIndex ?? -1
            #expect(viewer.grid.visible(at: viewer.motion.offset).contains(index))
        }
        #expect(viewer.list.currentIndex == 0)
    }

    @Test("keeps the current cell in place while others appear before it") func inPlace() {
        var viewer = viewer(nil)
        viewer.add(Array(names[30...]))
        viewer.select(29)
        viewer.motion.advance(by: 10)
        func top() -> Double {
            let index = viewer.list.currentIndex ?? 0
            return Double(viewer.grid.origin(of: index).y) - viewer.motion.offset
        }
        let before = top()
        viewer.add(Array(names[..<30]))
        #expect(viewer.list.current == "p59.jpg")
        #expect(top() == before)
    }

    @Test("starts a folder with its first image, in whatever order it is read") func firstOfFolder()
    {
        var viewer = viewer(nil)
        viewer.add(Array(names[30...]))
        #expect(viewer.list.current == "p30.jpg")
        viewer.add(Array(names[..<30]))
        #expect(viewer.list.current == "p0.jpg")
        #expect(viewer.motion.offset == 0)
    }

    @Test("keeps a restored file that is reported as removed afterwards") func lateReport() throws {
        var viewer = viewer("p5.jpg")
        viewer.add(names)
        _ = viewer.perform(.trash)
        #expect(viewer.list.index(of: "p5.jpg") == nil)
        _ = viewer.perform(.undo)
        viewer.removeMissing(["p5.jpg"])
        #expect(viewer.list.current == "p5.jpg" && viewer.list.count == names.count)
        try FileManager.default.removeItem(atPath: folder.path("in/p5.jpg"))
        viewer.removeMissing(["p5.jpg"])
        #expect(viewer.list.count == names.count - 1)
    }

    @Test("leaves step by step") func leaves() {
        var viewer = viewer("p1.jpg")
        #expect(viewer.perform(.fullScreen) == [.fullScreen(true)])
        _ = viewer.perform(.keys)
        #expect(viewer.perform(.leave).isEmpty)
        #expect(!viewer.showsKeys)
        #expect(viewer.perform(.leave) == [.fullScreen(false)])
        #expect(viewer.perform(.leave).isEmpty)
        #expect(viewer.mode == .grid)
        #expect(viewer.perform(.leave) == [.close])
    }

    @Test("survives 1,000 sequences of keys, and undo restores all files")
    func random() throws {
        var random = SeededGenerator(state: 29)
        let names = ["a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"]
        let root = folder.path("few")
        try makeFolder(root)
        for name in names {
            // Enough of a JPEG file to be turned.
            let file: [UInt8] = [0xFF, 0xD8, 0xFF, 0xFE, 0, 3] + Array(name.utf8.prefix(1))
            try Data(file).write(to: URL(filePath: "\(root)/\(name)"))
        }
        let before = try files(root)
        for _ in 0..<1000 {
            var viewer = Viewer(
                folder: root, first: "c.jpg",
                editor: FolderEditor(trashFolder: folder.path("trash")))
            viewer.resize(to: PixelSize(width: 1280, height: 800))
            viewer.add(names)
            for _ in 0..<12 {
                let command = try #require(ViewerCommand.allCases.randomElement(using: &random))
                _ = viewer.perform(command)
                viewer.setImageSize(PixelSize(width: 3000, height: 2000))
                viewer.motion.advance(by: 0.016)
                if let index = viewer.list.currentIndex { #expect(index < viewer.list.count) }
                #expect(viewer.placement.map { $0.view == viewer.panes.size } ?? true)
            }
            while viewer.perform(.undo) != [.message(.nothingToUndo)] {}
            #expect(viewer.list.count == names.count)
            guard try files(root) == before else {
                Issue.record("the folder differs: \(try files(root))")
                return
            }
        }
    }

    private func files(_ root: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: root)
        return try Dictionary(
            names.map { ($0, try Data(contentsOf: URL(filePath: "\(root)/\($0)"))) },
            uniquingKeysWith: { $1 })
    }
}

/// A generator of the same numbers in each run.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        let mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        return mixed ^ mixed >> 27
    }
}
