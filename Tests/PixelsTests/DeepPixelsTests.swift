// SPDX-License-Identifier: Apache-2.0

import ImageTesting
import Pixels
import Testing

@Suite("Pixel formats of other bit depths") struct DeepPixelsTests {
    private let size = PixelSize(width: 67, height: 41)

    private func deep(_ format: PixelFormat, seed: UInt64 = 1) -> PixelBuffer {
        // A gradient in the high byte, noise in the low byte.
        var random = SeededRandom(seed: seed)
        var buffer = MutablePixelBuffer(size: size, format: format)
        for y in 0..<size.height {
            buffer.withMutableRow(y) { row in
                let channelCount = format.channelCount
                for index in 0..<row.count / 2 {
                    let (x, channel) = (index / channelCount, index % channelCount)
                    let high = (x * (channel + 1) + y * 2) % 256
                    let value = UInt16(high) << 8 | UInt16(random.next() & 255)
                    let isAlpha = format == .rgba16 && channel == 3
                    let sample = (isAlpha ? 65535 : value).littleEndian
                    // The tests run on little-endian machines.
                    row[index * 2] = UInt8(sample & 255)
                    row[index * 2 + 1] = UInt8(sample >> 8)
                }
            }
        }
        return buffer.finish()
    }

    @Test(
        "8-bit samples survive conversion to 16 bits and back",
        arguments: [PixelFormat.gray8, .rgb8, .rgba8])
    func widenedAndBack(format: PixelFormat) {
        let image = TestImage.noise(size, format)
        let wide: [PixelFormat: PixelFormat] = [.gray8: .gray16, .rgb8: .rgb16, .rgba8: .rgba16]
        let there = image.converted(to: wide[format] ?? .rgba16)
        #expect(there.format.isDeep)
        #expect(there.converted(to: format).packedBytes == image.packedBytes)
        #expect(
            image.converted(to: .rgbaHalf).converted(to: .rgba8).packedBytes
                == image.converted(to: .rgba8).packedBytes)
    }

    @Test("16-bit samples are rounded to the nearest 8-bit level")
    func narrowed() {
        let image = deep(.rgb16)
        let narrow = image.converted(to: .rgb8).packedBytes
        let wide = image.packedSamples16
        #expect(narrow.count == wide.count)
        for (result, sample) in zip(narrow, wide) {
            #expect(Double(result) == (Double(sample) * 255 / 65535).rounded())
        }
    }

    @Test(
        "16-bit resampling matches 8-bit resampling times 257",
        arguments: [PixelFormat.gray16, .rgb16, .rgba16])
    func resampled(format: PixelFormat) {
        let narrow = TestImage.photograph(size, format.with8BitChannels)
        for side in [20, 67, 130] {
            let target = PixelSize(width: side, height: side / 2)
            let expected = narrow.resampled(to: target).packedBytes
            let result = narrow.converted(to: format).resampled(to: target)
            #expect(result.format == format && result.size == target)
            for (wide, byte) in zip(result.packedSamples16, expected) {
                #expect(abs(Int(wide) - Int(byte) * 257) <= 129 + 1)
            }
        }
    }

    @Test("16-bit resampling keeps the low byte")
    func precision() {
        let flat = TestImage.make(size, .gray16) { _, _, _ in 0x81 }
        let result = flat.resampled(to: PixelSize(width: 13, height: 9))
        #expect(result.packedSamples16.allSatisfy { $0 == 0x8181 })
    }

    @Test("16-bit images are oriented", arguments: Orientation.allCases)
    func turned(orientation: Orientation) {
        for format in [PixelFormat.gray16, .rgb16, .rgba16] {
            let narrow = TestImage.noise(size, format.with8BitChannels)
            let expected = narrow.resampled(to: size, orientation: orientation)
            let result = narrow.converted(to: format).resampled(to: size, orientation: orientation)
            #expect(result.size == expected.size)
            #expect(
                result.converted(to: format.with8BitChannels).packedBytes == expected.packedBytes)
        }
    }

    @Test("colours that 5 and 6 bits can represent are unchanged", arguments: Dithering.allCases)
    func exactColors(dithering: Dithering) {
        for format in [PixelFormat.rgb565, .rgb555] {
            for color in [[0, 0, 0], [255, 255, 255], [255, 0, 0], [0, 255, 0], [0, 0, 255]] {
                let flat = TestImage.flat(size, .rgb8, color.map { UInt8($0) })
                let packed = flat.converted(to: format, dithering: dithering)
                #expect(packed.byteCount < flat.byteCount)
                #expect(packed.converted(to: .rgb8).packedBytes == flat.packedBytes)
            }
        }
    }

    @Test("dithering keeps the mean of a flat colour", arguments: [PixelFormat.rgb565, .rgb555])
    func meanKept(format: PixelFormat) {
        let size = PixelSize(width: 64, height: 64)
        for value in stride(from: 3, to: 253, by: 10) {
            let flat = TestImage.flat(size, .rgb8, [UInt8(value), UInt8(value), UInt8(value)])
            for dithering in [Dithering.ordered, .errorDiffusion] {
                let result = flat.converted(to: format, dithering: dithering).converted(to: .rgb8)
                let sum = result.packedBytes.reduce(0) { $0 + Int($1) }
                let mean = Double(sum) / Double(size.area * 3)
                #expect(abs(mean - Double(value)) < 0.6, "\(dithering), \(value): \(mean)")
            }
            let plain = flat.converted(to: format, dithering: .none).converted(to: .rgb8)
            #expect(plain.packedBytes.allSatisfy { abs(Int($0) - value) <= 5 })
        }
    }

    @Test("conversion to alpha8 keeps the alpha channel")
    func alphaAlone() {
        let image = TestImage.photograph(size, .rgba8)
        let alpha = image.converted(to: .alpha8).packedBytes
        let all = image.packedBytes
        #expect(alpha.indices.allSatisfy { alpha[$0] == all[$0 * 4 + 3] })
        let opaque = TestImage.photograph(size).converted(to: .alpha8).packedBytes
        #expect(opaque.allSatisfy { $0 == 255 })
    }

    @Test("byteCount(of:_:) predicts the size of a buffer")
    func byteCounts() {
        let photograph = PixelSize(width: 4032, height: 3024)
        let mebibytes: [PixelFormat: Double] = [
            .rgba8: 46.5, .yCbCr420: 17.4, .rgb565: 23.3, .rgb555: 23.3, .gray8: 11.6,
        ]
        // Rows of the chroma planes are padded by up to 63 bytes.
        for (format, expected) in mebibytes {
            let count = PixelBuffer.byteCount(of: photograph, format)
            #expect(abs(Double(count) / 1_048_576 - expected) < 0.2, "\(format): \(count)")
        }
    }

    @Test("NaN becomes 0, and infinite half floats are clamped")
    func noNumbers() {
        // NaN, +∞, −∞ and 1.
        let samples: [UInt16] = [0x7E00, 0x7C00, 0xFC00, 0x3C00]
        var buffer = MutablePixelBuffer(size: PixelSize(width: 1, height: 1), format: .rgbaHalf)
        buffer.withMutableRow(0) { row in
            for (index, sample) in samples.enumerated() {
                row[index * 2] = UInt8(truncatingIfNeeded: sample)
                row[index * 2 + 1] = UInt8(truncatingIfNeeded: sample >> 8)
            }
        }
        let image = buffer.finish().converted(to: .rgba8)
        #expect((0..<4).map { image.row(0)[$0] } == [0, 255, 0, 255])
    }
}

extension PixelBuffer {
    /// All 16-bit samples, without padding.
    fileprivate var packedSamples16: [UInt16] {
        (0..<size.height).flatMap { y in
            row(y).withSamples16 { samples in samples.indices.map { samples[$0] } }
        }
    }
}
