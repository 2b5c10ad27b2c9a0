// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageTesting
import Pixels
import Testing

@testable import ImageServer
@testable import PhotoLibrary

@Suite("Marks of images", .timeLimit(.minutes(10))) struct SidecarRouteTests {
    private let store: TemporaryFolder
    private let gallery: TestGallery

    init() throws {
        store = try TemporaryFolder()
        gallery = try TestGallery { [store] in $0.libraryDirectory = store.path }
        for (index, path) in ["1.png", "a/2.png", "a/3.png"].enumerated() {
            try gallery.image(path, seed: UInt64(index + 1))
        }
    }

    /// Calls `body` with a handler of requests after all files were indexed.
    private func whileRunning(
        _ body: @Sendable @escaping (RequestHandler) async throws -> Void
    ) async throws {
        try await gallery.whileLibraryRuns(imageCount: 3, body)
    }

    private func post(
        _ path: String, _ body: String, _ handler: RequestHandler
    ) async throws -> Answer {
        try await gallery.request(
            .post, path, [.contentType: "application/json"], body: Array(body.utf8), to: handler)
    }

    private func mark(_ body: String, _ handler: RequestHandler) async throws {
        #expect(try await post("/-/library/marks", body, handler).status == 204)
    }

    private func sidecars(
        _ paths: String, _ handler: RequestHandler
    ) async throws -> [String: [UInt8]] {
        let order = "{\"images\": [\(paths)], \"sidecars\": true}"
        let answer = try await post("/-/download", order, handler)
        #expect(answer.status == 200, "\(answer.text)")
        let url = try #require(try answer.json()["url"] as? String)
        return try filesOfArchive(try await gallery.request(.get, url, to: handler).body)
    }

    @Test("are exported as sidecars, which keep the properties of those beside the images")
    func exported() async throws {
        let known = "<rdf:RDF><rdf:Description rdf:about='' dc:title='x'/></rdf:RDF>"
        try gallery.file("a/2.png.xmp", Array(known.utf8))
        try gallery.file("a/3.png.xmp", Array("no packet".utf8))
        try await whileRunning { handler in
            try await mark(#"{"images": ["1.png"], "rating": 5, "favourite": true}"#, handler)
            try await mark(#"{"images": ["a/2.png"], "favourite": true}"#, handler)
            let all = "\"1.png\", \"a/2.png\", \"a/3.png\""
            let files = try await sidecars(all, handler)
            #expect(files.keys.sorted() == ["1.png.xmp", "a/2.png.xmp"])
            let first = try #require(files["1.png.xmp"])
            #expect(XMPSidecar.rating(first) == 5)
            #expect(String(decoding: first, as: UTF8.self).contains("xmp:Label=\"Favourite\""))
            #expect(XMPFields(first).rating == 5)
            let second = String(decoding: try #require(files["a/2.png.xmp"]), as: UTF8.self)
            #expect(second.contains("dc:title='x'") && second.contains("Favourite"))
            #expect(!second.contains("Rating"))
            // A file that is no XMP packet is neither replaced nor exported.
            try await mark(#"{"images": ["a/3.png"], "rating": 1}"#, handler)
            let others = try await sidecars(all, handler)
            #expect(others.count == 2)
        }
        let written = try String(
            contentsOf: gallery.folder.appending(path: "a/2.png.xmp"), encoding: .utf8)
        #expect(written == known)
        #expect(
            !FileManager.default.fileExists(
                atPath: gallery.folder.appending(path: "1.png.xmp").path))
    }

    @Test("that the user has not set are not exported") func unmarked() async throws {
        try await whileRunning { handler in
            for (images, status) in [("\"1.png\"", 400), ("\"missing.png\"", 404), ("", 400)] {
                let order = "{\"images\": [\(images)], \"sidecars\": true}"
                let answer = try await post("/-/download", order, handler)
                #expect(answer.status == status)
            }
        }
    }

    @Test("change the timeline of other pages") func otherPages() async throws {
        try await whileRunning { handler in
            let status = try await gallery.request(.get, "/-/library/status", to: handler)
            let generation = try #require(try status.json()["generation"] as? String)
            let timeline = "/-/library/timeline?since=\(generation)"
            let same = try await gallery.request(.get, timeline, to: handler).json()
            #expect((same["days"] as? [String: Any])?["date"] as? [String] == [])
            try await mark(#"{"images": ["a/2.png"], "rating": 2}"#, handler)
            let changed = try await gallery.request(.get, timeline, to: handler).json()
            let days = try #require(changed["days"] as? [String: Any])
            #expect((days["date"] as? [String])?.count == 1)
            // The images of the day, which was not changed otherwise.
            #expect(days["count"] as? [Int] == [3])
            #expect(changed["generation"] as? String != generation)
            #expect(changed["total"] as? Int == 3)
        }
    }
}
