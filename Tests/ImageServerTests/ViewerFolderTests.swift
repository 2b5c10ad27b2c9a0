// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPCaching
import HTTPTypes
import ImageCodecs
import ImageLoading
import LoadScheduling
import Logging
import Pixels
import Testing
import ViewerModel

@testable import ImageServer

@Suite("A folder of a server") struct ViewerFolderTests {
    /// Sends the requests of a viewer to the server without a network.
    private struct GalleryTransport: HTTPTransport {
        let gallery: TestGallery

        func send(_ request: HTTPRequest) async throws(LoadError) -> HTTPTransportResponse {
            let path = request.path ?? "/"
            guard let answer = try? await gallery.get(path) else {
                throw .connectionFailed(url: path, reason: "no answer")
            }
            return HTTPTransportResponse(
                head: HTTPResponse(
                    status: .init(code: answer.status), headerFields: answer.headers),
                body: OneBody(bytes: answer.body))
        }
    }

    private struct OneBody: AsyncSequence, AsyncIteratorProtocol {
        typealias Failure = LoadError
        var bytes: [UInt8]?

        func makeAsyncIterator() -> Self { self }
        mutating func next() async throws(LoadError) -> [UInt8]? { bytes.take() }
        mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(LoadError) -> [UInt8]? { bytes.take() }
    }

    @Test("is displayed by the viewer, with sizes and renditions") func viewer() async throws {
        let gallery = try TestGallery()
        for name in ["10.png", "ü 2.png"] {
            try gallery.image("house/\(name)", PixelSize(width: 600, height: 300))
        }
        try gallery.image("house/trip/a.png")
        let transport = GalleryTransport(gallery: gallery)
        let folder = ServedFolder(try HTTPURL("http://host/house/"), transport: transport)
        var names: [String] = []
        for try await batch in folder.names() { names += batch }
        #expect(names == ["10.png", "ü 2.png"])
        #expect(folder.pixelSize(of: "ü 2.png") == PixelSize(width: 600, height: 300))

        var configuration = ImagePipeline.Configuration()
        configuration.web = HTTPLoader(
            transport: transport, store: nil, codecs: builtInCodecs, configuration: .init(),
            logger: Logger(label: "test"))
        let pipeline = ImagePipeline(
            codecs: builtInCodecs, configuration: configuration, logger: Logger(label: "test"))
        for (side, width) in [(192, 192), (600, 600)] {
            let source = folder.source(of: "ü 2.png", filling: side, isStill: true)
            let loaded = try await pipeline.image(for: ImageRequest(source))
            #expect(loaded.image.size == PixelSize(width: width, height: width / 2))
        }
        let original = try await pipeline.data(for: ImageRequest(folder.original(of: "10.png")))
        let expected = try await gallery.get("/house/10.png").body
        #expect(original.copy(of: 0..<original.count) == expected)
        await pipeline.close()
    }
}
