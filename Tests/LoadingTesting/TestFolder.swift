// SPDX-License-Identifier: Apache-2.0

package import Foundation
internal import ImageTesting
package import Logging
internal import Pixels

/// A folder of originals and a store, both gone with the last reference.
package final class TestFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(
            path: "calotype-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package var storeDirectory: String { url.appending(path: "store").path }
    package var databasePath: String { "\(storeDirectory)/renditions.sqlite" }

    /// Writes an image, and replaces a file of the same name.
    @discardableResult
    package func write(_ name: String, grey: UInt8 = 1, side: Int = 4) throws -> String {
        let path = url.appending(path: name).path
        let file = FakeCodec.file(PixelSize(width: side, height: side), grey: grey)
        // Another file under the same name, so that it has another identity within one clock tick.
        try Data(file).write(to: URL(filePath: path), options: .atomic)
        return path
    }
}

extension Logger {
    package static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
