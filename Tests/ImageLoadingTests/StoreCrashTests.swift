// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import GRDB
import ImageTesting
import LoadingTesting
import Pixels
import Testing

@testable import ImageLoading

@Suite("A store whose process is killed") struct StoreCrashTests {
    private static let byteLimit = 200_000

    @Test("opens again with every rendition whole and every byte counted", .timeLimit(.minutes(5)))
    func killed() throws {
        let folder = try TestFolder()
        let originals = try (UInt8(0)..<4).map {
            try folder.write("\($0).fake", grey: $0, side: 300)
        }
        var random = SeededRandom(seed: 1)
        var keptCount = 0
        for round in 0..<50 {
            try killWriter(
                afterLineCount: .random(in: 0...20, using: &random), seed: UInt64(round),
                folder, originals)
            keptCount += try checkStore(of: folder)
        }
        #expect(keptCount > 50, "the writer was killed before it kept anything")
    }

    private func killWriter(
        afterLineCount count: Int, seed: UInt64, _ folder: TestFolder, _ originals: [String]
    ) throws {
        let writer = try #require(builtProgram("TestHelper"))
        let output = Pipe()
        let process = Process()
        process.executableURL = writer
        process.arguments =
            ["write-store", folder.storeDirectory, "\(Self.byteLimit)", "\(seed)"] + originals
        process.standardOutput = output
        try process.run()
        var lineCount = 0
        while lineCount < count {
            let text = output.fileHandleForReading.availableData
            try #require(!text.isEmpty, "the writer ended by itself")
            lineCount += text.count { $0 == UInt8(ascii: "\n") }
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try #require(process.terminationReason == .uncaughtSignal)
    }

    /// Reads everything that the store has by itself and through its own calls.
    private func checkStore(of folder: TestFolder) throws -> Int {
        let store = try folder.store(byteLimit: Self.byteLimit)
        defer { store.close() }
        let rows = try #require(
            store.read { db in try Row.fetchAll(db, sql: "SELECT * FROM rendition") })
        let contentCount = store.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM content")
        }
        #expect(contentCount == rows.count)
        #expect(rows.reduce(0) { $0 + ($1["byte_count"] as Int) } == store.byteCount)
        #expect(store.byteCount <= Self.byteLimit)
        for row in rows {
            let original = try FileIdentity(path: row["path"])
            let request: String = row["request"]
            let box = try #require(request.firstMatch(of: #/box=(\d+)x(\d+) /#)?.output)
            let size = try PixelSize(width: #require(Int(box.1)), height: #require(Int(box.2)))
            var wanted = RenditionRequest.fake(original.path, side: 1)
            wanted.image.options.box = size
            let rendition = try #require(
                store.rendition(for: RenditionKey(OriginalVersion(original), wanted)))
            let grey = try #require(
                UInt8(URL(filePath: original.path).deletingPathExtension().lastPathComponent))
            let side = min(size.width, size.height)
            #expect(
                rendition.bytes == FakeCodec.file(PixelSize(width: side, height: side), grey: grey))
            #expect(rendition.bytes.count == row["byte_count"])
        }
        return rows.count
    }
}
