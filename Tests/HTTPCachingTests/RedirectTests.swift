// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import LoadingTesting
import LoadScheduling
import Testing

@testable import HTTPCaching

@Suite("A redirect", .timeLimit(.minutes(5))) struct RedirectTests {
    /// Redirects from each URL to the next; the last has the image.
    private static func fixture(
        _ addresses: [String], status: Int = 302, fields: HTTPFields = [:],
        allows: @escaping @Sendable (HTTPURL) -> Bool = { _ in true }
    ) throws -> HTTPFixture {
        try HTTPFixture {
            $0.allows = allows
        } _: { request, _ in
            guard let index = addresses.firstIndex(of: request.address),
                index + 1 < addresses.count
            else {
                return FakeAnswer(
                    fields: [.cacheControl: "max-age=60"], body: HTTPFixture.image)
            }
            var fields = fields
            fields[.location] = addresses[index + 1]
            return FakeAnswer(status: status, fields: fields)
        }
    }

    private static func chain(_ count: Int) -> [String] {
        (0...count).map { "https://example.org/\($0)" }
    }

    @Test("is followed by the loader", arguments: [301, 302, 303, 307, 308])
    func followed(status: Int) async throws {
        let fixture = try Self.fixture(Self.chain(1), status: status)
        let response = try await fixture.load("https://example.org/0")
        #expect(response.bytes == HTTPFixture.image)
        #expect("\(response.url)" == "https://example.org/1")
        #expect(fixture.requestCount == 2)
    }

    @Test("is followed five times but not six")
    func bounded() async throws {
        let fixture = try Self.fixture(Self.chain(5))
        _ = try await fixture.load("https://example.org/0")
        let longer = try Self.fixture(Self.chain(6))
        await #expect(
            throws: LoadError.badResponse(
                url: "https://example.org/0", reason: "more than 5 redirects")
        ) { try await longer.load("https://example.org/0") }
        #expect(longer.requestCount == 6)
    }

    @Test(
        "is rejected if it leaves HTTP or downgrades from HTTPS",
        arguments: ["http://example.org/1", "file:///etc/passwd", "https://a@b/", "//[::1"])
    func refused(location: String) async throws {
        let fixture = try Self.fixture(["https://example.org/0", location])
        let error = await #expect(throws: LoadError.self) {
            try await fixture.load("https://example.org/0")
        }
        guard case .addressRefused = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(fixture.requestCount == 1)
    }

    @Test("may lead from HTTP to HTTPS")
    func upgraded() async throws {
        let fixture = try Self.fixture(["http://example.org/0", "https://example.org/0"])
        #expect(try await fixture.load("http://example.org/0").bytes == HTTPFixture.image)
    }

    @Test("is followed only to allowed URLs, the first included")
    func allowed() async throws {
        let addresses = Self.chain(1) + ["https://169.254.169.254/2"]
        let asked = Log<String>()
        let fixture = try Self.fixture(addresses) { url in
            asked.append(url.host)
            return url.host == "example.org"
        }
        await #expect(
            throws: LoadError.addressRefused(
                url: "https://169.254.169.254/2",
                reason: "the configuration does not allow this URL")
        ) { try await fixture.load(addresses[0]) }
        #expect(asked.items == ["example.org", "example.org", "169.254.169.254"])
        await #expect(throws: LoadError.self) { try await fixture.load("https://example.com/") }
        #expect(fixture.requestCount == 2)
    }

    @Test("drops credentials for another origin")
    func credentials() async throws {
        let fixture = try Self.fixture([
            "https://example.org/0", "https://example.org/1", "https://example.com/2",
        ])
        _ = try await fixture.load(
            "https://example.org/0",
            fields: [.authorization: "a", .cookie: "b", .accept: "image/png"])
        let sent = fixture.transport.requests.map(\.headerFields)
        #expect(sent.map { $0[.authorization] } == ["a", "a", nil])
        #expect(sent.map { $0[.cookie] } == ["b", "b", nil])
        #expect(sent.map { $0[.accept] } == ["image/png", "image/png", "image/png"])
    }

    @Test("is stored only with explicit freshness, and the image under its own URL")
    func kept() async throws {
        let temporary = try Self.fixture(Self.chain(1))
        for _ in 0..<2 { _ = try await temporary.load("https://example.org/0") }
        #expect(temporary.transport.startCount("https://example.org/0") == 2)
        #expect(temporary.transport.startCount("https://example.org/1") == 1)
        let permanent = try Self.fixture(
            Self.chain(1), status: 301, fields: [.cacheControl: "max-age=10"])
        for _ in 0..<2 { _ = try await permanent.load("https://example.org/0") }
        #expect(permanent.requestCount == 2)
        permanent.advance(seconds: 10)
        _ = try await permanent.load("https://example.org/0")
        #expect(permanent.requestCount == 3)
    }

    @Test("without Location is an error")
    func nowhere() async throws {
        let fixture = try HTTPFixture { _, _ in FakeAnswer(status: 302) }
        await #expect(throws: LoadError.self) { try await fixture.load() }
    }
}

@Suite("An HTTP URL") struct HTTPURLTests {
    @Test(
        "is normalized",
        arguments: [
            ("HTTP://Example.ORG:80", "http://example.org/"),
            ("https://example.org:443/a/../b/./c?d=/../e#f", "https://example.org/b/c?d=/../e"),
            ("https://example.org:8443/%20%2e", "https://example.org:8443/%20%2e"),
            ("https://example.org/ä b\"", "https://example.org/%C3%A4%20b%22"),
            ("http://[::1]:80/..", "http://[::1]/"), ("http://[::1]:81?q", "http://[::1]:81/?q"),
            ("https://h/a/b/..", "https://h/a/"), ("https://h//a//", "https://h//a//"),
        ])
    func spelling(text: String, expected: String) throws {
        #expect(try HTTPURL(text).description == expected)
    }

    @Test(
        "is rejected if it is invalid",
        arguments: [
            "", "example.org", "ftp://example.org/", "http:/a", "http://", "http://:80/",
            "http://user@example.org/", "http://user:password@example.org", "http://exa mple/",
            "http://example.org:99999/", "http://example.org:x/", "http://exämple.org/",
            "http://a\\b/", "http://a\r\nHost: b/", "http://[::1/", "javascript:alert(1)",
        ])
    func refused(text: String) {
        #expect(throws: LoadError.self) { try HTTPURL(text) }
    }

    /// The examples of RFC 3986, section 5.4, as far as they are of the web.
    @Test(
        "is resolved against a base URL",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"), ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"),
            (";x", "http://a/b/c/;x"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"),
            ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/../y", "http://a/b/c/y"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("https://B/", "https://b/"),
        ])
    func relative(reference: String, expected: String) throws {
        let base = try HTTPURL("http://a/b/c/d;p?q")
        #expect(try HTTPURL(reference, relativeTo: base).description == expected)
    }
}
