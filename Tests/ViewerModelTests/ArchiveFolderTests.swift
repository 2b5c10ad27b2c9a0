// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageCommands
import ImageLoading
import ImageTesting
import LoadScheduling
import Logging
import Pixels
import Testing
import ViewerModel

@Suite("An archive in the viewer") struct ArchiveFolderTests {
    private let folder: TemporaryFolder
    private let path: String
    private let image = TestImage.photograph(PixelSize(width: 64, height: 48))

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("album.zip")
    }

    private func write(_ entries: [ZIPFile.Entry]) throws {
        try Data(ZIPFile(entries: entries).bytes).write(to: URL(filePath: path))
    }

    private func open() -> ArchiveFolder { ArchiveFolder(path, extensions: ["png", "jpg"]) }

    private func names(_ folder: some ImageFolder) async throws -> [String] {
        var all: [String] = []
        for try await names in folder.names() { all += names }
        return all
    }

    @Test("is opened as a folder, whatever its name is") func opened() throws {
        try Data(ZIPFile().bytes).write(to: URL(filePath: folder.path("photos.cbz")))
        let opened = try OpenedPath(folder.path("photos.cbz"))
        #expect(opened.kind == .archive)
        #expect(opened.folder == folder.path("photos.cbz"))
        #expect(opened.file == nil)
    }

    @Test("has the images of all its folders, without hidden ones") func list() async throws {
        try write([
            .init("b.png", [1]), .init("trip/a.JPG", [1]), .init("trip/readme.txt", [1]),
            .init(".hidden/c.png", [1]), .init("trip/._a.jpg", [1]),
            .init("__MACOSX/trip/a.jpg", [1]),
        ])
        #expect(try await names(open()) == ["b.png", "trip/a.JPG"])
    }

    @Test("has the pixels of its images, and errors that name them") func pixels() async throws {
        let file = try ImageDestination(format: "png", codecs: builtInCodecs).encode(image)
        var damaged = ZIPFile.Entry("damaged.png", file)
        damaged.checksum ^= 1
        try write([.init("trip/a.png", file), damaged])
        let archive = open()
        #expect(throws: CodecError.self) { try archive.bytes(of: "trip/a.png", DecodeLimits()) }
        #expect(try await names(archive).count == 2)
        let pipeline = ImagePipeline(
            codecs: builtInCodecs, configuration: .init(), logger: Logger(label: "test"))
        let source = archive.source(of: "trip/a.png", filling: 64, isStill: true)
        let loaded = try await pipeline.image(for: ImageRequest(source))
        #expect(PixelComparison(loaded.image, image).maximumDifference == 0)
        let bytes = try archive.bytes(of: "trip/a.png", DecodeLimits())
        #expect(bytes?.copy(of: 0..<file.count) == file)
        for name in ["damaged.png", "missing.png"] {
            let request = ImageRequest(archive.original(of: name))
            let error = await #expect(throws: LoadError.self) {
                _ = try await pipeline.image(for: request)
            }
            #expect("\(String(describing: error))".contains("album.zip/\(name)"))
        }
        await pipeline.close()
    }

    @Test("has other keys in caches after it has changed") func keys() async throws {
        try write([.init("a.png", [1])])
        let old = open()
        #expect(try await names(old) == ["a.png"])
        try write([.init("a.png", [1, 2])])
        let new = open()
        #expect(try await names(new) == ["a.png"])
        #expect(new.original(of: "a.png").name != old.original(of: "a.png").name)
    }

    @Test("is refused if it is damaged or hostile", arguments: ["../a.png", "/a.png"])
    func hostile(name: String) async throws {
        try write([.init(name, [1])])
        let error = await #expect(throws: FileFailure.self) { _ = try await names(open()) }
        #expect(error?.path == path)
        #expect(error?.reason.contains("leads out of the archive") == true)
    }

    @Test(
        "is not changed, and commands say why",
        arguments: ViewerCommand.allCases.filter { command in
            command.rating != nil || command.moveFolder != nil || command.copyFolder != nil
                || [.trash, .rename, .turnLeft, .turnRight, .review].contains(command)
        })
    func isReadOnly(command: ViewerCommand) throws {
        try write([.init("a.png", [1])])
        let before = try Data(contentsOf: URL(filePath: path))
        for kind in [FolderKind.archive, .server] {
            var viewer = viewer(kind)
            #expect(viewer.perform(command) == [.message(.isReadOnly(kind))])
            #expect(viewer.list.count == 1)
        }
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["album.zip"])
    }

    @Test(
        "passes no file to other programs, but can be printed",
        arguments: [FolderKind.archive, .server])
    func files(kind: FolderKind) {
        var viewer = viewer(kind)
        for command in [ViewerCommand.copy, .openWith, .wallpaper] {
            #expect(viewer.perform(command) == [.message(.needsFile(kind))])
        }
        #expect(viewer.perform(.print) == [.print("a.png")])
        #expect(viewer.rename(to: "b.png") == [.message(.isReadOnly(kind))])
        #expect(viewer.perform(.undo) == [.message(.nothingToUndo)])
    }

    private func viewer(_ kind: FolderKind) -> Viewer {
        var viewer = Viewer(
            folder: path, first: nil, kind: kind,
            editor: FolderEditor(trashFolder: folder.path("trash")))
        viewer.resize(to: PixelSize(width: 1280, height: 800))
        viewer.add(["a.png"])
        return viewer
    }

    @Test("is left for a folder, whose images can be changed") func left() throws {
        var viewer = viewer(.archive)
        viewer.show(nil, in: folder.path)
        #expect(viewer.kind == .files)
        try Data([1]).write(to: URL(filePath: folder.path("a.png")))
        viewer.add(["a.png"])
        #expect(viewer.perform(.trash) == [.message(.isInTrash("a.png"))])
    }
}
