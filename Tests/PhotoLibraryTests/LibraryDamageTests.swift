// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import LoadingTesting
import Testing

@testable import PhotoLibrary

@Suite(.timeLimit(.minutes(5))) struct LibraryDamageTests {
    /// The numbers of the damages, each of which starts the library four times.
    ///
    /// The time limit applies to a test case, which makes at most a hundred of them.
    private static let groups = {
        let count = min(1_000, StoreDamage.count(usually: 15))
        return stride(from: 0, to: count, by: 100).map { $0..<min($0 + 100, count) }
    }()

    @Test(
        "a damaged database costs reading files again, never an image", .serialized,
        arguments: groups)
    func rows(numbers: Range<Int>) async throws {
        let folder = try TestLibrary()
        let names = (0..<30).map { "\($0).jpg" }
        for (index, name) in names.enumerated() {
            try folder.write(name, "taken=2020:01:01 10:00:\(10 + index);camera=Canon")
        }
        let tables: [(name: String, columns: [String])] = [
            (
                "image",
                [
                    "folder", "name", "byte_count", "modified", "inode", "state", "aspect", "width",
                    "height", "rating", "latitude", "longitude", "error", "checksum",
                ]
            ),
            ("folder", ["path"]), ("words_content", ["c0", "c2", "c7"]),
        ]
        for number in numbers {
            var random = SeededRandom(seed: UInt64(100 + number))
            let first = try folder.library()
            try await first.whileRunning {
                await eventually { first.status.isComplete }
            }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.storeDirectory)
            let database = try #require(
                files.first { $0.hasPrefix("library-") && $0.hasSuffix(".sqlite") })
            try StoreDamage.changeRows("\(folder.storeDirectory)/\(database)", tables, &random)
            for _ in 0..<2 {
                let library = try folder.library()
                try await library.whileRunning {
                    await eventually { library.status.isComplete }
                    let paths = try await library.paths()
                    #expect(Set(paths).isSubset(of: Set(names)))
                }
            }
            let repaired = try folder.library()
            try await repaired.whileRunning {
                await eventually { repaired.status.isComplete }
                let paths = try await repaired.paths()
                #expect(paths.sorted() == names.sorted(), "damage \(number)")
            }
        }
    }

    @Test(
        "images of a folder whose row is damaged or missing are found once",
        arguments: [
            "UPDATE folder SET path = CAST(path AS BLOB)", "UPDATE folder SET path = NULL",
            "DELETE FROM folder",
        ])
    func folders(change: String) async throws {
        let folder = try TestLibrary()
        let names = ["1.jpg", "2.jpg", "3.jpg"]
        for name in names { try folder.write(name, "taken=2020:01:01 10:00:00") }
        let first = try folder.library()
        try await first.whileRunning { await eventually { first.status.isComplete } }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.storeDirectory)
        let database = try #require(
            files.first { $0.hasPrefix("library-") && $0.hasSuffix(".sqlite") })
        try StoreDamage.execute(change, on: "\(folder.storeDirectory)/\(database)")
        let library = try folder.library()
        try await library.whileRunning {
            await eventually { library.status.isComplete }
            #expect(try await library.paths().sorted() == names)
            let timeline = try await library.timeline(matching: "")
            #expect(timeline.count == names.count)
        }
    }
}
