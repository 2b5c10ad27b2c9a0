// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageTesting
import MessageDigests
import Testing

@testable import ImageServer

@Suite("A password, and links for guests", .timeLimit(.minutes(10))) struct AccessControlTests {
    private static let password = "correct horse & battery=staple ü"
    private static let secret = [UInt8](repeating: 9, count: 32)

    private let gallery: TestGallery
    private let handler: RequestHandler
    private let access: AccessControl
    private let store: TemporaryFolder

    init() throws {
        let hash = try #require(Self.hash)
        let access = try #require(
            AccessControl(password: hash, userHeader: "Remote-User", secret: Self.secret))
        let store = try TemporaryFolder()
        gallery = try TestGallery {
            $0.access = access
            $0.libraryDirectory = store.path
            $0.linkDirectory = store.path
            // No attempt returns while other tests compute.
            $0.loginRate = 1e-9
            $0.imgproxy = ImgproxyKeys()
        }
        self.access = access
        self.store = store
        for path in ["1.png", "house/1.png", "house/garden/2.png", "house2/3.png", "other/4.png"] {
            try gallery.image(path)
        }
        handler = try gallery.server.requestHandler()
    }

    /// Made once: it is slow on purpose.
    private static let hash = PasswordHash(hashing: password)

    private func get(_ path: String, cookie: String? = nil) async throws -> Answer {
        var headers: HTTPFields = [:]
        if let cookie { headers[.cookie] = "theme=dark; calotype=\(cookie)" }
        return try await gallery.request(.get, path, headers, to: handler)
    }

    private func login(_ body: String, _ headers: HTTPFields = [:]) async throws -> Answer {
        try await gallery.request(
            .post, "/-/login", headers, body: Array(body.utf8), to: handler)
    }

    private func cookie(_ answer: Answer) throws -> String {
        let value = try #require(answer.headers[.setCookie])
        return String(try #require(value.split(separator: ";").first).dropFirst("calotype=".count))
    }

    private func guest(_ folder: String, days: Int = 7) async throws -> String {
        let token = access.token(.login, expires: .max)
        let answer = try await gallery.request(
            .post, "/-/share",
            [.contentType: "application/json", .cookie: "calotype=\(token)"],
            body: Array(#"{"folder": "\#(folder)", "days": \#(days)}"#.utf8), to: handler)
        #expect(answer.status == 200, "\(answer.text)")
        return try #require(try answer.json()["url"] as? String)
    }

    private static let paths = [
        "/1.png", "/20x20/1.png", "/house/1.png", "/house/20x20/1.png", "/info/house/1.png",
        "/tiles/house/1.png.dzi", "/placeholder/house/1.png", "/sprite/20x20/house",
        "/iiif/3/house%2F1.png/info.json", "/-/listing/", "/-/listing/house",
        "/-/library/status", "/-/library/timeline", "/-/library/images",
        "/-/library/completions?q=a", "/-/library/covers/", "/_/w:20/plain/1.png",
        "/-/download/1.zip",
    ]

    @Test("nothing but the login is shown without one", arguments: paths)
    func closed(path: String) async throws {
        let answer = try await get(path)
        #expect(answer.status == 401)
        #expect(answer.headers[.wwwAuthenticate] == "Cookie")
        #expect(!answer.text.contains("png"))
    }

    @Test("the page leads to the login; health and scripts are open") func open() async throws {
        let page = try await get("/")
        #expect(page.status == 303)
        #expect(page.headers[.location] == "/-/login")
        let form = try await get("/-/login")
        #expect(form.status == 200)
        #expect(form.text.contains("type=\"password\""))
        for path in ["/healthz", "/-/gallery/main.js", "/-/gallery/login.css"] {
            #expect(try await get(path).status == 200, "\(path)")
        }
    }

    @Test("the right password gives a cookie, with which everything is shown")
    func login() async throws {
        let encoded = "password=correct+horse+%26+battery%3Dstaple+%C3%BC"
        let answer = try await login(encoded)
        #expect(answer.status == 303)
        let attributes = try #require(answer.headers[.setCookie])
        #expect(attributes.contains("HttpOnly; SameSite=Lax"))
        let cookie = try cookie(answer)
        for path in Self.paths.dropLast() where !path.contains("covers") {
            let answer = try await get(path, cookie: cookie)
            #expect(answer.status == 200, "\(path): \(answer.text)")
            #expect(try isPrivate(answer), "\(path)")
        }
        let page = try await get("/", cookie: cookie)
        #expect(page.status == 200)
        #expect(try isPrivate(page))
        // Another password ends the login, as does its end.
        let other = try #require(
            AccessControl(password: nil, userHeader: nil, secret: Self.secret))
        #expect(other.credential(ofToken: cookie) == nil)
        #expect(access.credential(ofToken: cookie) == .login)
        let end = HTTPDate.now.seconds + AccessControl.loginDuration + 1
        #expect(access.credential(ofToken: cookie, now: end) == nil)
    }

    /// Whether caches that several users share do not store a response (RFC 9111, section 3).
    private func isPrivate(_ answer: Answer) throws -> Bool {
        let directives = try #require(answer.headers[.cacheControl]).split(separator: ", ")
        return !directives.contains("public")
            && (directives.contains("private") || directives.contains("no-store"))
    }

    @Test("wrong passwords are refused, and attempts are limited")
    func attempts() async throws {
        for body in ["password=wrong", "password=", "other=1", "password=%zz", "password=other"] {
            let answer = try await login(body)
            #expect(answer.status == 403 || answer.status == 400, "\(body)")
            #expect(answer.headers[.setCookie] == nil)
        }
        let answer = try await login("password=correct+horse+%26+battery%3Dstaple+%C3%BC")
        #expect(answer.status == 429)
        #expect(answer.headers[.retryAfter] != nil)
        var headers: HTTPFields = [:]
        headers[.init("Sec-Fetch-Site")!] = "cross-site"
        #expect(try await login("password=1", headers).status == 403)
    }

    @Test("a proxy can authenticate the user") func proxy() async throws {
        let name = try #require(HTTPField.Name("Remote-User"))
        let answer = try await gallery.request(.get, "/1.png", [name: "ada"], to: handler)
        #expect(answer.status == 200)
        #expect(try await gallery.request(.get, "/1.png", [name: ""], to: handler).status == 401)
    }

    @Test("a guest sees the folder of the link, and nothing else") func guests() async throws {
        let link = try await guest("house")
        let answer = try await get(link)
        #expect(answer.status == 303)
        #expect(answer.headers[.location] == "/#/house/")
        let cookie = try cookie(answer)
        for path in [
            "/", "/house/1.png", "/house/20x20/1.png", "/house/garden/2.png",
            "/house/garden/20x20/2.png", "/info/house/1.png", "/tiles/house/1.png.dzi",
            "/placeholder/house/garden/2.png", "/sprite/20x20/house", "/-/listing/house",
            "/-/listing/house/garden",
        ] {
            #expect(try await get(path, cookie: cookie).status == 200, "\(path)")
        }
        for path in [
            "/1.png", "/20x20/1.png", "/house2/3.png", "/house2/20x20/3.png", "/other/4.png",
            "/house/../other/4.png", "/house/%2e%2e/other/4.png", "/house%2F..%2Fother/4.png",
            "/house/..%2fother/4.png", "//house/1.png", "/house//../1.png",
            "/other/20x20/4.png", "/info/other/4.png", "/info/1.png", "/tiles/other/4.png.dzi",
            "/placeholder/1.png", "/sprite/20x20/other", "/sprite/20x20/", "/-/listing/",
            "/-/listing/other", "/-/listing/house2", "/-/listing/house%2F..",
            "/iiif/3/other%2F4.png/info.json", "/iiif/3/house%2F1.png/info.json",
            "/_/w:20/plain/other/4.png", "/_/w:20/plain/house/1.png", "/-/library/status",
            "/-/library/timeline?q=4", "/-/library/images?q=4", "/-/library/completions?q=o",
            "/-/library/covers/", "/-/library/covers/house", "/House/1.png",
        ] {
            let answer = try await get(path, cookie: cookie)
            #expect([404, 401].contains(answer.status), "\(path): \(answer.status)")
            #expect(!answer.text.contains("4.png"), "\(path)")
        }
        for (images, status) in [
            (#"["house/1.png"]"#, 200), (#"["house/1.png", "other/4.png"]"#, 404),
            (#"["house/../other/4.png"]"#, 404),
        ] {
            let answer = try await gallery.request(
                .post, "/-/download",
                [.contentType: "application/json", .cookie: "calotype=\(cookie)"],
                body: Array(#"{"images": \#(images)}"#.utf8), to: handler)
            #expect(answer.status == status, "\(images)")
        }
        // A guest makes no links and no marks.
        for path in ["/-/share", "/-/library/marks"] {
            let answer = try await gallery.request(
                .post, path, [.contentType: "application/json", .cookie: "calotype=\(cookie)"],
                body: Array(#"{"folder": "other", "days": 1, "images": ["house/1.png"]}"#.utf8),
                to: handler)
            #expect([401, 404].contains(answer.status), "\(path): \(answer.status)")
        }
    }

    @Test("links that are forged, widened or expired are refused") func forged() async throws {
        let link = try await guest("house")
        let token = String(link.dropFirst("/-/share/".count))
        let id = try #require(access.credential(ofToken: token)?.linkID)
        let parts = token.split(separator: ".").map(String.init)
        let wide = PathSignature.text(Array("99999999999".utf8))
        let other = PathSignature.text(Array("99999999999/\(id)x".utf8))
        let forged = [
            "\(wide).\(parts[1])", "\(other).\(parts[1])", parts[0], "\(parts[0]).",
            "\(parts[0]).\(parts[1])A", "\(parts[0])A.\(parts[1])", ".\(parts[1])", "", ".",
            "\(token).\(token)", String(token.dropLast()), token.uppercased(),
            "\(parts[1]).\(parts[0])",
        ]
        for token in forged {
            #expect(access.credential(ofToken: token) == nil, "\(token)")
            #expect(try await get("/house/1.png", cookie: token).status == 401, "\(token)")
            #expect([404, 410].contains(try await get("/-/share/\(token)").status), "\(token)")
        }
        let another = try #require(
            AccessControl(
                password: nil, userHeader: nil, secret: [UInt8](repeating: 8, count: 32)))
        let foreign = another.token(.login, expires: .max)
        #expect(try await get("/house/1.png", cookie: foreign).status == 401)
        let expired = access.token(.link(id), expires: HTTPDate.now.seconds - 1)
        #expect(try await get("/house/1.png", cookie: expired).status == 401)
        #expect(try await get("/-/share/\(expired)").status == 410)
        // A login does not become a link.
        let login = access.token(.login, expires: .max)
        #expect(try await get("/-/share/\(login)").status == 410)
    }

    @Test(
        "links to what is no folder are not made",
        arguments: [
            #"{"folder": "", "days": 7}"#, #"{"folder": "missing", "days": 7}"#,
            #"{"folder": "house/1.png", "days": 7}"#, #"{"folder": "../x", "days": 7}"#,
            #"{"folder": "-", "days": 7}"#, #"{"folder": "info", "days": 7}"#,
            #"{"folder": "_", "days": 7}"#,
            #"{"folder": "house", "days": 0}"#, #"{"folder": "house", "days": 9999}"#, "{}",
        ])
    func noFolder(body: String) async throws {
        for name in ["info", "_"] { try gallery.image("\(name)/1.png") }
        let token = access.token(.login, expires: .max)
        let answer = try await gallery.request(
            .post, "/-/share",
            [.contentType: "application/json", .cookie: "calotype=\(token)"],
            body: Array(body.utf8), to: handler)
        #expect([400, 404].contains(answer.status), "\(body): \(answer.status)")
    }

    @Test("names that look alike are different folders") func equivalentNames() throws {
        let composed = try #require(Permission.SharedFolder(["\u{E9}"]))
        #expect(!Permission.folder(composed).allows(["e\u{301}", "1.png"]))
        #expect(Permission.folder(composed).allows(["\u{E9}", "1.png"]))
        #expect(Permission.SharedFolder([]) == nil)
        #expect(Permission.SharedFolder([".."]) == nil)
    }

    @Test("yescrypt hashes verify their password only") func yescrypt() throws {
        let hash = try #require(PasswordHash(hashing: "secret"))
        #expect(hash.text.hasPrefix("$y$"))
        #expect(hash.matches("secret"))
        #expect(!hash.matches("Secret"))
        #expect(!hash.matches(""))
        #expect(!hash.matches("secret\u{0}"))
        for text in ["", "secret", "$y$", "$1$abc$def", "*0", "$y$j9T$"] {
            #expect(PasswordHash(text) == nil, "\(text)")
        }
    }
}

extension AccessControl.Credential {
    /// The name of a link; `nil` for a login.
    var linkID: String? {
        if case .link(let id) = self { id } else { nil }
    }
}
