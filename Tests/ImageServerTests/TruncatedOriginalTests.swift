// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import HTTPTypes
import ImageCodecs
import ImageLoading
import ImageTesting
import Pixels
import Testing

@testable import ImageServer

/// Needs the JPEG codec, which a build without that trait lacks.
@Suite("A truncated original", .enabled(if: builtInCodecs.codec(named: "jpeg") != nil))
struct TruncatedOriginalTests {
    let gallery: TestGallery
    let whole: [UInt8]

    init() throws {
        gallery = try TestGallery()
        let image = TestImage.photograph(PixelSize(width: 400, height: 300))
        whole = try ImageDestination(format: "jpeg", codecs: builtInCodecs).encode(image)
        try gallery.file("1.jpg", Array(whole.prefix(whole.count / 2)))
    }

    @Test(
        "is shown with a warning, and revalidated at each use", arguments: ["100x100", "800x800"])
    func shown(size: String) async throws {
        let server = gallery.server
        let version = try gallery.identity("1.jpg").version
        for _ in 0..<2 {
            let answer = try await gallery.get("/\(size)/1.jpg?v=\(version)", from: server)
            #expect(answer.status == 200)
            let warning = "truncated after \(whole.count / 2) bytes"
            #expect(answer.headers[named: "X-Image-Warning"] == warning)
            #expect(answer.headers[.cacheControl] == "public, no-cache")
            #expect(try answer.pixelSize().width == (size == "100x100" ? 100 : 400))
        }
    }

    @Test(
        "has tiles with a warning, revalidated at each use",
        arguments: [
            "/tiles/1.jpg_files/9/0_1.jpg", "/tiles/1.jpg_files/8/0_0.jpg",
            "/iiif/3/1.jpg/256,0,144,256/144,256/0/default.jpg",
        ])
    func tiles(path: String) async throws {
        let server = gallery.server
        for isComplete in [false, false, true] {
            if isComplete { try gallery.file("1.jpg", whole) }
            let version = try gallery.identity("1.jpg").version
            let answer = try await gallery.get("\(path)?v=\(version)", from: server)
            #expect(answer.status == 200)
            #expect(
                answer.headers[named: "X-Image-Warning"]
                    == (isComplete ? nil : "truncated after \(whole.count / 2) bytes"))
            #expect(
                answer.headers[.cacheControl]
                    == (isComplete ? "public, max-age=31536000, immutable" : "public, no-cache"))
        }
    }

    @Test("loses its warning once it is complete") func completed() async throws {
        let server = gallery.server
        _ = try await gallery.get("/100x100/1.jpg", from: server)
        try gallery.file("1.jpg", whole)
        let version = try gallery.identity("1.jpg").version
        let answer = try await gallery.get("/100x100/1.jpg?v=\(version)", from: server)
        #expect(answer.status == 200)
        #expect(answer.headers[named: "X-Image-Warning"] == nil)
        #expect(answer.headers[.cacheControl] == "public, max-age=31536000, immutable")
    }

    @Test("is not stored") func notStored() async throws {
        let request = RenditionRequest(
            image: ImageRequest(
                path: try gallery.identity("1.jpg").path,
                options: DecodeOptions(maximumSide: 100)))
        let steps = LoadMetrics()
        for _ in 0..<2 {
            let rendition = try await gallery.pipeline.rendition(for: request, story: steps)
            #expect(rendition.problem == .truncated(byteCount: whole.count / 2))
        }
        #expect(!steps.steps.contains { $0.stage == .store })
    }
}
