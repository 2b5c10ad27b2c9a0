// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import LoadingTesting
import Pixels
import Testing

@testable import ImageLoading

@Suite(
    "The bytes of a rendition", .timeLimit(.minutes(5)),
    .enabled(if: builtInCodecs.codec(named: "jpeg") != nil))
struct ReproducibleRenditionTests {
    private let folder: TestFolder
    private let path: String

    init() throws {
        folder = try TestFolder()
        path = folder.url.appending(path: "a.jpg").path
        try ImageDestination(format: "jpeg", codecs: builtInCodecs)
            .write(TestImage.photograph(PixelSize(width: 800, height: 600)), to: path)
    }

    private func pipeline(store: (any RenditionStoring)? = nil) -> ImagePipeline {
        var configuration = ImagePipeline.Configuration()
        configuration.decodeThreadCount = 2
        configuration.store = store
        return ImagePipeline(
            codecs: builtInCodecs, configuration: configuration, logger: .silent)
    }

    private func request(
        _ side: Int, _ mode: ResizeMode = .fit, format: String = "jpeg",
        processors: [any ImageProcessor] = []
    ) -> RenditionRequest {
        let box = PixelSize(width: side, height: side)
        var image = ImageRequest(path: path, options: DecodeOptions(box: box, mode: mode))
        image.processors = processors
        return RenditionRequest(image: image, format: format)
    }

    private var requests: [RenditionRequest] {
        [500, 30, 96, 100, 320, 64, 213, 700].map { request($0) }
            + [request(120, .fill), request(90, .stretch), request(100, format: "png")]
            + [request(100, processors: [ImageOperation.roundCorners(radius: 8)])]
    }

    /// Each rendition, made by a pipeline that has made nothing else.
    private func references() async throws -> [[UInt8]] {
        var references: [[UInt8]] = []
        for request in requests {
            references.append(try await pipeline().rendition(for: request).bytes)
        }
        return references
    }

    @Test("are the same in any order, with larger images in memory") func anyOrder() async throws {
        let references = try await references()
        for order in [Array(requests.indices), requests.indices.reversed()] {
            let pipeline = pipeline()
            for index in order {
                #expect(
                    try await pipeline.rendition(for: requests[index]).bytes == references[index])
            }
        }
    }

    /// Returns whether a rendition was made by decoding the file, and its bytes.
    private func make(
        _ request: RenditionRequest, _ pipeline: ImagePipeline
    ) async throws -> (isDecoded: Bool, bytes: [UInt8]) {
        let story = LoadMetrics()
        let bytes = try await pipeline.rendition(for: request, story: story).bytes
        let stages = story.steps.map(\.stage)
        #expect(stages.contains(.decode) != stages.contains(.resample))
        return (stages.contains(.decode), bytes)
    }

    @Test("are the same from planes of an earlier decode") func planes() async throws {
        let pipeline = pipeline()
        // The planes of the second size are kept.
        var decoded: [Bool] = []
        for request in [
            request(78), request(70), request(62), request(48, .fill), request(30), request(300),
        ] {
            let (isDecoded, bytes) = try await make(request, pipeline)
            decoded.append(isDecoded)
            #expect(try await self.pipeline().rendition(for: request).bytes == bytes)
        }
        #expect(decoded == [true, true, false, false, true, true])
        #expect(pipeline.resources.reduced.byteCount > 0)

        // Planes of a former version are not used.
        try ImageDestination(format: "jpeg", codecs: builtInCodecs).write(
            TestImage.photograph(PixelSize(width: 640, height: 480), seed: 2), to: path)
        let (isDecoded, bytes) = try await make(request(70), pipeline)
        #expect(isDecoded)
        #expect(try await self.pipeline().rendition(for: request(70)).bytes == bytes)

        #expect(try await make(request(72), pipeline).isDecoded == false)
        pipeline.removeFromMemory(path)
        #expect(try await make(request(74), pipeline).isDecoded)
        pipeline.respond(to: .warning)
        #expect(pipeline.resources.reduced.byteCount == 0)
        #expect(try await make(request(76), pipeline).isDecoded)
    }

    @Test("are the same when all are requested at once") func atOnce() async throws {
        let references = try await references()
        for _ in 0..<3 {
            let pipeline = pipeline()
            let tasks = requests.map { request in
                Task { try await pipeline.rendition(for: request).bytes }
            }
            for (task, reference) in zip(tasks, references) {
                #expect(try await task.value == reference)
            }
        }
    }

    @Test("do not depend on images that views have made or stored") func afterViews() async throws {
        let references = try await references()
        let pipeline = pipeline(store: try folder.store())
        for request in requests {
            var view = request.image
            view.options.box = PixelSize(width: 750, height: 750)
            _ = try await pipeline.image(for: view)
            _ = try await pipeline.image(for: request.image)
        }
        for (request, reference) in zip(requests, references) {
            #expect(try await pipeline.rendition(for: request).bytes == reference)
        }
    }

    @Test("are not changed by a view of the same size in flight") func sharedLoad() {
        let image = request(100).image
        let original = OriginalIdentity.named("a")
        var reproducible = ImageLoadKey(image: ImageKey(image, of: original))
        let view = reproducible
        reproducible.isReproducible = true
        #expect(reproducible != view)
    }
}
