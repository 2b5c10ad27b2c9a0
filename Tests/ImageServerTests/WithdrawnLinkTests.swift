// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import HTTPTypes
import ImageTesting
import Testing

@testable import ImageServer

@Suite("Links that are withdrawn", .timeLimit(.minutes(10))) struct WithdrawnLinkTests {
    private static let secret = [UInt8](repeating: 9, count: 32)

    private let store: TemporaryFolder
    private let gallery: TestGallery
    private let access: AccessControl
    private let user: String

    init() throws {
        let access = try #require(
            AccessControl(password: nil, userHeader: "Remote-User", secret: Self.secret))
        let store = try TemporaryFolder()
        // Without an index, there are links to folders.
        gallery = try TestGallery {
            $0.access = access
            $0.linkDirectory = store.path
        }
        self.access = access
        self.store = store
        user = access.token(.login, expires: .max)
        for path in ["house/1.png", "garden/2.png"] { try gallery.image(path) }
    }

    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ cookie: String?, body: String = "",
        _ headers: HTTPFields = [.contentType: "application/json"], to handler: RequestHandler
    ) async throws -> Answer {
        var headers = headers
        if let cookie { headers[.cookie] = "calotype=\(cookie)" }
        return try await gallery.request(
            method, path, headers, body: Array(body.utf8), to: handler)
    }

    private func share(_ folder: String, _ handler: RequestHandler) async throws -> String {
        let answer = try await send(
            .post, "/-/share", user, body: #"{"folder": "\#(folder)", "days": 7}"#, to: handler)
        let url = try #require(try answer.json()["url"] as? String)
        return String(url.dropFirst("/-/share/".count))
    }

    private func links(_ handler: RequestHandler) async throws -> [[String: Any]] {
        let answer = try await send(.get, "/-/share", user, to: handler)
        #expect(answer.headers[.cacheControl] == "no-store")
        return try #require(try answer.json()["links"] as? [[String: Any]])
    }

    @Test("show nothing any more, also after a restart; others stay")
    func withdrawn() async throws {
        let handler = try gallery.server.requestHandler()
        let house = try await share("house", handler)
        let garden = try await share("garden", handler)
        #expect(try await send(.get, "/house/1.png", house, to: handler).status == 200)
        let listed = try await links(handler)
        #expect(Set(listed.compactMap { $0["folder"] as? String }) == ["house", "garden"])
        let link = try #require(listed.first { $0["folder"] as? String == "house" })
        #expect(link["url"] as? String == "/-/share/\(house)")
        #expect(link["imageCount"] as? Int == 0)
        let days = try #require(link["expires"] as? Int) - (try #require(link["created"] as? Int))
        #expect(days == 7 * 86_400)
        let id = try #require(link["id"] as? String)
        let withdrawn = try await send(.delete, "/-/share/\(id)", user, to: handler)
        #expect(withdrawn.status == 204)
        for handler in [handler, try gallery.server.requestHandler()] {
            for path in ["/house/1.png", "/-/listing/house", "/-/share/\(house)"] {
                let answer = try await send(.get, path, house, to: handler)
                #expect(answer.status == 410, "\(path)")
                #expect(answer.text.contains("withdrawn"), "\(answer.text)")
            }
            #expect(try await send(.get, "/garden/2.png", garden, to: handler).status == 200)
            #expect(try await links(handler).map { $0["folder"] as? String } == ["garden"])
            let again = try await send(.delete, "/-/share/\(id)", user, to: handler)
            #expect(again.status == 404)
        }
        // A new link to the same folder is another one.
        let next = try await share("house", handler)
        #expect(next != house)
        #expect(try await send(.get, "/house/1.png", next, to: handler).status == 200)
        #expect(try await send(.get, "/house/1.png", house, to: handler).status == 410)
    }

    @Test("are listed and withdrawn by users who have logged in only")
    func guests() async throws {
        let handler = try gallery.server.requestHandler()
        let house = try await share("house", handler)
        let id = try #require(try await links(handler).first?["id"] as? String)
        let other = try #require(
            AccessControl(password: nil, userHeader: nil, secret: [UInt8](repeating: 1, count: 32)))
        for cookie in [nil, house, other.token(.login, expires: .max), "\(user)A", id] {
            let listed = try await send(.get, "/-/share", cookie, to: handler)
            #expect(listed.status == 401)
            #expect(!listed.text.contains(id))
            let answer = try await send(.delete, "/-/share/\(id)", cookie, to: handler)
            #expect(answer.status == 401)
        }
        let foreign: [HTTPFields] = [
            [.contentType: "text/plain"], [:],
            [.contentType: "application/json", try secFetchSite(): "cross-site"],
        ]
        for headers in foreign {
            let answer = try await send(.delete, "/-/share/\(id)", user, headers, to: handler)
            #expect(answer.status == 403, "\(headers)")
        }
        #expect(try await send(.get, "/house/1.png", house, to: handler).status == 200)
    }

    @Test("are named exactly; forged names withdraw nothing, and open nothing")
    func forged() async throws {
        let handler = try gallery.server.requestHandler()
        let house = try await share("house", handler)
        let id = try #require(try await links(handler).first?["id"] as? String)
        for name in [
            "%25", "*", "\(id)x", String(id.dropLast()), id.uppercased(), "..", "%00",
            "'%20OR%20'1", house, "-", "%2e%2e%2f\(id)",
        ] where name != id {
            let answer = try await send(.delete, "/-/share/\(name)", user, to: handler)
            #expect([404, 405].contains(answer.status), "\(name): \(answer.status)")
            let token = access.token(.link(name), expires: .max)
            #expect(try await send(.get, "/house/1.png", token, to: handler).status == 410)
        }
        // A signature for a folder, which an older server has made, is none.
        let code = access.token(.link("/house"), expires: .max)
        #expect(try await send(.get, "/house/1.png", code, to: handler).status == 401)
        for path in ["/-/share/\(id)/x", "/-/share/"] {
            let answer = try await send(.delete, path, user, to: handler)
            #expect([404, 405].contains(answer.status), "\(path): \(answer.status)")
        }
        #expect(try await send(.get, "/house/1.png", house, to: handler).status == 200)
        #expect(try await links(handler).count == 1)
    }

    private func secFetchSite() throws -> HTTPField.Name {
        try #require(HTTPField.Name("Sec-Fetch-Site"))
    }
}
