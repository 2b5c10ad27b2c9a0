// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Placeholders
import Testing

@Suite("A ThumbHash") struct ThumbHashTests {
    /// Made by the reference implementation, crate `thumbhash` 0.1.0.
    private static let known: [(width: Int, height: Int, hasAlpha: Bool, hash: String)] = [
        (60, 40, false, "de070e0d9a80878781878887887888887f7008f878"),
        (30, 100, false, "1ef8111a1a72707778778777808f08f878"),
        (48, 48, true, "1ab88905103952775078887887edaf27f57a7f788888888888"),
        (100, 20, true, "59c889118e394077617877ad5028f57a8f888788887878"),
        (1, 1, false, "000802070000000000000000000000000000000000000000"),
    ]

    @Test("is that of the reference", arguments: known.indices)
    func knownHashes(_ index: Int) throws {
        let (width, height, hasAlpha, hash) = Self.known[index]
        let image = PlaceholderImage.slope(width, height, hasAlpha: hasAlpha)
        let ours = ThumbHash(image.image).bytes
        #expect(try hashDistance(ours, bytes(hash)) == 0, "\(ours.hexadecimal)")
    }

    @Test(
        "equals that of the reference implementation",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func peerHashes() throws {
        var random = SeededRandom(seed: 7)
        var different = 0
        try withTemporaryFolder { folder in
            let file = folder.appending(path: "picture")
            for number in 0..<40 {
                let size = PixelSize(
                    width: .random(in: 1...100, using: &random),
                    height: .random(in: 1...100, using: &random))
                let image = PlaceholderImage.random(
                    size, hasAlpha: number % 2 == 1, &random)
                try image.write(to: file)
                let expected = try #require(try placeholderPeer("thumbhash", file.path))
                // The reference counts in 32 bits: what lies between two steps may go either way.
                let distance = hashDistance(ThumbHash(image.image).bytes, expected)
                #expect(distance <= 2, "\(size): \(expected.hexadecimal)")
                different += distance
            }
        }
        #expect(different <= 8, "of some 1,400 numbers")
    }

    @Test(
        "is drawn like the reference implementation draws it",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"))
    func peerImages() throws {
        var random = SeededRandom(seed: 8)
        for number in 0..<40 {
            let size = PixelSize(
                width: .random(in: 20...100, using: &random),
                height: .random(in: 20...100, using: &random))
            let image = PlaceholderImage.random(size, hasAlpha: number % 2 == 1, &random)
            let hash = ThumbHash(image.image)
            let hexadecimal = hash.bytes.hexadecimal
            let output = try #require(try placeholderPeer("thumbhash-picture", hexadecimal))
            // The reference cuts fractions off, which we round.
            let expected = try #require(PeerTool.image(output)).asRGBA
            let comparison = PixelComparison(hash.image().asRGBA, expected)
            #expect(comparison.maximumDifference <= 1, "\(hexadecimal): \(comparison)")
            let answer = try #require(try placeholderPeer("thumbhash-color", hexadecimal))
            let values = String(decoding: answer, as: UTF8.self).split(separator: " ")
                .compactMap { Double($0) }
            let color = hash.averageColor
            let ours = [color.red, color.green, color.blue, color.alpha, hash.aspectRatio]
            #expect(values.count == 5)
            for (value, expected) in zip(ours, values) { #expect(abs(value - expected) < 1e-5) }
        }
    }

    @Test("preserves average colour, aspect ratio and alpha") func roundTrip() throws {
        let image = TestImage.photograph(PixelSize(width: 640, height: 360))
        let hash = ThumbHash(image)
        #expect(hash.bytes.count <= 25)
        #expect(abs(hash.aspectRatio - 16 / 9) < 0.15)
        #expect(!hash.hasAlpha)
        #expect(hash.image().size == PixelSize(width: 32, height: 18))
        #expect(hash.image().format == .rgb8)
        #expect(hash.image(side: 1).size == PixelSize(width: 1, height: 1))
        let clear = TestImage.make(PixelSize(width: 40, height: 40), .rgba8) { x, _, channel in
            channel == 3 ? (x < 20 ? 0 : 255) : 200
        }
        let drawn = ThumbHash(clear).image()
        #expect(drawn.format == .rgba8)
        #expect(drawn.row(16)[4 * 4 + 3] < 40)
        #expect(drawn.row(16)[28 * 4 + 3] > 215)
        #expect(abs(ThumbHash(clear).averageColor.red - 200 / 255) < 0.03)
    }

    @Test("of a flat image has its colour", arguments: PixelFormat.allCases)
    func flat(_ format: PixelFormat) throws {
        let gray = TestImage.flat(PixelSize(width: 301, height: 200), .gray8, [180])
        guard format != .yCbCr420, format != .alpha8 else { return }
        let hash = ThumbHash(gray.converted(to: format))
        #expect(!hash.hasAlpha)
        for sample in hash.image().packedBytes { #expect(abs(Int(sample) - 180) <= 9) }
    }

    @Test("of a transparent image is transparent") func clear() {
        let size = PixelSize(width: 9, height: 5)
        let hash = ThumbHash(TestImage.flat(size, .rgba8, [0, 0, 0, 0]))
        #expect(hash.averageColor.alpha == 0)
        #expect(hash.image().packedBytes.allSatisfy { $0 == 0 })
    }

    @Test("is encoded and decoded as Base64") func base64() throws {
        for (_, _, _, hexadecimal) in Self.known {
            let hash = try ThumbHash(bytes: bytes(hexadecimal))
            #expect(try ThumbHash(base64: hash.base64) == hash)
            let unpadded = hash.base64.filter { $0 != "=" }
            #expect(try ThumbHash(base64: unpadded) == hash)
        }
        #expect(
            try ThumbHash(bytes: bytes(Self.known[0].hash)).base64 == "3gcODZqAh4eBh4iHiHiIiH9wCPh4"
        )
        for text in ["", "====", "A", "AB=", "ABC=D", "ÄÖÜ", "AAAA*AAA", "AAAAAAAAAAA="] {
            #expect(throws: CodecError.self, "\(text)") { try ThumbHash(base64: text) }
        }
    }

    @Test("from arbitrary bytes is drawn or rejected") func hostile() throws {
        var random = SeededRandom(seed: 9)
        for count in 0...40 {
            for _ in 0..<200 {
                let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                guard let hash = try? ThumbHash(bytes: bytes) else { continue }
                #expect(hash.bytes == bytes)
                #expect(!hash.image(side: 3).size.isEmpty)
                _ = hash.averageColor
            }
        }
        let whole = try bytes(Self.known[2].hash)
        for count in 0..<whole.count {
            #expect(throws: CodecError.truncated(byteCount: count)) {
                try ThumbHash(bytes: Array(whole.prefix(count)))
            }
        }
        #expect(throws: CodecError.malformed(reason: "bytes after the ThumbHash", offset: 25)) {
            try ThumbHash(bytes: whole + [0])
        }
        #expect(throws: CodecError.self) {
            try ThumbHash(bytes: [0, 0, 0, 0] + Array(repeating: 0, count: 20))
        }
    }

    @Test("is encoded as a data URL with a PNG file") func dataURI() throws {
        let image = ThumbHash(TestImage.photograph(PixelSize(width: 90, height: 60))).image()
        let destination = try ImageDestination(format: "png", codecs: builtInCodecs)
        let address = try destination.dataURI(image)
        #expect(address.hasPrefix("data:image/png;base64,iVBORw0KGgo"))
        let text = address.dropFirst("data:image/png;base64,".count)
        let file = try #require(Data(base64Encoded: String(text)))
        let source = try ImageSource(EncodedBytes(Array(file)), codecs: builtInCodecs)
        #expect(PixelComparison(try source.image(), image).maximumDifference == 0)
    }

    private func bytes(_ hexadecimal: String) throws -> [UInt8] {
        let digits = Array(hexadecimal)
        return try stride(from: 0, to: digits.count, by: 2).map {
            try #require(UInt8(String(digits[$0..<$0 + 2]), radix: 16))
        }
    }

    /// How many numbers differ, where each is one step from the other; else a thousand.
    private func hashDistance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        guard one.count == other.count, one.count >= 5 else { return 1000 }
        func header(_ hash: [UInt8]) -> [Int] {
            let means = Int(hash[0]) | Int(hash[1]) << 8 | Int(hash[2]) << 16
            let scales = Int(hash[3]) | Int(hash[4]) << 8
            return [
                means & 63, means >> 6 & 63, means >> 12 & 63, means >> 18 & 31, (means >> 23) << 8,
                (scales & 7) << 8, scales >> 3 & 63, scales >> 9 & 63, (scales >> 15) << 8,
            ]
        }
        let (first, second) = (header(one), header(other))
        // Without a scale the waves say nothing.
        let rest = first[3] > 0 && first[6] > 0 && first[7] > 0 ? 5 : one.count
        let nibbles: [(UInt8, UInt8)] = (rest..<max(rest, one.count)).flatMap { index in
            let (a, b) = (one[index], other[index])
            return [(a & 15, b & 15), (a >> 4, b >> 4)]
        }
        var count = 0
        for (a, b) in zip(first, second) where a != b {
            if abs(a - b) > 1 { return 1000 }
            count += 1
        }
        // A wave that is not there lies in the middle between 7 and 8.
        for (a, b) in nibbles where a != b && Set([a, b]) != [7, 8] {
            if abs(Int(a) - Int(b)) > 1 { return 1000 }
            count += 1
        }
        return count
    }
}
