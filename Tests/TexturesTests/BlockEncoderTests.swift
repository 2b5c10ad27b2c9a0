// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import Textures

@Suite("The encoder of independent blocks")
struct BlockEncoderTests {
    static let formats: [TextureFormat] = [
        .bc1, .bc3, .bc4(isSigned: false), .bc5(isSigned: false), .bc7,
    ]
    private static let etc: [TextureFormat] = [
        .etc1, .etc2, .etc2Alpha, .eacR(isSigned: false), .eacRG(isSigned: false),
    ]

    private func image(
        _ size: PixelSize, _ color: (Int, Int, Int) -> Int
    ) -> PixelBuffer {
        var image = MutablePixelBuffer(size: size, format: .rgba8)
        for y in 0..<size.height {
            image.withMutableRow(y) { row in
                for index in row.indices {
                    row[index] = UInt8(color(index / 4, y, index % 4))
                }
            }
        }
        return image.finish()
    }

    /// Returns the squared error of the channels of a format.
    private func squaredError(
        _ image: PixelBuffer, _ format: TextureFormat, _ quality: PVRTCEncoder.Quality = .normal
    ) throws -> Int {
        let blocks = try BlockEncoder.encode(image, format, quality)
        #expect(blocks.count == format.byteCount(image.size))
        var header = TextureHeader(.pvr3, format, image.size, .premultiplied)
        header.placeLevels(from: 0, isLevelMajor: true)
        let rows = TextureRows(header, level: 0)
        let byteCount = rows.pixelFormat.bytesPerPixel
        let channelCount = format == .bc1 ? 3 : format.channelCount
        var (y, sum) = (0, 0)
        try rows.decode(blocks.span) { row in
            let expected = image.row(y)
            for x in 0..<image.size.width {
                for channel in 0..<channelCount {
                    let difference =
                        Int(row[x * byteCount + channel]) - Int(expected[x * 4 + channel])
                    sum += difference * difference
                }
            }
            y += 1
        }
        return sum
    }

    @Test(
        "reproduces two colours of the grid exactly, also in incomplete blocks", arguments: formats)
    func exact(_ format: TextureFormat) throws {
        let colors = [[33, 130, 255, 20], [247, 16, 0, 240]]
        let image = image(PixelSize(width: 13, height: 7)) { x, y, channel in
            colors[(x * x + y) / 3 % 2][channel]
        }
        // The channels of an end point of BC7 share their lowest bit.
        #expect(try squaredError(image, format) <= (format == .bc7 ? image.size.area * 4 : 0))
    }

    @Test("represents each constant colour within a step of the grid", arguments: formats)
    func constant(_ format: TextureFormat) throws {
        for value in 0..<256 {
            let image = image(PixelSize(width: 4, height: 4)) { _, _, channel in
                [value, 255 - value, value / 2, value][channel]
            }
            let error = try squaredError(image, format)
            // Thirds between end points of 5 bits are at most 3 apart, and of 6 bits 2.
            #expect(
                error <= (format == .bc1 || format == .bc3 ? 16 * 3 : format == .bc7 ? 16 : 0),
                "\(value)")
        }
    }

    @Test("has less error than the extremes of each channel as end points")
    func better() throws {
        var random = SeededRandom(seed: 12)
        var noise: [Int] = []
        for _ in 0..<64 * 64 { noise.append(.random(in: 0..<40, using: &random)) }
        let image = image(PixelSize(width: 64, height: 64)) { x, y, channel in
            [x * 3 + noise[y * 64 + x], 255 - y * 3, (x + y) % 80 + noise[x * 64 + y], 255][channel]
        }
        var extremes = 0
        for y in stride(from: 0, to: 64, by: 4) {
            for x in stride(from: 0, to: 64, by: 4) {
                let texels = (0..<16).map { place in
                    (0..<4).map { Int(image.row(y + place / 4)[(x + place % 4) * 4 + $0]) }
                }
                let low = (0..<3).map { channel in texels.map { $0[channel] }.min() ?? 0 }
                let high = (0..<3).map { channel in texels.map { $0[channel] }.max() ?? 0 }
                for texel in texels {
                    let errors = (0..<4).map { share in
                        (0..<3).reduce(0) { sum, channel in
                            let mixed = (low[channel] * share + high[channel] * (3 - share)) / 3
                            return sum + (texel[channel] - mixed) * (texel[channel] - mixed)
                        }
                    }
                    extremes += errors.min() ?? 0
                }
            }
        }
        // These extremes are not even rounded to 5 and 6 bits.
        #expect(try squaredError(image, .bc1) * 3 < extremes * 2)
    }

    /// A photograph-like image whose alpha varies.
    private var varied: PixelBuffer {
        var random = SeededRandom(seed: 4)
        var noise: [Int] = []
        for _ in 0..<64 * 64 { noise.append(.random(in: 0..<24, using: &random)) }
        return image(PixelSize(width: 64, height: 64)) { x, y, channel in
            let base = [x * 3, 200 - y * 2, (x * x / 16 + y) % 160, 255 - x * y / 32][channel]
            return max(0, min(255, base + (channel < 3 ? noise[y * 64 + x] : 0)))
        }
    }

    @Test(
        "has at most the error that is bound to each format, and less of it with more effort",
        arguments: [
            (.bc7, 41.2, 41.9), (.etc1, 30.5, 31.0), (.etc2, 31.0, 32.0), (.etc2Alpha, 32.0, 33.0),
            (.eacR(isSigned: false), 43.0, 44.0), (.eacRG(isSigned: false), 43.0, 44.0),
        ] as [(TextureFormat, Double, Double)])
    func efforts(_ format: TextureFormat, _ fastest: Double, _ best: Double) throws {
        let image = varied
        let channelCount = format == .etc1 || format == .etc2 ? 3 : format.channelCount
        let count = Double(64 * 64 * channelCount)
        let ratios = try PVRTCEncoder.Quality.allCases.map { quality in
            10 * log10(255 * 255 * count / Double(try squaredError(image, format, quality)))
        }
        #expect(ratios[0] > fastest, "\(ratios)")
        #expect(ratios[4] > best, "\(ratios)")
        for (lower, higher) in zip(ratios, ratios.dropFirst()) {
            #expect(higher > lower - 0.02, "\(ratios)")
        }
    }

    @Test("keeps opaque images opaque in BC7")
    func opaque() throws {
        let varied = varied
        let image = image(varied.size) { x, y, channel in
            channel == 3 ? 255 : Int(varied.row(y)[x * 4 + channel])
        }
        for quality in PVRTCEncoder.Quality.allCases {
            let blocks = try BlockEncoder.encode(image, .bc7, quality)
            for start in stride(from: 0, to: blocks.count, by: 16) {
                let texels = BC7Block.decode(
                    blocks.span.word(at: start), blocks.span.word(at: start + 8))
                for place in 0..<16 { #expect(texels[place].w == 255) }
            }
        }
    }

    @Test("paints blocks of two colours in ETC2 nearer than ETC1 can")
    func painted() throws {
        let image = image(PixelSize(width: 32, height: 32)) { x, y, channel in
            (x * 7 + y * y * 3) % 5 < 2
                ? [221, 34, 51, 255][channel] : [17, 85, 238, 255][channel]
        }
        #expect(try squaredError(image, .etc2) * 20 < squaredError(image, .etc1))
        // A linear function of the position.
        let ramp = self.image(PixelSize(width: 32, height: 32)) { x, y, channel in
            [x * 4 + y * 2, 250 - x * 3, y * 5, 255][channel]
        }
        #expect(try squaredError(ramp, .etc2, .fastest) * 4 < squaredError(ramp, .etc1))
    }

    @Test("stores flat blocks of EAC exactly")
    func flat() throws {
        for value in 0..<256 {
            let image = image(PixelSize(width: 4, height: 4)) { _, _, _ in value }
            #expect(try squaredError(image, .eacR(isSigned: false)) == 0, "\(value)")
        }
    }

    @Test("refuses formats without an encoder by their names")
    func unsupported() {
        let image = image(PixelSize(width: 4, height: 4)) { _, _, _ in 0 }
        #expect(throws: CodecError.unsupported(feature: "encoding of BC2")) {
            try BlockEncoder.encode(image, .bc2)
        }
    }

    @Test("writes files that open like images", arguments: formats + etc)
    func files(_ format: TextureFormat) throws {
        let image = image(PixelSize(width: 20, height: 12)) { x, y, channel in
            [x * 9, y * 20, 90, 255][channel]
        }
        let texture = Texture(
            format, image.size, .straight, levels: [try BlockEncoder.encode(image, format)])
        for file in [texture.pvr3File(), texture.ktx2File()] {
            let header = try TextureHeader(file.span)
            // KTX 2 stores ETC1 as ETC2, of which it is a part.
            let isPart = format == .etc1 && header.container == .ktx2
            #expect(header.format == (isPart ? .etc2 : format))
            let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
            #expect(try source.image(DecodeOptions()).size == image.size)
        }
    }
}
