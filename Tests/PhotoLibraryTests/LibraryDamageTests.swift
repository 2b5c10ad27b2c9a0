// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import LoadingTesting
import Testing

@testable import PhotoLibrary

@Suite(.timeLimit(.minutes(5))) struct LibraryDamageTests {
    @Test("a damaged database costs reading files again, never an image")
    func rows() async throws {
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
        for number in 0..<StoreDamage.count(usually: 15) {
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
}
