// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageTesting
import Synchronization
import Testing

@testable import ImageServer
@testable import PhotoLibrary

@Suite("A link to a selection", .timeLimit(.minutes(10))) struct SharedSelectionTests {
    private static let secret = [UInt8](repeating: 9, count: 32)
    private static let all = ["1.png", "a/2.png", "a/3.png", "a/b/2.png", "c/4.png"]
    private static let shared = ["1.png", "a/2.png"]

    private let store: TemporaryFolder
    private let gallery: TestGallery
    private let access: AccessControl
    private let user: String

    init() throws {
        let access = try #require(
            AccessControl(password: nil, userHeader: "Remote-User", secret: Self.secret))
        let store = try TemporaryFolder()
        gallery = try TestGallery {
            $0.access = access
            $0.libraryDirectory = store.path
            $0.linkDirectory = store.path
        }
        self.access = access
        self.store = store
        user = access.token(.login, expires: .max)
        for (index, path) in Self.all.enumerated() {
            try gallery.image(path, seed: UInt64(index + 1))
        }
    }

    /// Calls `body` with a handler of requests after all files were indexed.
    private func whileRunning(
        _ body: @Sendable @escaping (RequestHandler) async throws -> Void
    ) async throws {
        try await gallery.whileLibraryRuns(imageCount: Self.all.count, body)
    }

    private func get(
        _ path: String, _ cookie: String, _ handler: RequestHandler
    ) async throws -> Answer {
        try await gallery.request(.get, path, [.cookie: "calotype=\(cookie)"], to: handler)
    }

    private func post(
        _ path: String, _ body: String, _ cookie: String, _ handler: RequestHandler
    ) async throws -> Answer {
        try await gallery.request(
            .post, path, [.contentType: "application/json", .cookie: "calotype=\(cookie)"],
            body: Array(body.utf8), to: handler)
    }

    /// Returns the token of a link to ``shared``.
    private func link(_ handler: RequestHandler) async throws -> String {
        let answer = try await post(
            "/-/share", #"{"images": ["1.png", "a/2.png"], "days": 7}"#, user, handler)
        #expect(answer.status == 200, "\(answer.text)")
        let path = try #require(try answer.json()["url"] as? String)
        return String(path.dropFirst("/-/share/".count))
    }

    @Test("shows its images by date, in all forms, and opens the timeline")
    func shown() async throws {
        try await whileRunning { [self] handler in
            let marked = try await post(
                "/-/library/marks", #"{"images": ["a/2.png"], "rating": 4}"#, user, handler)
            #expect(marked.status == 204)
            let token = try await link(handler)
            let opened = try await gallery.request(.get, "/-/share/\(token)", to: handler)
            #expect(opened.status == 303)
            #expect(opened.headers[.location] == "/#all")
            #expect(opened.headers[.setCookie]?.hasPrefix("calotype=\(token);") == true)
            for path in [
                "/", "/1.png", "/20x20/1.png", "/a/2.png", "/a/20x20,q80/2.png", "/info/a/2.png",
                "/tiles/1.png.json", "/tiles/a/2.png.dzi", "/placeholder/1.png",
            ] {
                let answer = try await get(path, token, handler)
                #expect(answer.status == 200, "\(path): \(answer.text)")
                #expect(
                    answer.headers[.cacheControl]?.contains("public") != true, "\(path)")
            }
            let status = try await get("/-/library/status", token, handler).json()
            #expect(status["found"] as? Int == 2)
            #expect(status["isSelection"] as? Bool == true)
            #expect(status["canMark"] as? Bool == false)
            #expect(status["canShare"] as? Bool == false)
            let timeline = try await get("/-/library/timeline", token, handler).json()
            #expect(timeline["total"] as? Int == 2)
            let page = try await get("/-/library/images", token, handler).json()
            let images = try #require(page["pictures"] as? [String: Any])
            let names = try #require(images["name"] as? [String])
            let folders = try #require(images["folder"] as? [String])
            let rated = try #require(names.firstIndex(of: "2.png"))
            #expect(images["rating"] as? [String: Int] == ["\(rated)": 4])
            #expect(
                Set(zip(folders, names).map { $0.isEmpty ? $1 : "\($0)/\($1)" })
                    == Set(Self.shared))
            let second = try await get("/-/library/images?offset=1&limit=1", token, handler)
                .json()
            #expect(
                (second["pictures"] as? [String: Any])?["name"] as? [String]
                    == [names[1]])
            let archive = try await post(
                "/-/download", #"{"images": ["1.png", "a/2.png"], "size": null}"#, token, handler)
            #expect(archive.status == 200)
        }
    }

    @Test("shows nothing else") func hidden() async throws {
        try await whileRunning { [self] handler in
            let token = try await link(handler)
            for path in [
                "/a/3.png", "/a/20x20/3.png", "/20x20/a/2.png", "/c/4.png", "/2.png",
                "/20x20/2.png",
                // These become shared images if one of their segments is left out.
                "/a/b/2.png", "/a/b/20x20/2.png", "/c/1.png", "/c/20x20/1.png",
                "/a/../c/4.png", "/a/%2e%2e/c/4.png", "/a%2F3.png", "//1.png", "/A/2.png",
                "/info/a/3.png", "/info/c/4.png", "/tiles/a/3.png.json", "/tiles/c/4.png.dzi",
                "/placeholder/a/b/2.png", "/sprite/20x20/", "/sprite/20x20/a",
                "/-/listing/", "/-/listing/a", "/iiif/3/1.png/info.json",
                "/iiif/3/a%2F2.png/full/max/0/default.jpg", "/_/w:20/plain/1.png",
                "/assets/1.png", "/card/1.png", "/-/library/completions?q=a",
                "/-/library/timeline?q=4", "/-/library/images?q=4", "/-/library/covers/",
                "/-/library/covers/a", "/-/library/marks", "/-/library/marks/a",
            ] {
                let answer = try await get(path, token, handler)
                #expect([404, 401].contains(answer.status), "\(path): \(answer.status)")
            }
            for (path, body) in [
                ("/-/download", #"{"images": ["a/3.png"], "size": null}"#),
                ("/-/download", #"{"images": ["1.png", "c/4.png"], "size": null}"#),
                ("/-/download", #"{"images": ["1.png"], "sidecars": true}"#),
                ("/-/share", #"{"images": ["1.png"], "days": 7}"#),
                ("/-/share", #"{"folder": "a", "days": 7}"#),
                ("/-/library/marks", #"{"images": ["1.png"], "favourite": true}"#),
            ] {
                let answer = try await post(path, body, token, handler)
                #expect([404, 401].contains(answer.status), "\(path): \(answer.status)")
            }
        }
    }

    @Test("is not made for what is no image of the library, and is refused once it is unknown")
    func refused() async throws {
        try await whileRunning { [self] handler in
            for (body, status) in [
                (#"{"images": [], "days": 7}"#, 400),
                (#"{"images": ["1.png"], "days": 0}"#, 400),
                (#"{"images": ["1.png"], "folder": "a", "days": 7}"#, 400),
                (#"{"days": 7}"#, 400),
                (#"{"images": ["missing.png"], "days": 7}"#, 404),
                (#"{"images": ["1.png", "1.png"], "days": 7}"#, 404),
                (#"{"images": ["a"], "days": 7}"#, 404),
                (#"{"images": ["a/../1.png"], "days": 7}"#, 404),
                (#"{"images": ["info/1.png"], "days": 7}"#, 404),
            ] {
                let answer = try await post("/-/share", body, user, handler)
                #expect(answer.status == status, "\(body): \(answer.text)")
            }
            let unknown = access.token(.link("abc"), expires: .max)
            let refused = try await get("/1.png", unknown, handler)
            #expect(refused.status == 410)
            let opened = try await gallery.request(.get, "/-/share/\(unknown)", to: handler)
            #expect(opened.status == 410)
            let token = try await link(handler)
            #expect(access.credential(ofToken: token, now: .max) == nil)
        }
    }

    @Test("lives on after a restart, until it expires") func stored() async throws {
        let made = Mutex("")
        try await whileRunning { [self] handler in
            let token = try await link(handler)
            made.withLock { $0 = token }
        }
        let token = made.withLock { $0 }
        try await whileRunning { [self] handler in
            let shared = try await get("/a/2.png", token, handler)
            #expect(shared.status == 200)
            let other = try await get("/a/3.png", token, handler)
            #expect(other.status == 404)
        }
    }
}
