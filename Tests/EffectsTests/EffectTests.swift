// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Pixels
import Testing

@testable import Effects

@Suite("An effect") struct EffectTests {
    private let photograph = TestImage.photograph(PixelSize(width: 61, height: 43))

    /// The samples of an image of 8 bits that a function of straight colours makes.
    private func mapped(
        _ image: PixelBuffer, _ transform: ([Double]) -> [Double]
    ) -> PixelBuffer {
        var bytes: [UInt8] = []
        let (packed, count) = (image.packedBytes, image.format.channelCount)
        for start in stride(from: 0, to: packed.count, by: count) {
            let alpha = count == 4 ? Double(packed[start + 3]) / 255 : 1
            let color = (0..<3).map {
                alpha > 0 ? Double(packed[start + $0]) / 255 / alpha : 0
            }
            let result = transform(color)
            for channel in 0..<3 {
                bytes.append(UInt8((min(max(result[channel], 0), 1) * alpha * 255).rounded()))
            }
            if count == 4 { bytes.append(packed[start + 3]) }
        }
        return PixelBuffer(packed: bytes, image.size, image.format)
    }

    private static let luma = [0.2126, 0.7152, 0.0722]

    private static func gray(_ color: [Double]) -> Double {
        zip(color, luma).reduce(0) { $0 + $1.0 * $1.1 }
    }

    private static func saturated(_ color: [Double], _ factor: Double) -> [Double] {
        color.map { gray(color) + ($0 - gray(color)) * factor }
    }

    private static func exposed(_ value: Double, _ stops: Double) -> Double {
        let light = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        let more = light * pow(2, stops)
        return more <= 0.0031308 ? more * 12.92 : 1.055 * pow(more, 1 / 2.4) - 0.055
    }

    private static let orange = SRGBColor(red: 1, green: 0.6, blue: 0.1)
    private static let clear = TestImage.flat(
        PixelSize(width: 1, height: 1), .rgba8, [0, 0, 0, 0])

    struct PointCase: Sendable, CustomTestStringConvertible {
        let effect: Effect
        let transform: @Sendable ([Double]) -> [Double]
        var testDescription: String { effect.identity }
    }

    static var pointCases: [PointCase] {
        [
            PointCase(effect: .exposure(0.7)) { $0.map { exposed($0, 0.7) } },
            PointCase(effect: .brightness(-0.2)) { $0.map { $0 - 0.2 } },
            PointCase(effect: .contrast(1.5)) { $0.map { ($0 - 0.5) * 1.5 + 0.5 } },
            PointCase(effect: .saturation(0.3)) { color in
                color.map { gray(color) + ($0 - gray(color)) * 0.3 }
            },
            PointCase(effect: .gamma(0.5)) { $0.map { $0 > 0 ? pow($0, 0.5) : 0 } },
            PointCase(effect: .inverted) { $0.map { 1 - $0 } },
            PointCase(
                effect: .duotone(dark: SRGBColor(red: 0, green: 0, blue: 0.4), light: orange)
            ) { [gray($0), gray($0) * 0.6, 0.4 + gray($0) * (0.1 - 0.4)] },
            PointCase(effect: .tint(orange, amount: 0.25)) { color in
                zip(color, [1, 0.6, 0.1]).map { $0 * 0.75 + $1 * 0.25 }
            },
            PointCase(
                effect: .brightness(0.5).then(.brightness(-0.5)).then(.contrast(1.2))
                    .then(.exposure(1)).then(.gamma(2)).then(.saturation(0))
            ) { color in
                let curved = color.map {
                    pow(exposed(min(max(($0 - 0.5) * 1.2 + 0.5, 0), 1), 1), 2)
                }
                return Array(repeating: gray(curved), count: 3)
            },
            PointCase(effect: .saturation(1.3).then(.gamma(0.5))) { color in
                saturated(color, 1.3).map { pow(min(max($0, 0), 1), 0.5) }
            },
            PointCase(
                effect: .gamma(0.8).then(.saturation(1.4)).then(.exposure(0.5))
                    .then(.tint(orange, amount: 0.2))
            ) { color in
                let curved = saturated(color.map { pow(max($0, 0), 0.8) }, 1.4).map {
                    exposed(min(max($0, 0), 1), 0.5)
                }
                return zip(curved, [1, 0.6, 0.1]).map { $0 * 0.8 + $1 * 0.2 }
            },
            PointCase(effect: .exposure(0.2).then(.inverted).then(.gamma(1.7))) { color in
                color.map { pow(1 - min(exposed($0, 0.2), 1), 1.7) }
            },
            // Colours that cannot leave the table of the next curve, and colours that do.
            PointCase(
                effect: .gamma(0.8).then(.tint(orange, amount: 0.2)).then(.gamma(1.3))
                    .then(.saturation(1.4)).then(.gamma(0.7))
            ) { color in
                let tinted = zip(color, [1, 0.6, 0.1]).map {
                    pow(pow($0, 0.8) * 0.8 + $1 * 0.2, 1.3)
                }
                return saturated(tinted, 1.4).map { pow(min(max($0, 0), 1), 0.7) }
            },
            PointCase(
                effect: .brightness(0.5).then(.overlay(Overlay(clear, identity: "clear")))
                    .then(.gamma(0.5))
            ) { color in color.map { pow(min($0 + 0.5, 1), 0.5) } },
        ]
    }

    @Test("changes colours as its definition says", arguments: pointCases)
    func points(_ point: PointCase) throws {
        // Dark colours, in which curves are steepest.
        let dark = TestImage.make(PixelSize(width: 289, height: 17), .rgb8) { x, y, channel in
            UInt8([x % 17, x / 17, y][channel])
        }
        for image in [photograph, TestImage.photograph(photograph.size, .rgba8), dark] {
            let result = try #require(point.effect.applied(to: image))
            let comparison = PixelComparison(result, mapped(image, point.transform))
            #expect(comparison.maximumDifference <= 1, "\(comparison)")
        }
    }

    @Test(
        "keeps more precision in 16 bits and half floats",
        arguments: [PixelFormat.rgb16, .rgbaHalf])
    func deep(_ format: PixelFormat) throws {
        let image = photograph.converted(to: format)
        // Beyond white and back: no value is lost in half floats, and none of a matrix in 16 bits.
        let effect = Effect.brightness(0.5).then(.contrast(2)).then(.contrast(0.5))
            .then(.brightness(-0.5))
        let result = try #require(effect.applied(to: image))
        #expect(result.format == format)
        let comparison = PixelComparison(result.converted(to: .rgb8), photograph)
        #expect(comparison.maximumDifference == 0, "\(comparison)")
        if format == .rgbaHalf {
            let extended = Effect.brightness(0.7).then(.gamma(2)).then(.gamma(0.5))
                .then(.brightness(-0.7))
            let restored = try #require(extended.applied(to: image))
            #expect(
                PixelComparison(restored.converted(to: .rgb8), photograph).maximumDifference <= 1)
        }
    }

    @Test("keeps black and white in curves after a matrix", arguments: [PixelFormat.rgb8, .rgba8])
    func ends(_ format: PixelFormat) throws {
        for level in [0, 255] as [UInt8] {
            let flat = TestImage.flat(PixelSize(width: 3, height: 1), .rgb8, [level, level, level])
            let image = flat.converted(to: format)
            let curve = Effect.saturation(1.3).then(.gamma(0.4))
            for effect in [curve, curve.then(.saturation(0.5))] {
                let result = try #require(effect.applied(to: image))
                #expect(result.packedBytes == image.packedBytes, "\(effect.identity)")
            }
        }
    }

    @Test("fuses a chain into one matrix or one table")
    func fusion() throws {
        var points = PointOperations(.rgb8)
        for matrix in [ColorMatrix.saturation(0.5), ColorMatrix(scale: 2, offset: -0.1)] {
            points.append(matrix)
        }
        #expect(points.count == 1)
        points.append(ToneCurve.power(2))
        points.append(ToneCurve.exposure(1))
        #expect(points.count == 2)
    }

    @Test("keeps the format where it can", arguments: PixelFormat.allCases)
    func formats(_ format: PixelFormat) throws {
        let image =
            format == .yCbCr420
            ? TestImage.photograph(photograph.size, .yCbCr420) : photograph.converted(to: format)
        let gray = try #require(Effect.contrast(1.1).then(.blur(sigma: 1)).applied(to: image))
        #expect(gray.format == (format == .rgbaHalf ? format : format.withIntegerSamples))
        let colored = try #require(Effect.tint(Self.orange, amount: 0.5).applied(to: image))
        let expected: [PixelFormat: PixelFormat] = [
            .gray8: .rgb8, .gray16: .rgb16, .bgra8: .rgba8, .rgb565: .rgb8, .rgb555: .rgb8,
            .yCbCr420: .rgb8,
        ]
        #expect(colored.format == expected[format] ?? format)
        #expect(colored.size == image.size)
    }

    @Test("sharpens by the difference from the Gaussian blur", arguments: [0.5, 1, 2.3])
    func sharpen(_ sigma: Double) throws {
        let deep = photograph.converted(to: .rgb16)
        let blurred = try #require(Effect.blur(sigma: sigma).applied(to: deep))
        let result = try #require(Effect.sharpen(sigma: sigma, amount: 0.5).applied(to: deep))
        var largest = 0
        for y in 0..<deep.size.height {
            let (original, mean, sharp) = (deep.row(y), blurred.row(y), result.row(y))
            original.withSamples16 { original in
                mean.withSamples16 { mean in
                    sharp.withSamples16 { sharp in
                        for x in original.indices {
                            let (value, mean) = (Double(original[x]), Double(mean[x]))
                            let expected = min(max(value + (value - mean) * 0.5, 0), 65535)
                            largest = max(largest, abs(Int(sharp[x]) - Int(expected.rounded())))
                        }
                    }
                }
            }
        }
        #expect(largest <= 2)
    }

    @Test("averages squares, smaller ones at the right and bottom")
    func pixelate() throws {
        let image = TestImage.make(PixelSize(width: 5, height: 3), .gray8) { x, y, _ in
            UInt8(x * 10 + y * 50)
        }
        let result = try #require(Effect.pixelate(2).applied(to: image))
        #expect(
            result.packedBytes == [
                30, 30, 50, 50, 65, 30, 30, 50, 50, 65, 105, 105, 125, 125, 140,
            ])
        let one = try #require(Effect.pixelate(1_000_000).applied(to: image))
        #expect(Set(one.packedBytes) == [70])
    }

    @Test("adds margins, with alpha if they are transparent")
    func pad() throws {
        let image = TestImage.flat(PixelSize(width: 1, height: 1), .gray8, [9])
        let padding = Padding(
            top: 1, right: 2, bottom: 0, left: 0, color: SRGBColor(red: 1, green: 1, blue: 1))
        let gray = try #require(Effect.pad(padding).applied(to: image))
        #expect(gray.format == .gray8)
        #expect(gray.packedBytes == [255, 255, 255, 9, 255, 255])
        var clear = padding
        clear.color.alpha = 0
        let transparent = try #require(Effect.pad(clear).applied(to: image))
        #expect(transparent.format == .rgba8)
        #expect(transparent.packedBytes.suffix(12) == [9, 9, 9, 255, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test("extends to a box with a colour or with the blurred image")
    func extend() throws {
        let box = PixelSize(width: 61, height: 99)
        let black = SRGBColor(red: 0, green: 0, blue: 0)
        let plain = try #require(
            Effect.extend(Extension(to: box, y: 1, fill: .color(black))).applied(to: photograph))
        #expect(plain.size == box)
        #expect(
            plain.cut(PixelRect(x: 0, y: 56, width: 61, height: 43)).packedBytes
                == photograph.packedBytes)
        #expect(plain.row(0)[0] == 0)
        for format in [PixelFormat.rgb8, .rgba8] {
            let image = TestImage.photograph(PixelSize(width: 60, height: 40), format)
            let blurred = try #require(
                Effect.extend(
                    Extension(to: PixelSize(width: 20, height: 80), fill: .blurredImage)
                ).applied(to: image))
            #expect(blurred.size == PixelSize(width: 60, height: 80))
            let middle = blurred.cut(PixelRect(x: 0, y: 20, width: 60, height: 40))
            if format == .rgb8 { #expect(middle.packedBytes == image.packedBytes) }
            // The fill is smooth, hence differs little from pixel to pixel.
            let row = blurred.row(3)
            let count = format.channelCount
            let steps = (count..<row.count).map { abs(Int(row[$0]) - Int(row[$0 - count])) }
            #expect((steps.max() ?? 255) < 40)
        }
    }

    @Test(
        "extends luma and chroma in their planes, if the image is at a sample of each",
        arguments: [
            (PixelSize(width: 60, height: 40), 80, 0.5, 20),
            (PixelSize(width: 61, height: 41), 81, 0.5, 20),
            (PixelSize(width: 60, height: 40), 82, 0.5, 20),
            (PixelSize(width: 60, height: 40), 81, 1, 41),
        ])
    func extendPlanes(_ size: PixelSize, _ boxHeight: Int, _ y: Double, _ top: Int) throws {
        let image = TestImage.photograph(size).converted(to: .yCbCr420)
        let box = PixelSize(width: 20, height: boxHeight)
        let effect = Effect.extend(Extension(to: box, y: y, fill: .blurredImage))
        #expect(effect.keepsYCbCr && !effect.then(.blur(sigma: 2)).keepsYCbCr)
        let made = try #require(effect.applied(to: image))
        #expect(made.format == (top % 2 == 0 ? .yCbCr420 : .rgb8))
        let wanted = try #require(effect.applied(to: image.converted(to: .rgb8)))
        #expect(PixelComparison(made.converted(to: .rgb8), wanted).meanDifference < 1.5)
        guard made.format == .yCbCr420 else { return }
        let place = PixelRect(x: 0, y: top, width: size.width, height: size.height)
        #expect(made.cut(place).packedBytes == image.packedBytes)
    }

    @Test("fills the box around an opaque image as around one with alpha")
    func extendAround() throws {
        let image = TestImage.photograph(PixelSize(width: 61, height: 43))
        for (x, y) in [(0.5, 0.5), (0, 1), (1, 0.3)] {
            let box = PixelSize(width: 99, height: 120)
            let effect = Effect.extend(Extension(to: box, x: x, y: y, fill: .blurredImage))
            let made = try #require(effect.applied(to: image))
            let wanted = try #require(effect.applied(to: image.converted(to: .rgba8)))
            let comparison = PixelComparison(made.asRGBA, wanted)
            #expect(comparison.maximumDifference <= 1, "\(x), \(y): \(comparison)")
        }
    }

    @Test("trims borders of the colour of the corner, or of another one")
    func trim() throws {
        let image = TestImage.make(PixelSize(width: 8, height: 6), .rgb8) { x, y, _ in
            (3...5).contains(x) && (1...2).contains(y) ? 200 : x == 0 ? 12 : 10
        }
        func size(_ trimming: Trimming) throws -> PixelSize {
            try #require(Effect.trim(trimming).applied(to: image)).size
        }
        #expect(try size(Trimming(threshold: 5)) == PixelSize(width: 3, height: 2))
        // The first column is the border, and the next one is not.
        #expect(try size(Trimming(threshold: 1)) == PixelSize(width: 7, height: 6))
        #expect(
            try size(Trimming(threshold: 5, isHorizontallyEqual: true, isVerticallyEqual: true))
                == PixelSize(width: 4, height: 4))
        let white = SRGBColor(red: 1, green: 1, blue: 1)
        #expect(try size(Trimming(threshold: 5, color: white)) == image.size)
        #expect(try size(Trimming(threshold: 255)) == image.size)
    }

    @Test("stops before a row when it is cancelled", arguments: [0, 3])
    func cancelled(_ count: Int) {
        for effect in [Effect.gamma(2), .blur(sigma: 2), .blur(sigma: 5)] {
            var calls = 0
            let result = effect.applied(to: photograph) {
                calls += 1
                return calls > count
            }
            #expect(result == nil)
            #expect(calls == count + 1)
        }
    }

    @Test("has another identity for other parameters")
    func identity() {
        let effects: [Effect] = [
            .none, .exposure(1), .exposure(2), .gamma(2), .blur(sigma: 1), .blur(sigma: 2),
            .sharpen(sigma: 1), .sharpen(sigma: 1, amount: 2), .pixelate(3), .inverted,
            .tint(Self.orange, amount: 0.5), .tint(Self.orange, amount: 0.6),
            .exposure(1).then(.gamma(2)), .gamma(2).then(.exposure(1)),
            .overlay(Overlay(photograph, identity: "a")),
            .overlay(Overlay(photograph, identity: "b")),
            .overlay(Overlay(photograph, identity: "a", opacity: 0.5)),
            .overlay(Overlay(photograph, identity: "a", mode: .screen)),
        ]
        #expect(Set(effects.map(\.identity)).count == effects.count)
    }
}
