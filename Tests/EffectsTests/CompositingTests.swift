// SPDX-License-Identifier: Apache-2.0

import Effects
import ImageTesting
import Pixels
import Testing

@Suite("Compositing an overlay") struct CompositingTests {
    private let size = PixelSize(width: 64, height: 64)

    /// The largest difference from the formulas, in steps of the format.
    private func difference(
        _ format: PixelFormat, _ mode: BlendMode, _ composite: CompositeOperator
    ) throws -> Double {
        let noise = CompositedNoise(format)
        let source = CompositedNoise.samples(noise.source)
        let backdrop = CompositedNoise.samples(noise.backdrop)
        var expected: [Double] = []
        for start in stride(from: 0, to: source.count, by: 4) {
            func straight(_ samples: [Double]) -> [Double] {
                let alpha = samples[start + 3]
                return (0..<3).map { alpha > 0 ? samples[start + $0] / alpha : 0 } + [alpha]
            }
            expected += W3CFormulas.composite(
                straight(source), onto: straight(backdrop), mode, composite)
        }
        return try noise.difference(from: expected, mode, composite)
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
        let clear = SRGBColor(red: 0, green: 0, blue: 0, alpha: 0)
        let effects: [Effect] = [
            .none, .blur(sigma: 2), .blur(sigma: 8), .sharpen(sigma: 1, amount: 3), .pixelate(5),
            .pad(Padding(top: 2, right: 2, bottom: 2, left: 2, color: clear)),
        ]
        for effect in effects {
            let changed = try #require(effect.applied(to: soft))
            for scale in [nil, 0.3, 0.9] {
                let overlay = Overlay(changed, identity: "soft", scale: scale)
                let result = try #require(Effect.overlay(overlay).applied(to: white))
                #expect(
                    result.packedBytes == white.packedBytes,
                    "\(effect.identity), \(scale ?? 1)")
            }
        }
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
