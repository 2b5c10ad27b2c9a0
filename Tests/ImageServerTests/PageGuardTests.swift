// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import NIOCore
import Testing

@testable import ImageServer

@Suite("The page guard of a server") struct PageGuardTests {
    private func pageGuard(
        _ change: (inout ImageServer.Configuration) -> Void = { _ in }
    ) throws -> PageGuard {
        var configuration = try TestGallery().configuration
        change(&configuration)
        return PageGuard(configuration)
    }

    private func request(_ authority: String?, _ headers: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(
            method: .get, scheme: "http", authority: authority, path: "/1.png",
            headerFields: headers)
    }

    private func fetch(_ site: String, dest: String = "image", origin: String? = nil) -> HTTPFields
    {
        var headers: HTTPFields = [:]
        headers[named: "Sec-Fetch-Site"] = site
        headers[named: "Sec-Fetch-Dest"] = dest
        headers[named: "Origin"] = origin
        return headers
    }

    @Test(
        "on a loopback address accepts its own names",
        arguments: [
            "localhost", "LOCALHOST:8080", "a.localhost:1", "127.0.0.1:8080", "127.8.9.1",
            "[::1]:80",
            "[::1]", "pictures.example", "Pictures.Example:443",
        ])
    func ownNames(authority: String) throws {
        let pageGuard = try pageGuard { $0.publicAddress = "https://pictures.example:8443/a" }
        try pageGuard.check(request(authority))
        try pageGuard.check(request(nil))
    }

    @Test(
        "on a loopback address rejects other names",
        arguments: [
            "rebound.example", "localhost.example:8080", "127.0.0.1.example", "128.0.0.1", "[::2]",
            "0.0.0.0:8080", "notlocalhost", "192.168.1.2:8080", "2130706433",
            "localhost@evil.example", "localhost:80@evil.example", "localhost:80:90", "[::1",
            "[::1]a",
            "127.0.0.1,evil.example",
        ])
    func otherNames(authority: String) async throws {
        let pageGuard = try pageGuard()
        #expect(throws: ServerError.misdirected(host: authority)) {
            try pageGuard.check(request(authority))
        }
    }

    @Test("on a loopback address checks a second Host header") func secondName() throws {
        var fields: HTTPFields = [:]
        fields[named: "Host"] = "rebound.example"
        #expect(throws: ServerError.misdirected(host: "rebound.example")) {
            try pageGuard().check(request("localhost", fields))
        }
        fields[named: "Host"] = "localhost"
        try pageGuard().check(request("localhost", fields))
    }

    @Test("rejects other names with 421 on all routes except health checks") func status()
        async throws
    {
        let gallery = try TestGallery()
        try gallery.image("1.png")
        for (path, status) in [
            ("/1.png", 421), ("/20x20/1.png", 421), ("/", 421), ("/-/listing/", 421),
            ("/iiif/3/1.png/info.json", 421), ("/-/openapi.json", 421), ("/healthz", 200),
        ] {
            let request = Request(
                head: HTTPRequest(
                    method: .get, scheme: "http", authority: "rebound.example", path: path),
                body: RequestBody(buffer: ByteBuffer()))
            let response = try await gallery.server.requestHandler().respond(to: request, over: nil)
            #expect(response.status.code == status, "\(path)")
        }
        // The same for cached responses.
        let responder = try gallery.server.requestHandler()
        var head = request("localhost")
        head.path = "/20x20/1.png"
        let ready = responder.readyResponses()
        // The response is fresh for a short time, which may pass on a busy machine.
        for _ in 0..<100 where ready(head) == nil {
            _ = await responder.respond(
                to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), over: nil)
        }
        #expect(ready(head) != nil)
        head.authority = "rebound.example"
        #expect(ready(head) == nil)
    }

    @Test("on other addresses or Unix domain sockets accepts every name") func open() throws {
        try pageGuard { $0.host = "0.0.0.0" }.check(request("any.example"))
        try pageGuard { $0.socketPath = "/run/a" }.check(request("any.example"))
    }

    @Test("on a loopback address rejects cross-site requests except navigation") func crossSite()
        throws
    {
        let pageGuard = try pageGuard()
        for site in ["same-origin", "same-site", "none"] {
            try pageGuard.check(request("localhost", fetch(site)))
        }
        try pageGuard.check(request("localhost", fetch("cross-site", dest: "document")))
        for dest in ["image", "iframe", "empty", "script"] {
            #expect(throws: ServerError.self) {
                try pageGuard.check(request("localhost", fetch("cross-site", dest: dest)))
            }
        }
        #expect(pageGuard.allowedOrigin(request("localhost")) == nil)
        #expect(pageGuard.resourcePolicy == "same-site")
    }

    @Test("allows the configured origins") func origins() throws {
        let viewer = "https://viewer.example"
        let pageGuard = try pageGuard { $0.allowedOrigins = [viewer] }
        let allowed = request("localhost", fetch("cross-site", dest: "empty", origin: viewer))
        try pageGuard.check(allowed)
        #expect(pageGuard.allowedOrigin(allowed) == viewer)
        #expect(pageGuard.variesByOrigin)
        let other = fetch("cross-site", dest: "empty", origin: "https://other.example")
        #expect(pageGuard.allowedOrigin(request("localhost", other)) == nil)
        #expect(throws: ServerError.self) { try pageGuard.check(request("localhost", other)) }

        let all = try self.pageGuard { $0.allowedOrigins = ["*"] }
        try all.check(request("localhost", other))
        #expect(all.allowedOrigin(request("localhost", other)) == "*")
        #expect(throws: ServerError.self) { try all.check(request("rebound.example", other)) }
    }

    @Test("on other addresses or with a public URL allows all origins") func publicServer() throws {
        for change in [
            { $0.host = "0.0.0.0" }, { $0.publicAddress = "https://pictures.example" },
        ] as [(inout ImageServer.Configuration) -> Void] {
            let pageGuard = try pageGuard(change)
            #expect(pageGuard.allowedOrigin(request("localhost")) == "*")
            #expect(pageGuard.resourcePolicy == nil)
        }
    }

    @Test("sends Cross-Origin-Resource-Policy") func headers()
        async throws
    {
        let gallery = try TestGallery()
        try gallery.image("1.png")
        for address in ["/1.png", "/20x20/1.png", "/20x20/1.png", "/iiif/3/1.png/info.json"] {
            let headers = try await gallery.get(address).headers
            #expect(headers[named: "Cross-Origin-Resource-Policy"] == "same-site", "\(address)")
            #expect(headers[.accessControlAllowOrigin] == nil)
        }
    }
}
