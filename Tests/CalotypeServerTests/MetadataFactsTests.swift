// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Testing

@testable import ImageCommands

@Suite("Metadata in calotype info") struct MetadataFactsTests {
    @Test("is printed in the notation of photographers")
    func lines() {
        var blocks = MetadataBlocks()
        blocks.exif = EXIFBlock.photograph(isLittleEndian: true)
        let lines = Dictionary(MetadataFacts(MetadataFields(blocks)).lines) { first, _ in first }
        #expect(lines["camera"] == "Maker Model 5, serial number 123456")
        #expect(
            lines["exposure"]
                == "1/250 s, f/2.8, ISO 400, 35 mm, 52 mm in 35 mm format, -0.33 EV, aperture priority"
        )
        #expect(lines["taken"] == "2024-02-29T23:59:59.25-03:30")
        #expect(lines["position"] == "-33.866667, -151.21, -10.5 m, facing 270.5°")
        #expect(lines["title"] == nil)
        #expect(MetadataFacts(MetadataFields()).lines.isEmpty)
    }

    @Test("contains no control characters")
    func terminal() {
        var blocks = MetadataBlocks()
        blocks.iptc = [0x1C, 2, 5, 0, 7, 0x41, 0x1B, 0x5B, 0x32, 0x4A, 0x0A, 0x42]
        #expect(MetadataFacts(MetadataFields(blocks)).lines.first?.1 == "A [2J B")
    }

    @Test("is JSON with null for each missing block")
    func json() {
        var blocks = MetadataBlocks()
        blocks.exif = EXIFBlock.make([(0x8827, .shorts([1]))])
        #expect(
            MetadataFacts(MetadataFields(blocks)).json
                == .object([
                    .init("exif", .object([.init("byteCount", .integer(26))])),
                    .init("xmp", .null), .init("iptc", .null),
                ]))
    }

    @Test("takes less than a mebibyte of JSON, whatever the blocks contain")
    func bounded() {
        // A quotation mark takes two bytes of JSON, a control character would take six.
        let long =
            String(repeating: "\"", count: 300_000) + String(repeating: "\u{1}", count: 1_000)
        var blocks = MetadataBlocks()
        blocks.exif = EXIFBlock.make([(0x010E, .ascii(long)), (0x010F, .ascii(long))])
        let names = ["title", "description", "rights", "creator", "subject"]
        let keywords = String(repeating: "<rdf:li>&quot;\u{1}&#2;&quot;</rdf:li>", count: 5_000)
        blocks.xmp = Array(
            """
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
              xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Description
              \(names.map { "dc:\($0)='\(long)'" }.joined(separator: " "))>
              <dc:subject><rdf:Bag>\(keywords)</rdf:Bag></dc:subject></rdf:Description></rdf:RDF>
            """.utf8)
        let record: [UInt8] = [0x7F, 0xFF] + [UInt8](repeating: 0x22, count: 0x7FFF)
        blocks.iptc = [UInt8](
            ([5, 25, 40, 80, 85, 90, 105, 120] + [UInt8](repeating: 25, count: 50))
                .map { [0x1C, 2, $0] + record }.joined())
        let text = MetadataFacts(MetadataFields(blocks)).json.text()
        #expect(text.utf8.count > 100_000)
        #expect(text.utf8.count < 1 << 20)
        #expect(!text.contains("\\u00"))
    }
}
