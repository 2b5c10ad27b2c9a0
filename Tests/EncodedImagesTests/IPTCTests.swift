// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Testing

@Suite("IPTC records") struct IPTCTests {
    static func record(_ number: (UInt8, UInt8), _ value: [UInt8]) -> [UInt8] {
        [0x1C, number.0, number.1, UInt8(value.count >> 8), UInt8(value.count & 255)] + value
    }

    static let records =
        record((1, 90), [0x1B, 0x25, 0x47]) + record((2, 5), Array("Häfen".utf8))
        + record((2, 25), Array("sea".utf8)) + record((2, 25), Array("ship".utf8))
        + record((2, 80), Array("Zoë".utf8)) + record((2, 90), Array("Sydney".utf8))
        + record((2, 101), Array("Australia".utf8)) + record((2, 116), Array("© Zoë".utf8))
        + record((2, 120), Array("A caption".utf8)) + record((2, 55), Array("20240229".utf8))
        + record((2, 60), Array("235959+0200".utf8))

    @Test("are read by their dataset numbers")
    func fields() {
        let fields = IPTCFields(Self.records)
        #expect(fields.title == "Häfen")
        #expect(fields.keywords == ["sea", "ship"])
        #expect(fields.bylines == ["Zoë"])
        #expect(fields.city == "Sydney")
        #expect(fields.country == "Australia")
        #expect(fields.copyright == "© Zoë")
        #expect(fields.caption == "A caption")
        #expect(fields.dateCreated?.description == "2024-02-29T23:59:59+02:00")
    }

    @Test("are Latin-1 if they are invalid as UTF-8 or state another encoding")
    func encodings() {
        #expect(IPTCFields(Self.record((2, 5), [0x48, 0xE4, 0x66])).title == "Häf")
        #expect(IPTCFields(Self.record((2, 5), Array("Häf".utf8))).title == "Häf")
        let stated = Self.record((1, 90), [0x1B, 0x2E, 0x41])
        #expect(IPTCFields(stated + Self.record((2, 5), [0xC3, 0xA4])).title == "Ã¤")
    }

    @Test("may be longer than 32 KiB")
    func long() {
        let caption = [UInt8](repeating: 0x61, count: 40_000)
        let records = [0x1C, 2, 120, 0x80, 4, 0, 0, 0x9C, 0x40] + caption
        #expect(IPTCFields(records).caption?.utf8.count == 40_000)
    }

    @Test("have at most 1,000 keywords and bylines")
    func lists() {
        let numbers = (1...1_001).map { Array("\($0)".utf8) }
        let fields = IPTCFields(
            numbers.flatMap { Self.record((2, 25), $0) + Self.record((2, 80), $0) })
        #expect(fields.keywords == (1...1_000).map { "\($0)" })
        #expect(fields.bylines == fields.keywords)
    }

    @Test("are read from and written to Photoshop resources")
    func resources() {
        let other = Array("8BIM".utf8) + [4, 0x0B, 3, 0x61, 0x62, 0x63, 0, 0, 0, 1, 7, 0]
        let blocks = other + PhotoshopResources.block(iptc: Self.records) + other
        #expect(PhotoshopResources.iptc(in: blocks) == Self.records)
        #expect(PhotoshopResources.iptc(in: other) == nil)
        #expect(PhotoshopResources.iptc(in: []) == nil)
    }

    @Test("that are damaged do not trap")
    func damage() {
        let blocks = PhotoshopResources.block(iptc: Self.records)
        var random = SeededRandom(seed: 2)
        for _ in 0..<3_000 {
            var damaged = blocks
            damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(
                in: 0...255, using: &random)
            let count = Int.random(in: 0...damaged.count, using: &random)
            _ = PhotoshopResources.iptc(in: Array(damaged[..<count])).map(IPTCFields.init)
            _ = IPTCFields(Array(damaged[..<count].dropFirst(12)))
        }
    }
}
