// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCommands
import ImageTesting
import Testing
import ViewerModel

@Suite("Changes of files") struct FolderEditorTests {
    private let folder: TemporaryFolder
    private let editor: FolderEditor

    init() throws {
        folder = try TemporaryFolder()
        editor = FolderEditor(trashFolder: folder.path("trash"), now: { 1_000_000_000 })
        try makeFolder(folder.path("in"))
        for name in ["a #.jpg", "b.jpg"] {
            try Data(name.utf8).write(to: URL(filePath: folder.path("in/\(name)")))
        }
    }

    /// The names and the bytes of the files in the folder.
    private func files() throws -> [String: Data] {
        let root = folder.path("in")
        let names = try FileManager.default.contentsOfDirectory(atPath: root)
        return try Dictionary(
            names.map { ($0, try Data(contentsOf: URL(filePath: "\(root)/\($0)"))) },
            uniquingKeysWith: { $1 })
    }

    @Test("move a file to the trash with its origin, and back") func trash() throws {
        var editor = editor
        let before = try files()
        try editor.trash([folder.path("in/a #.jpg")])
        #expect(try files().keys.sorted() == ["b.jpg"])
        let info = try String(
            contentsOfFile: folder.path("trash/info/a #.jpg.trashinfo"), encoding: .utf8)
        let path = folder.path("in/a%20%23.jpg")
        #expect(info.hasPrefix("[Trash Info]\nPath=\(path)\nDeletionDate=2001-09-"))
        #expect(try editor.undo() == [folder.path("in/a #.jpg")])
        #expect(try files() == before)
        let rest = try FileManager.default.contentsOfDirectory(atPath: folder.path("trash/info"))
        #expect(rest.isEmpty)
    }

    @Test(
        "move a file of another file system to the trash of that file system, and back",
        .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "no /dev/shm"))
    func otherFileSystem() throws {
        var editor = editor
        let shared = "/dev/shm/calotype-\(UUID().uuidString)"
        try makeFolder(shared)
        let trash = "/dev/shm/.Trash-\(getuid())"
        defer {
            try? FileManager.default.removeItem(atPath: shared)
            // Only if they are empty.
            for path in ["\(trash)/files", "\(trash)/info", trash] { unsafe _ = rmdir(path) }
        }
        let name = "\(UUID().uuidString) 1.jpg"
        let path = "\(shared)/\(name)"
        try Data("x".utf8).write(to: URL(filePath: path))
        try editor.trash([path])
        #expect(!FileManager.default.fileExists(atPath: path))
        let info = try String(
            contentsOfFile: "\(trash)/info/\(name).trashinfo", encoding: .utf8)
        let origin = path.dropFirst("/dev/shm/".count).replacing(" ", with: "%20")
        #expect(info.hasPrefix("[Trash Info]\nPath=\(origin)\n"))
        #expect(try editor.undo() == [path])
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("x".utf8))
        #expect(!FileManager.default.fileExists(atPath: "\(trash)/info/\(name).trashinfo"))
    }

    @Test("keep files of the same name in the trash apart") func sameName() throws {
        var editor = editor
        let path = folder.path("in/b.jpg")
        try editor.trash([path])
        try Data("second".utf8).write(to: URL(filePath: path))
        try editor.trash([path])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("trash/files"))
        #expect(names.sorted() == ["b.jpg", "b.jpg.2"])
        #expect(try editor.undo() == [path])
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("second".utf8))
        // The first one would replace the second.
        #expect(throws: FileFailure.self) { try editor.undo() }
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("second".utf8))
    }

    @Test("never replace a file by renaming another") func renaming() throws {
        var editor = editor
        let before = try files()
        #expect(throws: FileFailure.self) {
            try editor.rename(folder.path("in/a #.jpg"), to: folder.path("in/b.jpg"))
        }
        #expect(try files() == before)
        #expect(try editor.undo() == nil)
        try editor.rename(folder.path("in/a #.jpg"), to: folder.path("in/c.jpg"))
        #expect(try files().keys.sorted() == ["b.jpg", "c.jpg"])
        _ = try editor.undo()
        #expect(try files() == before)
    }

    @Test("write a rating, and revert to the bytes before", arguments: -1...5)
    func rating(rating: Int) throws {
        var editor = editor
        let image = folder.path("in/b.jpg")
        let before = try files()
        try editor.rate(image, rating)
        try editor.rate(image, 5 - rating.magnitude.description.count)
        _ = try editor.undo()
        let sidecar = try Data(contentsOf: URL(filePath: "\(image).xmp"))
        #expect(XMPSidecar.rating(Array(sidecar)) == rating)
        _ = try editor.undo()
        #expect(try files() == before)
        #expect(try editor.undo() == nil)
    }

    @Test("revert several files of a command in one step") func oneStep() throws {
        var editor = editor
        let before = try files()
        let paths = ["a #.jpg", "b.jpg"].map { folder.path("in/\($0)") }
        try editor.trash(paths)
        #expect(try files().isEmpty)
        #expect(try editor.undo() == paths)
        #expect(try files() == before)
        #expect(try editor.undo() == nil)
        // If one of them cannot be moved, all stay.
        #expect(throws: FileFailure.self) {
            try editor.trash(paths + [folder.path("in/missing.jpg")])
        }
        #expect(try files() == before)
        #expect(try editor.undo() == nil)
    }

    @Test("never replace what another program has written since") func foreignChanges() throws {
        var editor = editor
        let image = folder.path("in/b.jpg")
        let sidecar = URL(filePath: "\(image).xmp")
        let foreign = Data("<rdf:Description xmp:Rating='2' other='1'/>".utf8)
        try editor.rate(image, 1)
        try editor.rate(image, 4)
        try foreign.write(to: sidecar)
        #expect {
            try editor.undo()
        } throws: {
            ($0 as? FileFailure)?.reason == "not restored: another program changed the file"
        }
        #expect(try Data(contentsOf: sidecar) == foreign)
        // The rating before would be as wrong.
        #expect(throws: FileFailure.self) { try editor.undo() }
        #expect(try Data(contentsOf: sidecar) == foreign)
        #expect(try editor.undo() == nil)
        // A copy that was edited is not removed.
        try editor.copy(image, into: folder.path("in/1"))
        let copy = URL(filePath: folder.path("in/1/b.jpg"))
        try foreign.write(to: copy)
        #expect(throws: FileFailure.self) { try editor.undo() }
        #expect(try Data(contentsOf: copy) == foreign)
    }

    @Test("leave nothing at the destination of a file that has vanished") func vanished() throws {
        var editor = editor
        let before = try files()
        #expect(throws: FileFailure.self) {
            try editor.copy(folder.path("in/missing.jpg"), into: folder.path("in/1"))
        }
        #expect(try files() == before)
        #expect(try editor.undo() == nil)
    }

    @Test("copy a file with its permissions") func permissions() throws {
        var editor = editor
        let manager = FileManager.default
        try manager.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: folder.path("in/b.jpg"))
        try editor.copy(folder.path("in/b.jpg"), into: folder.path("in/1"))
        let copy = try manager.attributesOfItem(atPath: folder.path("in/1/b.jpg"))
        #expect(copy[.posixPermissions] as? Int == 0o600)
    }
}
