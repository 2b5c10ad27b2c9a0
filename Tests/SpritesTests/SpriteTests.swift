// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import Sprites

@Suite("Sprites") struct SpriteTests {
    /// Thumbnails of photographs: a longer side of 200 pixels, the shorter by usual proportions.
    private func photographs(_ count: Int, seed: UInt64) -> [PixelSize] {
        var random = SeededRandom(seed: seed)
        let shorter = [133, 150, 112, 200, 160, 133, 150, 100]
        return (0..<count).map { _ in
            let size = PixelSize(
                width: 200, height: shorter[Int.random(in: 0..<shorter.count, using: &random)])
            return Bool.random(using: &random) ? size : size.transposed
        }
    }

    private func randomSizes(_ count: Int, most: Int, seed: UInt64) -> [PixelSize] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { _ in
            PixelSize(
                width: .random(in: 1...most, using: &random),
                height: .random(in: 1...most, using: &random))
        }
    }

    @Test(
        "neither overlap nor reach over the edge", arguments: SpriteLayout.Arrangement.allCases,
        [0, 3])
    func overlaps(_ arrangement: SpriteLayout.Arrangement, _ padding: Int) throws {
        let sizes = randomSizes(1000, most: 60, seed: 5)
        let layout = try SpriteLayout(sizes, arrangement, padding: padding)
        #expect(layout.places.map(\.size) == sizes)
        // A map of who lies where, each with the padding to its right and below.
        let width = layout.size.width + padding
        var owners = [Int](repeating: -1, count: width * (layout.size.height + padding))
        for (number, place) in layout.places.enumerated() {
            #expect(PixelRect(layout.size).contains(place))
            for y in place.y..<place.y + place.height + padding {
                for x in place.x..<place.x + place.width + padding {
                    if owners[y * width + x] >= 0 {
                        Issue.record("\(number) lies on \(owners[y * width + x])")
                        return
                    }
                    owners[y * width + x] = number
                }
            }
        }
    }

    @Test("packed ones of photographs leave little room unused", arguments: [50, 200, 1000])
    func efficiency(_ count: Int) throws {
        for seed in 1...5 as ClosedRange<UInt64> {
            let sizes = photographs(count, seed: seed)
            let packed = try SpriteLayout(sizes, .packed)
            let grid = try SpriteLayout(sizes, .grid)
            #expect(packed.usedShare >= 0.85, "\(packed.size)")
            #expect(packed.usedShare > grid.usedShare)
        }
    }

    @Test("of any sizes are packed with little unused space") func randomEfficiency() throws {
        let layout = try SpriteLayout(randomSizes(1000, most: 200, seed: 9), .packed)
        #expect(layout.usedShare >= 0.85, "\(layout.size)")
    }

    @Test("are placed in equal cells in their order") func grid() throws {
        let sizes = [(10, 20), (30, 5), (1, 1), (30, 20), (7, 7)]
            .map { PixelSize(width: $0.0, height: $0.1) }
        let layout = try SpriteLayout(sizes, .grid, padding: 2)
        #expect(layout.places.map(\.x) == [0, 32, 0, 32, 0])
        #expect(layout.places.map(\.y) == [0, 0, 22, 22, 44])
        #expect(layout.size == PixelSize(width: 62, height: 51))
    }

    @Test(
        "come out of a PNG file as they went in", arguments: SpriteLayout.Arrangement.allCases,
        [PixelFormat.gray8, .rgb8, .rgba8])
    func roundTrip(
        _ arrangement: SpriteLayout.Arrangement, _ format: PixelFormat
    ) throws {
        let sizes = randomSizes(60, most: 40, seed: 11)
        let sprites = sizes.enumerated().map { number, size in
            let image = TestImage.noise(size, format, seed: UInt64(number))
            return (name: "sprite \(number)", image: format == .rgba8 ? image.opaqueOrClear : image)
        }
        let sheet = try SpriteSheet(sprites, arrangement, padding: 1)
        #expect(sheet.image.format == format)
        let destination = try ImageDestination(format: "png", codecs: builtInCodecs)
        let file = try destination.encode(sheet.image)
        let json = try JSONDecoder().decode(SpriteIndex.self, from: Data(sheet.index.json.utf8))
        #expect(json == sheet.index)
        let decoded = try ImageSource(EncodedBytes(file), codecs: builtInCodecs).image()
        let opened = try SpriteSheet(decoded, json)
        for (name, image) in sprites {
            let sprite = try #require(opened.sprite(name))
            #expect(PixelComparison(sprite, image).maximumDifference == 0, "\(name)")
        }
        #expect(opened.sprite("another") == nil)
    }

    @Test("of several formats yield a format that holds all") func formats() throws {
        let size = PixelSize(width: 2, height: 2)
        let gray = TestImage.flat(size, .gray8, [9])
        let deep = TestImage.flat(size, .rgb8, [9, 8, 7]).converted(to: .rgb16)
        let clear = TestImage.flat(size, .rgba8, [1, 2, 3, 0])
        #expect(try SpriteSheet([("a", gray), ("b", deep)]).image.format == .rgb8)
        let sheet = try SpriteSheet([("a", gray), ("b", deep), ("c", clear)])
        #expect(sheet.image.format == .rgba8)
        #expect(sheet.sprite("a")?.packedBytes.prefix(4) == [9, 9, 9, 255])
        #expect(sheet.sprite("b")?.packedBytes.prefix(4) == [9, 8, 7, 255])
    }

    @Test("that exceed the limits are rejected before memory is allocated") func limits() throws {
        var limits = DecodeLimits()
        limits.maximumSide = 100
        let tile = PixelSize(width: 40, height: 40)
        for arrangement in SpriteLayout.Arrangement.allCases {
            let four = Array(repeating: tile, count: 4)
            #expect(throws: Never.self) { try SpriteLayout(four, arrangement, limits: limits) }
            for sizes in [Array(repeating: tile, count: 5), [PixelSize(width: 101, height: 1)]] {
                #expect(throws: CodecError.self) {
                    try SpriteLayout(sizes, arrangement, limits: limits)
                }
            }
            let huge = PixelSize(width: .max, height: .max)
            #expect(throws: CodecError.self) { try SpriteLayout([huge, huge], arrangement) }
            #expect(throws: CodecError.self) {
                try SpriteLayout([tile], arrangement, padding: .max)
            }
        }
        limits.maximumMemoryByteCount = 4000
        let image = TestImage.flat(tile, .rgb8, [1, 2, 3])
        #expect(throws: CodecError.limitExceeded(.memoryByteCount, needed: 5120, allowed: 4000)) {
            try SpriteSheet([("a", image)], limits: limits)
        }
    }

    @Test("outside of the sheet are rejected") func wrongIndex() throws {
        let image = TestImage.flat(PixelSize(width: 10, height: 10), .rgb8, [1, 2, 3])
        let wrong = [
            PixelRect(x: 5, y: 0, width: 6, height: 1), PixelRect(x: -1, y: 0, width: 1, height: 1),
            PixelRect(x: 0, y: 0, width: 0, height: 1),
            PixelRect(x: 1, y: 0, width: .max, height: 1),
        ]
        for place in wrong {
            let index = SpriteIndex(size: image.size, sprites: [.init("a", place)])
            #expect(throws: CodecError.self) { try SpriteSheet(image, index) }
        }
        let other = SpriteIndex(size: PixelSize(width: 9, height: 10), sprites: [])
        #expect(throws: CodecError.self) { try SpriteSheet(image, other) }
    }

    @Test("have CSS and JSON entries whatever their names") func texts() throws {
        let names = ["a", "1 \"b\"\\\n", "-", "Ä/<ö>.jpg"]
        let index = SpriteIndex(
            size: PixelSize(width: 30, height: 20),
            sprites: names.enumerated().map {
                .init($1, PixelRect(x: 5 * $0, y: 2, width: 5, height: 7))
            })
        let decoded = try JSONDecoder().decode(SpriteIndex.self, from: Data(index.json.utf8))
        #expect(decoded == index)
        let encoded = try JSONEncoder().encode(index)
        #expect(try JSONDecoder().decode(SpriteIndex.self, from: encoded) == index)
        let rules = index.css(image: "a\"b</style>.png", prefix: "", pixelRatio: 2)
            .split(separator: "\n")
        #expect(
            rules.first == """
                .a{width:2.5px;height:3.5px;background:url("a\\"b\\3c /style>.png") 0px -1px/\
                15px 10px no-repeat}
                """)
        #expect(rules.map { $0.prefix { $0 != "{" } }[1] == ".\\31 \\ \\\"b\\\"\\\\\\a ")
        #expect(rules[2].hasPrefix(".\\-{"))
        #expect(rules[3].hasPrefix(".Ä\\/\\<ö\\>\\.jpg{"))
    }

    @Test("have WebVTT cues") func webVTT() {
        let index = SpriteIndex(
            size: PixelSize(width: 30, height: 20),
            sprites: [
                .init("a", PixelRect(x: 0, y: 0, width: 15, height: 20)),
                .init("b", PixelRect(x: 15, y: 0, width: 15, height: 20)),
            ])
        let text = index.webVTT(
            image: "s.jpg\n", interval: .milliseconds(2500), start: .seconds(3598))
        #expect(
            text == """
                WEBVTT

                00:59:58.000 --> 01:00:00.500
                s.jpg#xywh=0,0,15,20

                01:00:00.500 --> 01:00:03.000
                s.jpg#xywh=15,0,15,20

                """)
    }
}

extension PixelBuffer {
    /// Alpha of 0 or 255 only, which PNG keeps exactly.
    fileprivate var opaqueOrClear: PixelBuffer {
        let bytes = packedBytes
        return PixelBuffer(
            packed: bytes.indices.map { index in
                bytes[index | 3] < 128 ? 0 : index & 3 == 3 ? 255 : bytes[index]
            }, size, format)
    }
}
