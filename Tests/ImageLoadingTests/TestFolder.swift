// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import LoadingTesting
import LoadScheduling
import Logging
import Pixels

@testable import ImageLoading

extension TestFolder {
    func store(byteLimit: Int = 1 << 20) throws(LoadError) -> RenditionStore {
        try RenditionStore(directory: storeDirectory, byteLimit: byteLimit, logger: .silent)
    }
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

    /// The first sample of an image.
    func grey(_ path: String, _ priority: LoadPriority = .visible) async throws(LoadError) -> UInt8
    {
        // In two steps: Swift 6.3 destroys an image that never came when a span is taken of the
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
