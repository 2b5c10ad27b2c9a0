// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import Pixels
import Testing

@testable import Textures

@Suite("The PVRTC encoder")
struct PVRTCEncoderTests {
    /// An image with gradients, edges and noise.
    private func image(_ size: PixelSize, _ format: PixelFormat = .rgb8) -> PixelBuffer {
        var image = MutablePixelBuffer(size: size, format: format)
        var random = SeededRandom(seed: 5)
        for y in 0..<size.height {
            image.withMutableRow(y) { row in
                for x in 0..<size.width {
                    let isInside = (x - 20) * (x - 20) + (y - 30) * (y - 30) < 300
                    let noise = Int.random(in: 0..<12, using: &random)
                    let alpha = format == .rgba8 ? min(255, x * 6) : 255
                    let color = [
                        x * 220 / size.width + noise, isInside ? 200 : y * 180 / size.height,
                        (x + y) % 64 * 3,
                    ]
                    for channel in 0..<3 {
                        row[x * format.bytesPerPixel + channel] =
                            UInt8(min(color[channel], 255) * alpha / 255)
                    }
                    if format == .rgba8 { row[x * 4 + 3] = UInt8(alpha) }
                }
            }
        }
        return image.finish()
    }

    private func decoded(
        _ words: [UInt8], _ size: PixelSize, _ alpha: TextureHeader.Alpha = .opaque,
        bitsPerPixel: Int = 4
    ) throws -> PixelBuffer {
        let format = bitsPerPixel == 4 ? TextureFormat.pvrtc4 : .pvrtc2
        var header = TextureHeader(.pvr3, format, size, alpha)
        header.placeLevels(from: 0, isLevelMajor: true)
        let rows = TextureRows(header, level: 0)
        var image = MutablePixelBuffer(size: size, format: rows.pixelFormat)
        var y = 0
        try rows.decode(words.span) { row in
            image.withMutableRow(y) { target in
                for index in row.indices { target[index] = row[index] }
            }
            y += 1
        }
        return image.finish()
    }

    private func squaredError(_ one: PixelBuffer, _ other: PixelBuffer) -> Int {
        var sum = 0
        for y in 0..<one.size.height {
            let (row, otherRow) = (one.row(y), other.row(y))
            for index in row.indices {
                let difference = Int(row[index]) - Int(otherRow[index])
                sum += difference * difference
            }
        }
        return sum
    }

    @Test(
        "decreases the error with every step of effort", arguments: [PixelFormat.rgb8, .rgba8],
        [2, 4])
    func qualities(_ format: PixelFormat, _ bitsPerPixel: Int) throws {
        let size = PixelSize(width: 64, height: 64)
        let image = image(size, format)
        let errors = try PVRTCEncoder.Quality.allCases.map { quality in
            squaredError(
                image,
                try decoded(
                    try PVRTCEncoder.encode(image, quality, bitsPerPixel: bitsPerPixel), size,
                    format == .rgba8 ? .premultiplied : .opaque, bitsPerPixel: bitsPerPixel))
        }
        for (worse, better) in zip(errors, errors.dropFirst()) { #expect(better < worse) }
        // Least squares with a search halve the error of the ends of the principal axis; with 2 bits
        // per pixel, the weights limit the gain.
        let (least, most) = (try #require(errors.last), try #require(errors.first))
        #expect(bitsPerPixel == 4 ? least * 2 < most : least * 3 < most * 2)
    }

    @Test("stores colours that its quantizer can represent, exactly as the decoder reads them")
    func colors() {
        var random = SeededRandom(seed: 8)
        for _ in 0..<2000 {
            func color(_ end: PVRTCQuantizer.End) -> SIMD4<Int16> {
                PVRTCQuantizer.quantized(
                    SIMD4(
                        .random(in: -4...36, using: &random), .random(in: -4...36, using: &random),
                        .random(in: -4...36, using: &random), .random(in: 0...15, using: &random)),
                    end, isOpaque: .random(using: &random))
            }
            let (a, b) = (color(.a), color(.b))
            let word = PVRTCWord(UInt64(PVRTCQuantizer.bits(a, b)) << 32)
            #expect(SIMD4<Int16>(truncatingIfNeeded: word.a) == a)
            #expect(SIMD4<Int16>(truncatingIfNeeded: word.b) == b)
            #expect(!word.mode)
        }
    }

    @Test("reproduces a colour of its grid exactly", arguments: [2, 4])
    func constant(_ bitsPerPixel: Int) throws {
        let size = PixelSize(width: 16, height: 16)
        var image = MutablePixelBuffer(size: size, format: .rgb8)
        for y in 0..<16 {
            image.withMutableRow(y) { row in
                for index in row.indices { row[index] = [33, 132, 255][index % 3] }
            }
        }
        let finished = image.finish()
        let words = try PVRTCEncoder.encode(finished, .normal, bitsPerPixel: bitsPerPixel)
        #expect(
            squaredError(finished, try decoded(words, size, bitsPerPixel: bitsPerPixel)) == 0)
    }

    /// Files of 2 bits per pixel that an encoder of the vendor made, and what they were made of.
    static let vendorFiles = [
        ("logo-RGB2.pvr", "logo-RGBA8888-opaque.pvr"), ("logo-RGB2@2x.pvr", "logo-RGBA8888@2x.pvr"),
    ]

    @Test(
        "with 2 bits per pixel is better than the encoder of the vendor",
        .enabled(
            if: !SampleFiles.real("pvr-glview", extensions: ["pvr"]).isEmpty,
            "no files of the vendor"), arguments: vendorFiles)
    func vendor(_ name: String, _ originalName: String) throws {
        let files = SampleFiles.real("pvr-glview", extensions: ["pvr"])
        func image(_ name: String) throws -> PixelBuffer {
            let file = try #require(files.first { $0.lastPathComponent == name })
            return try ImageSource(try EncodedBytes(mapping: file.path), codecs: builtInCodecs)
                .image(DecodeOptions())
        }
        let theirs = try image(name)
        // The colours of the original are not multiplied by alpha; the vendor's are on white.
        let texels = try image(originalName)
        var original = MutablePixelBuffer(size: texels.size, format: .rgb8)
        for y in 0..<texels.size.height {
            let row = texels.row(y)
            original.withMutableRow(y) { target in
                for index in target.indices {
                    let alpha = Int(row[index / 3 * 4 + 3])
                    let color = Int(row[index / 3 * 4 + index % 3])
                    target[index] = UInt8((color * alpha + 255 * (255 - alpha) + 127) / 255)
                }
            }
        }
        let image = original.finish()
        let words = try PVRTCEncoder.encode(image, .normal, bitsPerPixel: 2)
        let ours = try decoded(words, image.size, bitsPerPixel: 2)
        let (ourError, theirError) = (squaredError(image, ours), squaredError(image, theirs))
        // Half a decibel less error.
        #expect(Double(ourError) * 1.122 < Double(theirError))
    }

    @Test("refuses sides that are not powers of two")
    func sides() {
        let image = image(PixelSize(width: 48, height: 64))
        #expect(
            throws: CodecError.unsupported(feature: "PVRTC of 48x64: its sides are powers of two")
        ) {
            try PVRTCEncoder.encode(image, .fast)
        }
    }

    @Test("stops when it is cancelled")
    func cancelled() {
        #expect(throws: CodecError.cancelled) {
            try PVRTCEncoder.encode(image(PixelSize(width: 16, height: 16)), .fast) { _ in false }
        }
    }

    @Test("writes files of all containers that open like images")
    func files() throws {
        let size = PixelSize(width: 64, height: 64)
        let image = image(size)
        let small = image.resized(SampleRegion(size), to: PixelSize(width: 32, height: 32))
        let texture = Texture(
            .pvrtc4, size, .opaque,
            levels: [try PVRTCEncoder.encode(image, .fast), try PVRTCEncoder.encode(small, .fast)])
        let files = [
            (texture.pvr2File(), "PVR 2"), (texture.pvr3File(), "PVR 3"),
            (texture.ktx2File(), "KTX 2"),
        ]
        for (file, container) in files {
            let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
            #expect(source.header.facts.first?.value == container)
            #expect(source.pixelSize == size)
            let whole = try source.image(DecodeOptions())
            #expect(squaredError(whole, try decoded(texture.levels[0], size)) == 0)
            // The smaller level is shown as it is.
            let half = try source.decodedImage(DecodeOptions(maximumSide: 32))
            #expect(half.report.shrinkFactors == [2])
            #expect(
                squaredError(half.image, try decoded(texture.levels[1], small.size)) == 0)
        }
    }
}
