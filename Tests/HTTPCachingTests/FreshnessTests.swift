// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ImageTesting
import LoadingTesting
import Testing

@testable import HTTPCaching

@Suite("HTTP fields") struct FreshnessTests {
    @Test(
        "parse dates in all three formats",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ])
    func spellings(text: String) {
        #expect(HTTPDate.seconds(text) == FakeClock.startDate)
    }

    @Test("parse dates like Foundation's calendar")
    func calendar() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        var random = SeededRandom(seed: 1)
        for _ in 0..<1000 {
            let seconds = Int.random(in: 0...7_000_000_000, using: &random)
            let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
            #expect(HTTPDate.seconds(text) == seconds, "\(text)")
        }
    }

    @Test(
        "reject invalid dates",
        arguments: [
            "", "0", "-1", "Sun, 06 Nov 1994", "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, +6 Nov 1994 08:49:37 GMT",
        ])
    func noDate(text: String) { #expect(HTTPDate.seconds(text) == nil) }

    @Test("parse Cache-Control with any case, quotes, spaces and unknown directives")
    func cacheControl() {
        let control = CacheControl(
            " Private=\"a, no-store\" ,MAX-AGE = \"7\",must-revalidate,, foo=bar,"
                + "stale-while-revalidate=8,stale-if-error=99999999999999999999, immutable")
        var expected = CacheControl()
        expected.maximumAge = 7
        expected.mustRevalidate = true
        expected.staleWhileRevalidate = 8
        expected.staleIfError = 1 << 31
        #expect(control == expected)
        #expect(CacheControl("no-store").isNoStore)
        #expect(CacheControl("no-cache=\"Set-Cookie\"").isNoCache)
        #expect(CacheControl("max-age=-1").maximumAge == 0)
    }

    /// The terms of RFC 9111, section 4.2.3.
    @Test("compute the age from transit time and server clock, whichever is larger")
    func age() {
        let start = FakeClock.startDate
        func freshUntil(_ fields: HTTPFields) -> Int {
            Freshness(
                status: 200, fields: fields, requestDate: start, responseDate: start + 5
            ).freshUntil - start
        }
        // Five seconds on the way may have been five of age.
        #expect(freshUntil([.cacheControl: "max-age=100"]) == 100)
        #expect(freshUntil([.cacheControl: "max-age=100", .age: "20"]) == 80)
        #expect(freshUntil([.cacheControl: "max-age=100", .date: httpDate(-45)]) == 55)
        // The server's clock is ahead of ours.
        #expect(freshUntil([.cacheControl: "max-age=100", .date: httpDate(500)]) == 100)
        #expect(freshUntil([.expires: httpDate(100), .date: httpDate(5)]) == 95)
        #expect(freshUntil([.lastModified: httpDate(-995), .date: httpDate(5)]) == 100)
    }

    @Test("parse or reject Content-Range")
    func contentRange() {
        let range = ContentRange("bytes 11397-22788/22789")
        #expect(range?.first == 11_397)
        #expect(range?.last == 22_788)
        #expect(range?.wholeByteCount == 22_789)
        #expect(ContentRange("Bytes 0-0/*")?.wholeByteCount == .some(nil))
        for text in [
            "", "bytes", "bytes */5", "bytes 5-4/9", "bytes 0-9/9", "items 0-1/2", "bytes 0-1/x",
            "bytes -1-2/3", "bytes 0-1",
        ] {
            #expect(ContentRange(text) == nil, "\(text)")
        }
    }

    @Test("are stored byte by byte, without those of the connection")
    func storable() throws {
        let name = try #require(HTTPField.Name("X-Latin"))
        var fields: HTTPFields = [
            .connection: "close, X-Hop", .transferEncoding: "chunked", .setCookie: "a=b",
            .eTag: "\"ä: b\"",
        ]
        fields[try #require(HTTPField.Name("X-Hop"))] = "1"
        fields.append(HTTPField(name: name, value: [0xE4, 0x3A, 0x20, 0xFF]))
        fields.append(HTTPField(name: .vary, value: "a"))
        fields.append(HTTPField(name: .vary, value: ""))
        let kept = HTTPFields(serialized: fields.storable.serialized)
        #expect(kept.map(\.name.canonicalName) == ["etag", "x-latin", "vary", "vary"])
        #expect(kept[.eTag] == "\"ä: b\"")
        #expect(kept.rawValues(name) == [[0xE4, 0x3A, 0x20, 0xFF]])
    }
}
