// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Testing

@testable import PhotoLibrary

@Suite struct SearchQueryTests {
    private static func days(_ first: String, _ last: String) -> ClosedRange<Int> {
        let number = { (text: String) in
            let parts = text.split(separator: "-").compactMap { Int($0) }
            return CalendarDate(year: parts[0], month: parts[1], day: parts[2]).daysSince1970
        }
        return number(first)...number(last)
    }

    @Test(
        "dates",
        arguments: [
            ("2023", "2023-01-01", "2023-12-31"), ("2024-02", "2024-02-01", "2024-02-29"),
            ("2023-05-14", "2023-05-14", "2023-05-14"),
            ("2021..2023-05", "2021-01-01", "2023-05-31"),
            ("summer 2023", "2023-06-01", "2023-08-31"),
            ("Winter 2023", "2023-12-01", "2024-02-29"),
            ("Frühling 2023", "2023-03-01", "2023-05-31"), ("may 2023", "2023-05-01", "2023-05-31"),
            ("Dezember 2023", "2023-12-01", "2023-12-31"),
            ("2023 2023-05", "2023-05-01", "2023-05-31"),
        ])
    func dates(text: String, first: String, last: String) {
        let query = SearchQuery(text)
        #expect(query.days == Self.days(first, last))
        #expect(query.words.isEmpty)
    }

    @Test(
        "texts that are no dates",
        arguments: [
            "20", "summer", "2023-13", "2023-02-30", "12345", "2023..2021", "may",
            "٢٠٢٣",
        ])
    func noDates(text: String) {
        #expect(SearchQuery(text).days == nil)
        #expect(!SearchQuery(text).words.isEmpty)
    }

    @Test("different years exclude one another")
    func impossible() {
        #expect(SearchQuery("2021 2023").isImpossible)
        #expect(!SearchQuery("2021 2021-05").isImpossible)
    }

    @Test("words and filters")
    func filters() {
        let query = SearchQuery("beach camera:\"EOS 5D\" format:JPG rating:4 is:portrait IMG_12")
        #expect(
            query.words == [
                .init(column: nil, prefixes: ["beach"]),
                .init(column: "camera", prefixes: ["EOS", "5D"]),
                .init(column: "kind", prefixes: ["fmtjpeg"]),
                .init(column: "kind", prefixes: ["rated4"], isExact: true),
                .init(column: "kind", prefixes: ["portrait"]),
                .init(column: nil, prefixes: ["IMG", "12"]),
            ])
        // An unknown filter is a word, and so is a colon at the end.
        #expect(SearchQuery("foo:bar").words == [.init(column: nil, prefixes: ["foo", "bar"])])
        #expect(SearchQuery("camera:").isEmpty)
        #expect(SearchQuery("\"*() \"").isEmpty)
    }

    @Test("places")
    func places() {
        #expect(
            SearchQuery("near:48.137,-11.5,5km").place
                == .init(latitude: 48.137, longitude: -11.5, radius: 5_000))
        #expect(SearchQuery("near:1,2").place?.radius == 1_000)
        #expect(SearchQuery("near:1,2,300m").place?.radius == 300)
        for text in [
            "near:", "near:91,0", "near:1,181", "near:1,2,-3", "near:1,2,3mi", "near:nan,2",
        ] {
            #expect(SearchQuery(text).isImpossible, "\(text)")
        }
        // Munich and Salzburg are 115 km apart, by the great circle.
        let munich = SearchQuery.Place(latitude: 48.137, longitude: 11.575, radius: 1)
        #expect(abs(munich.distance(47.8, 13.045) - 115_500) < 1_000)
    }
}
