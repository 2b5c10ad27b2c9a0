// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import LoadingTesting
import Testing

@testable import HTTPCaching
@testable import ImageLoading

@Suite("The trace of a request", .timeLimit(.minutes(5))) struct TraceContextTests {
    /// The example of W3C Trace Context, section 3.2.3.
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"

    private static func fields(_ parents: [String], state: String? = nil) throws -> HTTPFields {
        var fields = HTTPFields()
        let (parentName, stateName) = try names()
        for parent in parents { fields.append(HTTPField(name: parentName, value: parent)) }
        fields[stateName] = state
        return fields
    }

    private static func names() throws -> (parent: HTTPField.Name, state: HTTPField.Name) {
        (
            try #require(HTTPField.Name("traceparent")), try #require(HTTPField.Name("tracestate"))
        )
    }

    @Test("is known by its number, and is passed on as it came") func valid() throws {
        let fields = try Self.fields([Self.parent], state: "congo=t61rcWkgMzE,rojo=00f067")
        let trace = try #require(TraceContext(fields))
        #expect(trace.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(trace.fields == fields)
    }

    @Test(
        "is none if its form is not that of version 00",
        arguments: [
            "", "00", "00-", "4bf92f3577b34da6a3ce929d0e0e4736",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-00",
            "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 01",
            "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
        ])
    func malformed(parent: String) throws {
        #expect(TraceContext(try Self.fields([parent], state: "a=b")) == nil)
    }

    @Test("is none if two are given, or only its state") func several() throws {
        #expect(TraceContext(try Self.fields([Self.parent, Self.parent])) == nil)
        #expect(TraceContext(try Self.fields([], state: "a=b")) == nil)
    }

    @Test("goes without a state that is too long, empty or not of plain characters") func state()
        throws
    {
        let (_, name) = try Self.names()
        let longest = "a=" + String(repeating: "b", count: 510)
        for (state, isKept) in [
            (longest, true), (longest + "b", false), ("", false), ("é=1", false),
        ] {
            let trace = try #require(TraceContext(try Self.fields([Self.parent], state: state)))
            #expect(trace.fields[name] == (isKept ? state : nil))
        }
    }

    @Test("is that of the one who began, for all who share one load of an original")
    func shared() async throws {
        let web = try HTTPFixture { _, _ in
            FakeAnswer(
                fields: [.cacheControl: "max-age=10"], body: StoreHarness.file, isHeld: true)
        }
        let harness = try StoreHarness(web: web)
        var (first, second) = (try harness.request(), try harness.request())
        first.trace = TraceContext(try Self.fields([Self.parent]))
        second.trace = TraceContext(try Self.fields([Self.other]))
        try await harness.loadTogether([first])
        web.advance(seconds: 10)
        // The server is asked again: by all of them in one request, and by one whose trace is known.
        let again = try StoreHarness(web: web)
        try await again.loadTogether([second, first, second])
        let (name, _) = try Self.names()
        let parents = web.transport.requests.map { $0.headerFields[name] }
        #expect(parents.count == 2)
        #expect(parents[0] == Self.parent)
        #expect([Self.parent, Self.other].contains(parents[1]))
    }

    @Test("does not affect which stored response is found, whatever the server specifies")
    func kept() async throws {
        let fixture = try HTTPFixture { _, _ in
            FakeAnswer(
                fields: [.cacheControl: "max-age=10", .vary: "traceparent"],
                body: HTTPFixture.image)
        }
        for parent in [Self.parent, Self.other] {
            var request = HTTPLoadRequest(url: try HTTPURL(HTTPFixture.address))
            request.trace = TraceContext(try Self.fields([parent]))
            let response = try await fixture.loader.load(request)
            #expect(response.bytes == HTTPFixture.image)
        }
        #expect(fixture.requestCount == 1)
    }
}
