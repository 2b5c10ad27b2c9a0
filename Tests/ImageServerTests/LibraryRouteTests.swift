// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageCodecs
import ImageLoading
import ImageTesting
import Pixels
import Testing

@testable import ImageServer
@testable import PhotoLibrary

@Suite("The library of all images", .timeLimit(.minutes(10))) struct LibraryRouteTests {
    private let store: TemporaryFolder
    let gallery: TestGallery

    init() throws {
        store = try TemporaryFolder()
        gallery = try TestGallery(keepsRenditions: true) { [store] in
            $0.libraryDirectory = store.path
        }
    }

    /// Writes a JPEG file with EXIF.
    private func photo(
        _ path: String, taken: String, camera: String = "Model 1", width: Int = 60
    ) throws {
        let destination = try ImageDestination(format: "jpeg", codecs: builtInCodecs)
        let file = try destination.encode(
            TestImage.photograph(PixelSize(width: width, height: 40), seed: 3))
        let exif = EXIFBlock.make([
            (0x110, .ascii(camera)),
            (0x8769, .directory([(0x9003, .ascii(taken))])),
        ])
        let segment = Array("Exif\0\0".utf8) + exif
        let length = segment.count + 2
        try gallery.file(
            path,
            Array(file[..<2]) + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + segment
                + file[2...])
    }

    /// Calls `body` with a handler of requests while the files are indexed.
    private func whileRunning(
        _ body: @Sendable @escaping (RequestHandler) async throws -> Void
    ) async throws {
        let server = gallery.server
        let parts = try server.parts()
        let library = try #require(parts.library)
        let handler = server.requestHandler(parts)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await library.run() }
            defer { group.cancelAll() }
            try await body(handler)
        }
    }

    private func json(_ address: String, _ handler: RequestHandler) async throws -> [String: Any] {
        let answer = try await gallery.request(.get, address, to: handler)
        #expect(answer.status == 200, "\(address): \(answer.text)")
        return try answer.json()
    }

    private func waitUntilComplete(_ count: Int, _ handler: RequestHandler) async throws {
        try await eventually {
            let status = try await json("/-/library/status", handler)
            return status["state"] as? String == "complete" && status["found"] as? Int == count
        }
    }

    @Test("lists the days and the images of all folders, newest first")
    func timeline() async throws {
        try photo("2019/a/1.jpg", taken: "2019:07:01 10:00:00")
        try photo("2019/2.jpg", taken: "2019:07:01 11:00:00", width: 80)
        try photo("3 & 4.jpg", taken: "2020:01:05 00:00:00")
        try gallery.file("2019/4.jpg", [0xFF, 0xD8, 1, 2])
        try gallery.file("notes.txt", [1])
        try gallery.file(".hidden/5.jpg", [1])
        try await whileRunning { handler in
            try await waitUntilComplete(4, handler)
            let timeline = try await json("/-/library/timeline", handler)
            let days = try #require(timeline["days"] as? [String: Any])
            let dates = try #require(days["date"] as? [String])
            #expect(dates.suffix(2) == ["2020-01-05", "2019-07-01"])
            #expect((days["count"] as? [Int])?.suffix(2) == [1, 2])
            let aspects = try #require(
                (timeline["aspects"] as? String).flatMap { Data(base64Encoded: $0) })
            #expect(Array(aspects) == [0, 147, 160, 147])
            let page = try await json(
                "/-/library/images?first=2020-12-31&last=2019-01-01", handler)
            let images = try #require(page["pictures"] as? [String: Any])
            #expect(images["name"] as? [String] == ["3 & 4.jpg", "2.jpg", "1.jpg"])
            #expect(images["folder"] as? [String] == ["", "2019", "2019/a"])
            #expect(images["width"] as? [Int] == [60, 80, 60])
            #expect(
                images["taken"] as? [String] == [
                    "2020-01-05T00:00:00", "2019-07-01T11:00:00", "2019-07-01T10:00:00",
                ])
            let version = try gallery.identity("2019/2.jpg").version
            #expect((images["version"] as? [String])?[1] == version)
            // The address of a rendition follows from folder and name.
            let rendition = try await gallery.request(.get, "/2019/20x20/2.jpg", to: handler)
            #expect(try rendition.pixelSize() == PixelSize(width: 20, height: 10))
            // The placeholder is stored after the response.
            try await eventually {
                let shown = try await json(
                    "/-/library/images?first=2019-07-01&last=2019-07-01&limit=1", handler)
                let columns = try #require(shown["pictures"] as? [String: Any])
                return (columns["placeholder"] as? [String: String])?["0"] != nil
            }
            let broken = try await json("/-/library/images?q=is:unreadable", handler)
            let errors = (broken["pictures"] as? [String: Any])?["error"] as? [String: String]
            #expect(errors?.count == 1)
        }
    }

    @Test("answers searches and completions, and reports what has changed")
    func search() async throws {
        try photo("a/1.jpg", taken: "2019:07:01 10:00:00", camera: "Leica M6")
        try photo("b/2.jpg", taken: "2021:07:01 10:00:00", camera: "Canon R5")
        try await whileRunning { handler in
            try await waitUntilComplete(2, handler)
            let found = try await json("/-/library/images?q=camera%3A%22leica%20m6%22", handler)
            #expect((found["pictures"] as? [String: Any])?["name"] as? [String] == ["1.jpg"])
            let summer = try await json("/-/library/timeline?q=summer%202021", handler)
            #expect((summer["days"] as? [String: Any])?["date"] as? [String] == ["2021-07-01"])
            let values = try await json("/-/library/completions?q=can", handler)
            let completions = try #require(values["completions"] as? [[String: Any]])
            #expect(completions.map { $0["text"] as? String } == ["camera:\"Canon R5\""])

            let all = try await gallery.request(.get, "/-/library/timeline", to: handler)
            let tag = try #require(all.headers[.eTag])
            let same = try await gallery.request(
                .get, "/-/library/timeline", [.ifNoneMatch: tag], to: handler)
            #expect(same.status == 304)
            let generation = try #require(try all.json()["generation"] as? String)
            try photo("b/3.jpg", taken: "2021:07:02 10:00:00")
            try await waitUntilComplete(3, handler)
            let changed = try await json("/-/library/timeline?since=\(generation)", handler)
            #expect(changed["isPartial"] as? Bool == true)
            let dates = try #require((changed["days"] as? [String: Any])?["date"] as? [String])
            // The modification time counts until the file has been read.
            #expect(dates.contains("2021-07-02") && !dates.contains("2019-07-01"))
            let other = try await json("/-/library/timeline?since=other-1", handler)
            #expect(other["isPartial"] as? Bool == false)
        }
    }

    @Test("marks images, which a search then finds") func marks() async throws {
        try photo("a/1.jpg", taken: "2019:07:01 10:00:00")
        try photo("a/2.jpg", taken: "2019:07:02 10:00:00")
        try await whileRunning { handler in
            try await waitUntilComplete(2, handler)
            let mark = { (body: String) in
                try await gallery.request(
                    .post, "/-/library/marks", [.contentType: "application/json"],
                    body: Array(body.utf8), to: handler
                ).status
            }
            #expect(try await mark(#"{"images": ["a/1.jpg"], "favourite": true}"#) == 204)
            #expect(try await mark(#"{"images": ["a/2.jpg"], "rating": 4}"#) == 204)
            let status = try await json("/-/library/status", handler)
            #expect(status["canMark"] as? Bool == true)
            for (query, name) in [("is:favourite", "1.jpg"), ("rating:3", "2.jpg")] {
                let page = try await json("/-/library/images?q=\(query)", handler)
                let images = try #require(page["pictures"] as? [String: Any])
                #expect(images["name"] as? [String] == [name])
            }
            let names = try await json("/-/library/marks/a", handler)
            let rated = try #require(names["name"] as? [String]).firstIndex(of: "2.jpg")
            #expect(names["rating"] as? [String: Int] == ["\(try #require(rated))": 4])
            #expect((names["favourite"] as? [String: Bool])?.count == 1)
            let unmarked = try await json("/-/library/marks", handler)
            #expect(unmarked["name"] as? [String] == [])
            // A file that is moved keeps its mark.
            try FileManager.default.moveItem(
                at: gallery.folder.appending(path: "a/1.jpg"),
                to: gallery.folder.appending(path: "3.jpg"))
            try await eventually {
                let page = try await json("/-/library/images?q=is:favourite", handler)
                let images = page["pictures"] as? [String: Any]
                return images?["name"] as? [String] == ["3.jpg"]
                    && images?["favourite"] as? [String: Bool] == ["0": true]
            }
            #expect(try await mark(#"{"images": ["3.jpg"], "favourite": false}"#) == 204)
            let none = try await json("/-/library/timeline?q=is:favourite", handler)
            #expect(none["total"] as? Int == 0)
            for body in [
                #"{"images": ["a/9.jpg"], "favourite": true}"#,
                #"{"images": ["../a"], "rating": 1}"#,
            ] {
                #expect(try await mark(body) == 404)
            }
            for body in [
                "{}", #"{"images": ["3.jpg"]}"#, #"{"images": [], "rating": 1}"#,
                #"{"images": ["3.jpg"], "rating": 6}"#,
            ] {
                #expect(try await mark(body) == 400)
            }
        }
        let open = try TestGallery { [store] in
            $0.libraryDirectory = store.path
            $0.publicAddress = "https://images.example"
        }
        #expect(
            try await open.request(
                .post, "/-/library/marks", [.contentType: "application/json"],
                body: Array(#"{"images": ["1.jpg"], "rating": 1}"#.utf8)
            ).status == 405)
    }

    @Test("the status of a generation is sent after the next change")
    func awaitedChange() async throws {
        try photo("1.jpg", taken: "2019:07:01 10:00:00")
        try await whileRunning { handler in
            try await waitUntilComplete(1, handler)
            let known = try await json("/-/library/status", handler)["generation"] as? String
            let path = "/-/library/status?since=\(try #require(known))"
            async let answer = gallery.request(.get, path, to: handler)
            try photo("2.jpg", taken: "2019:07:02 10:00:00")
            let status = try await answer.json()
            #expect(status["generation"] as? String != known)
            // An unknown generation is an earlier one.
            let other = try await json("/-/library/status?since=other", handler)
            #expect(other["generation"] as? String != known)
        }
    }

    @Test("the status of a generation is sent without a change before the request times out")
    func unchanged() async throws {
        let store = try TemporaryFolder()
        let gallery = try TestGallery {
            $0.libraryDirectory = store.path
            $0.requestTimeout = .seconds(4)
        }
        let handler = try gallery.server.requestHandler()
        let status = try await gallery.request(.get, "/-/library/status", to: handler).json()
        let known = try #require(status["generation"] as? String)
        let start = ContinuousClock.now
        let same = try await gallery.request(
            .get, "/-/library/status?since=\(known)", to: handler)
        #expect(same.status == 200)
        #expect(try same.json()["generation"] as? String == known)
        #expect(start.duration(to: .now) >= .seconds(1))
    }

    @Test("covers show the newest images of folders and of those inside them")
    func covers() async throws {
        try photo("a/1.jpg", taken: "2019:07:01 10:00:00")
        for number in 1...5 {
            try gallery.image("b/c/\(number).png", PixelSize(width: 90, height: 40), seed: 2)
        }
        try await whileRunning { handler in
            try await waitUntilComplete(6, handler)
            let answer = try await gallery.request(
                .get, "/-/library/covers/?side=64", to: handler)
            #expect(answer.status == 200)
            #expect(answer.headers[.contentType] == "image/jpeg")
            let source = try ImageSource(EncodedBytes(answer.body), codecs: builtInCodecs)
            #expect(source.pixelSize == PixelSize(width: 640, height: 64))
            let sheet = try source.image()
            // The second cell is a mosaic of four equal images, the third one is empty.
            let quarters = [(64, 0), (96, 0), (64, 32), (96, 32)].map { x, y in
                sheet.cut(PixelRect(x: x, y: y, width: 32, height: 32))
            }
            let empty = sheet.cut(PixelRect(x: 128, y: 0, width: 32, height: 32))
            for quarter in quarters {
                #expect(PixelComparison(quarter, quarters[0]).meanDifference < 6)
                #expect(PixelComparison(quarter, empty).meanDifference > 20)
            }
            let tag = try #require(answer.headers[.eTag])
            let same = try await gallery.request(
                .get, "/-/library/covers/?side=64", [.ifNoneMatch: tag], to: handler)
            #expect(same.status == 304)
            let listing = try await gallery.request(.get, "/-/listing/?limit=1", to: handler)
            let revision =
                try #require(
                    try JSONSerialization.jsonObject(with: Data(listing.body)) as? [String: Any]
                )["revision"] as? String
            for (revision, status) in [(revision ?? "", 200), ("other", 404)] {
                let path = "/-/library/covers/?side=64&revision=\(revision)"
                #expect(try await gallery.request(.get, path, to: handler).status == status)
            }
            try gallery.file("empty/notes.txt", [1])
            let transparent = try await gallery.request(
                .get, "/-/library/covers/?side=64", to: handler)
            #expect(transparent.headers[.contentType] == "image/webp")
            #expect(
                try await gallery.request(
                    .get, "/-/library/covers/a", to: handler
                ).status == 404)
            #expect(
                try await gallery.request(
                    .get, "/-/library/covers/missing", to: handler
                ).status == 404)
        }
    }

    @Test("rejects malformed requests, and does not exist when it is disabled")
    func errors() async throws {
        for query in ["first=today", "first=2019-01-01&last=2020-01-01", "offset=-1", "limit=0"] {
            #expect(try await gallery.get("/-/library/images?\(query)").status == 400, "\(query)")
        }
        #expect(try await gallery.get("/-/library/other").status == 404)
        let without = try TestGallery()
        #expect(try await without.get("/-/library/status").status == 404)
    }
}
