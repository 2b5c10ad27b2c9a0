// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import LoadingTesting
import Pixels
import Testing

@testable import ImageLoading

@Suite("A process that creates tiles", .timeLimit(.minutes(5))) struct PyramidWriterTests {
    private func start(_ folder: TestFolder, _ size: PixelSize, _ output: Pipe) throws -> Process {
        let process = Process()
        let writer = try #require(builtProgram("TestHelper"))
        process.executableURL = writer
        process.arguments = [
            "write-pyramid", folder.storeDirectory, "\(size.width)", "\(size.height)", "1",
        ]
        process.standardOutput = output
        try process.run()
        return process
    }

    private func parts(_ folder: TestFolder) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.storeDirectory)
        return (names ?? []).filter { $0.contains(".part-") }
    }

    @Test("takes memory in proportion to the width of the image, not to its size")
    func memory() throws {
        let folder = try TestFolder()
        let size = PixelSize(width: 20_000, height: TestBuild.isOptimized ? 20_000 : 10_000)
        let pyramid = TilePyramid(size)
        // Strips of 256 rows for every level, and a row or two besides.
        #expect(PyramidLevel.byteCount(pyramid, .gray8) < 2 * 20_000 * 260)
        let output = Pipe()
        let process = try start(folder, size, output)
        let answer = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: answer, as: UTF8.self)
        let peak = try #require(Int(text.filter(\.isNumber)))
        // The process itself takes some 20 MiB; the image has 191 or 381.
        if !Sanitizer.watchesAddresses { #expect(peak < 80 << 10, "\(peak) KiB") }
        let tiles = try #require(
            FolderTileStore(directory: folder.storeDirectory)
                .tiles(for: key(size)))
        #expect(pyramid.tiles.allSatisfy { tiles.file(of: $0)?.count == 1 })
        #expect(parts(folder).isEmpty)
    }

    @Test("leaves no files when it is killed") func killed() async throws {
        let folder = try TestFolder()
        // It would take a minute, so that it is killed long before its end.
        let size = PixelSize(width: 20_000, height: 500_000)
        for _ in 0..<3 {
            let process = try start(folder, size, Pipe())
            await eventually { !parts(folder).isEmpty || !process.isRunning }
            // While it runs, other processes do not remove its file.
            _ = try FolderTileStore(directory: folder.storeDirectory)
            await eventually { parts(folder).count == 1 || !process.isRunning }
            #expect(parts(folder).count == 1)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            try #require(process.terminationReason == .uncaughtSignal)
            let store = try FolderTileStore(directory: folder.storeDirectory)
            #expect(store.tiles(for: key(size)) == nil)
            #expect(parts(folder).isEmpty)
        }
    }

    private func key(_ size: PixelSize) -> TileSetKey {
        TileSetKey(
            name: "\(size)", pyramid: TilePyramid(size), encoding: "rows rows 85 420 false")
    }
}
