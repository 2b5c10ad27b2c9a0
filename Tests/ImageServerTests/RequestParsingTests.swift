// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageServer

@Suite("Request parsing") struct RequestParsingTests {
    @Test(
        "parses and formats HTTP dates",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (4_102_444_800, "Fri, 01 Jan 2100 00:00:00 GMT"),
        ])
    func dates(seconds: Int, text: String) {
        #expect(HTTPDate(seconds: seconds).text == text)
        #expect(HTTPDate(text)?.seconds == seconds)
    }

    @Test("ignores invalid dates") func noDates() {
        for text in [
            "", "now", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        ] {
            #expect(HTTPDate(text) == nil, "\(text)")
        }
    }

    @Test("parses ranges") func ranges() {
        #expect(ByteRange(nil, byteCount: 10) == .whole)
        #expect(ByteRange("bytes=0-0", byteCount: 10) == .part(0..<1))
        #expect(ByteRange("bytes=9-", byteCount: 10) == .part(9..<10))
        #expect(ByteRange("bytes=10-", byteCount: 10) == .unsatisfiable)
        #expect(ByteRange("bytes=-99", byteCount: 10) == .part(0..<10))
        #expect(ByteRange("bytes=2-9223372036854775807", byteCount: 10) == .part(2..<10))
        #expect(ByteRange("bytes=+1-2", byteCount: 10) == .whole)
        #expect(ByteRange("bytes=--1", byteCount: 10) == .whole)
    }

    @Test("orders names naturally") func naturalOrder() {
        let ordered = [
            "1.jpg", "2.jpg", "10.jpg", "a", "A1", "a2", "a02", "a10", "a100b2", "a100b10",
            "img 9", "IMG_1", "z",
        ]
        #expect(NaturalOrder.sorted(ordered.reversed()) == NaturalOrder.sorted(ordered))
        #expect(NaturalOrder.sorted(["img10", "img2", "IMG1"]) == ["IMG1", "img2", "img10"])
        #expect(NaturalOrder.sorted(["b", "A", "a", "B"]) == ["A", "a", "B", "b"])
        #expect(NaturalOrder.sorted(["a2", "a02", "a002"]) == ["a002", "a02", "a2"])
        #expect(NaturalOrder.sorted(["x1000000000000000000000", "x2"]).first == "x2")
    }
}
