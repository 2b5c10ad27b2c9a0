// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Testing
import ViewerModel

@Suite("The list of a folder") struct FileFolderTests {
    @Test("has the images of a folder of usual size at once, so that the first ones are known")
    func firstBatch() async throws {
        let folder = try TemporaryFolder()
        for name in ["notes.txt", ".hidden.png"] + (0..<1000).map({ "\($0).png" }) {
            try Data("x".utf8).write(to: URL(filePath: folder.path(name)))
        }
        var batches: [[String]] = []
        for try await names in FileFolder(folder.path, extensions: ["png"]).names() {
            batches.append(names)
        }
        #expect(Set(try #require(batches.first)) == Set((0..<1000).map { "\($0).png" }))
    }
}
