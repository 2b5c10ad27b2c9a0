// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import Logging
import Pixels

@testable import ImageLoading

/// A folder of originals and a store, both gone with the last reference.
final class TestFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(
            path: "calotype-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var storeDirectory: String { url.appending(path: "store").path }
    var databasePath: String { "\(storeDirectory)/renditions.sqlite" }

    /// Puts a picture there, in place of what is there under this name.
    @discardableResult
    func write(_ name: String, grey: UInt8 = 1, side: Int = 4) throws -> String {
        let path = url.appending(path: name).path
        let file = FakeCodec.file(PixelSize(width: side, height: side), grey: grey)
        // Another file under the same name, so that it has another identity within one clock tick.
        try Data(file).write(to: URL(filePath: path), options: .atomic)
        return path
    }

    func store(byteLimit: Int = 1 << 20) throws(LoadError) -> RenditionStore {
        try RenditionStore(directory: storeDirectory, byteLimit: byteLimit, logger: .silent)
    }
}

extension Logger {
    static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

extension ImagePipeline {
    /// A pipeline of one format and, unless told otherwise, one decode thread.
    convenience init(
        _ codec: FakeCodec, store: (any RenditionStoring)? = nil,
        _ change: (inout Configuration) -> Void = { _ in }
    ) {
        var configuration = Configuration()
        configuration.decodeThreadCount = 1
        configuration.store = store
        change(&configuration)
        self.init(codecs: CodecSet([codec]), configuration: configuration, logger: .silent)
    }

    /// Makes a rendition that meets a box of `side` by `side` pixels.
    func rendition(_ path: String, side: Int) async throws(LoadError) -> Rendition {
        try await rendition(for: .fake(path, side: side))
    }

    func image(
        _ path: String, _ priority: LoadPriority = .visible
    ) async throws(LoadError) -> PixelBuffer {
        try await image(for: ImageRequest(path: path, priority: priority)).image
    }

    /// The first sample of a picture.
    func grey(_ path: String, _ priority: LoadPriority = .visible) async throws(LoadError) -> UInt8
    {
        // In two steps: Swift 6.3 destroys a picture that never came when a span is taken of the
        // result of a call that throws.
        let image = try await image(path, priority)
        return image.row(0)[0]
    }
}

extension RenditionRequest {
    static func fake(_ path: String, side: Int) -> RenditionRequest {
        let options = DecodeOptions(maximumSide: side)
        return RenditionRequest(
            image: ImageRequest(path: path, options: options), format: "fake")
    }
}
