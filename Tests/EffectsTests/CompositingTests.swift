// SPDX-License-Identifier: Apache-2.0

import Effects
import ImageTesting
import Pixels
import Testing

@Suite("Compositing an overlay") struct CompositingTests {
    private let size = PixelSize(width: 64, height: 64)

    /// Random pixels, premultiplied, some transparent and some opaque.
    private func noise(_ format: PixelFormat, seed: UInt64) -> PixelBuffer {
        var random = SeededRandom(seed: seed)
        let scale = format == .rgba8 ? 255 : 65535
        var image = MutablePixelBuffer(size: size, format: format)
        for y in 0..<size.height {
            image.withMutableRow(y) { row in
                for x in 0..<size.width {
                    let kind = random.next() % 8
                    let alpha =
                        kind == 0 ? 0 : kind == 1 ? scale : Int(random.next() % UInt64(scale + 1))
                    for channel in 0..<4 {
                        let sample =
                            channel == 3 || alpha == 0
                            ? alpha : Int(random.next() % UInt64(alpha + 1))
                        if format == .rgba8 {
                            row[x * 4 + channel] = UInt8(sample)
                        } else {
                            row.storeSample16(UInt16(sample), at: x * 4 + channel)
                        }
                    }
                }
            }
        }
        return image.finish()
    }

    /// The premultiplied samples of an image from 0 to 1.
    private func samples(_ image: PixelBuffer) -> [Double] {
        var samples: [Double] = []
        for y in 0..<image.size.height {
            let row = image.row(y)
            if image.format == .rgba8 {
                for index in row.indices { samples.append(Double(row[index]) / 255) }
            } else {
                row.withSamples16 { row in
                    for index in row.indices { samples.append(Double(row[index]) / 65535) }
                }
            }
        }
        return samples
    }

    /// The largest difference from the formulas, in steps of the format.
    private func difference(
        _ format: PixelFormat, _ mode: BlendMode, _ composite: CompositeOperator
    ) throws -> Double {
        let (source, backdrop) = (noise(format, seed: 1), noise(format, seed: 2))
        let effect = Effect.overlay(
            Overlay(source, identity: "noise", mode: mode, composite: composite))
        let result = samples(try #require(effect.applied(to: backdrop)))
        let (from, below) = (samples(source), samples(backdrop))
        var largest = 0.0
        for start in stride(from: 0, to: result.count, by: 4) {
            func straight(_ samples: [Double]) -> [Double] {
                let alpha = samples[start + 3]
                return (0..<3).map { alpha > 0 ? samples[start + $0] / alpha : 0 } + [alpha]
            }
            let expected = W3CFormulas.composite(
                straight(from), onto: straight(below), mode, composite)
            for channel in 0..<4 {
                largest = max(largest, abs(expected[channel] - result[start + channel]))
            }
        }
        return largest * (format == .rgba8 ? 255 : 65535)
    }

    @Test("blends as the W3C defines, in 8 and 16 bits", arguments: BlendMode.allCases)
    func blendModes(_ mode: BlendMode) throws {
        #expect(try difference(.rgba8, mode, .sourceOver) <= 1)
        #expect(try difference(.rgba16, mode, .sourceOver) <= 2)
    }

    @Test("composites as Porter and Duff define", arguments: CompositeOperator.allCases)
    func operators(_ composite: CompositeOperator) throws {
        #expect(try difference(.rgba8, .normal, composite) <= 1)
        #expect(try difference(.rgba16, .multiply, composite) <= 2)
    }

    @Test("leaves no fringe at transparent edges")
    func fringe() throws {
        // White with soft edges, over white: any darker pixel is a fringe.
        let soft = TestImage.make(size, .rgba8) { x, _, channel in
            channel == 3 ? UInt8(x * 4) : 255
        }
        let white = TestImage.flat(PixelSize(width: 100, height: 100), .rgb8, [255, 255, 255])
        let result = try #require(
            Effect.overlay(Overlay(soft, identity: "soft", scale: 0.9)).applied(to: white))
        #expect(result.packedBytes == white.packedBytes)
    }

    @Test("changes what is outside of the overlay as its operator demands")
    func outside() throws {
        let backdrop = TestImage.flat(PixelSize(width: 9, height: 5), .rgb8, [10, 20, 30])
        let source = TestImage.flat(PixelSize(width: 3, height: 3), .rgb8, [200, 100, 50])
        func result(_ composite: CompositeOperator) throws -> PixelBuffer {
            try #require(
                Effect.overlay(
                    Overlay(
                        source, identity: "", placement: .origin(x: 4, y: 1), composite: composite)
                ).applied(to: backdrop))
        }
        let over = try result(.sourceOver)
        #expect(over.format == .rgb8)
        #expect(Array(over.packedBytes[(9 + 4) * 3..<(9 + 5) * 3]) == [200, 100, 50])
        #expect(Array(over.packedBytes[0..<3]) == [10, 20, 30])
        let within = try result(.destinationIn)
        #expect(within.format == .rgba8)
        #expect(Array(within.packedBytes[0..<4]) == [0, 0, 0, 0])
        #expect(Array(within.packedBytes[(9 + 4) * 4..<(9 + 5) * 4]) == [10, 20, 30, 255])
        #expect(Array(within.packedBytes[(9 + 7) * 4..<(9 + 8) * 4]) == [0, 0, 0, 0])
    }

    @Test("anchors and tiles the overlay, also where it exceeds the image")
    func placement() throws {
        let backdrop = TestImage.flat(PixelSize(width: 10, height: 7), .gray8, [0])
        let source = TestImage.flat(PixelSize(width: 2, height: 3), .gray8, [255])
        func marked(_ placement: Overlay.Placement) throws -> [String] {
            let image = try #require(
                Effect.overlay(Overlay(source, identity: "", placement: placement))
                    .applied(to: backdrop))
            #expect(image.format == .gray8)
            return (0..<7).map { y in
                (0..<10).map { image.row(y)[$0] == 255 ? "#" : "." }.joined()
            }
        }
        #expect(
            try marked(.anchored(x: 1, y: 0, offsetX: -1, offsetY: 2)) == [
                "..........", "..........", ".......##.", ".......##.", ".......##.",
                "..........", "..........",
            ])
        #expect(
            try marked(.origin(x: -1, y: 5)) == [
                "..........", "..........", "..........", "..........", "..........",
                "#.........", "#.........",
            ])
        #expect(
            try marked(.tiled(gapX: 1, gapY: 1)) == [
                ".##.##.##.", "..........", ".##.##.##.", ".##.##.##.", ".##.##.##.",
                "..........", ".##.##.##.",
            ])
        #expect(try marked(.origin(x: 50, y: -50)).allSatisfy { $0 == ".........." })
    }
}
