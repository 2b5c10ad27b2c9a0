// SPDX-License-Identifier: Apache-2.0

import Drawing
import Effects
import ImageTesting
import Pixels
import Testing

@Suite("Image renderer") struct RendererTests {
    private let size = PixelSize(width: 1200, height: 630)
    private let red = SRGBColor(red: 1, green: 0, blue: 0)
    private let whole = SampleRegion(x: 0, y: 0, width: 1200, height: 630)

    @Test("stores a text of one colour as a mask in a quarter of the memory")
    func oneColor() throws {
        let renderer = ImageRenderer(size: size, fonts: try FontCollection())
        func draw(_ context: inout DrawingContext) throws(DrawingError) {
            let text = TextLayout("Title", font: .named("Sans", size: 72))
            try context.draw(text, at: Point(80, 360), .color(red))
        }
        let contents = try renderer.contents(draw)
        guard case .mask(let mask, let tint) = contents else {
            Issue.record("not a mask: \(contents)")
            return
        }
        #expect(mask.format == .alpha8 && tint == red)
        // 0.77 MB: rows are aligned to 64 bytes.
        #expect(contents.ownByteCount == 1216 * 630)
        #expect(try renderer.plan(draw).byteCount == contents.ownByteCount)
        // As an image it needs 3.02 MB.
        #expect(try renderer.image(draw).byteCount == 4800 * 630)
    }

    @Test("chooses half floats in Display P3 only for colours outside of sRGB")
    func wideColor() throws {
        let renderer = ImageRenderer(size: size)
        let wide = SRGBColor(displayP3: 1, green: 0, blue: 0)
        func draw(_ context: inout DrawingContext, _ color: SRGBColor) {
            context.fill(.linear(Gradient([.black, .white]), from: Point(0, 0), to: Point(9, 9)))
            context.fill(.circle(in: whole), .color(color))
        }
        #expect(try renderer.plan { draw(&$0, red) }.format == .rgb8)
        #expect(try renderer.plan { draw(&$0, .white) }.format == .gray8)
        let plan = try renderer.plan { draw(&$0, wide) }
        #expect(plan.format == .rgbaHalf && plan.byteCount == 9600 * 630)
        #expect(plan.reason.contains("layer 2"))
        let image = try renderer.image { draw(&$0, wide) }
        #expect(image.byteCount == 9600 * 630 && image.colorProfile == .displayP3)
        let center = image.row(315).withSamples16 { samples in
            (0..<4).map { Float(Float16(bitPattern: samples[600 * 4 + $0])) }
        }
        #expect(zip(center, [1, 0, 0, 1]).allSatisfy { abs($0 - $1) < 0.001 })
    }

    @Test("needs no pixels for a colour, a rounded image or tiles", arguments: 0..<5)
    func noPixels(_ index: Int) throws {
        let renderer = ImageRenderer(size: size)
        func draw(_ context: inout DrawingContext) throws(DrawingError) {
            switch index {
            case 0: context.fill(.color(red))
            case 1: context.fill(.rounded(whole, radius: 20), .color(red))
            case 2: context.draw(TestImage.photograph(size), in: whole)
            case 3:
                try context.clip(.rounded(whole, radius: 20)) {
                    $0.draw(TestImage.photograph(size), in: whole)
                }
            default: context.tile(TestImage.photograph(PixelSize(width: 16, height: 16)))
            }
        }
        let contents = try renderer.contents(draw)
        #expect(contents.ownByteCount == 0)
        #expect(try renderer.plan(draw).format == nil)
        // The pixels that are displayed are those of the drawing.
        let shown = try renderer.image { context throws(DrawingError) in
            try context.draw(contents, in: whole)
        }
        let image = try renderer.image(draw)
        #expect(shown.format == image.format)
        for y in 0..<size.height {
            let (row, other) = (shown.row(y), image.row(y))
            #expect(row.indices.allSatisfy { row[$0] == other[$0] }, "row \(y)")
        }
    }

    @Test("draws an image of the same size unchanged")
    func unchanged() throws {
        let photo = TestImage.photograph(PixelSize(width: 60, height: 40), .rgba8)
        let image = try ImageRenderer(size: photo.size).image {
            $0.draw(photo, in: SampleRegion(photo.size))
        }
        #expect(image.format == .rgba8)
        for y in 0..<40 {
            let (row, expected) = (image.row(y), photo.row(y))
            #expect(row.indices.allSatisfy { row[$0] == expected[$0] }, "row \(y)")
        }
    }

    @Test("rotates an image by a quarter exactly")
    func rotated() throws {
        let photo = TestImage.photograph(PixelSize(width: 60, height: 40))
        let turned = photo.turned(.rotated90)
        let image = try ImageRenderer(size: turned.size).image { context in
            context.transform = Transform.translation(40, 0).applied(
                after: .rotation(degrees: 90))
            context.draw(photo, in: SampleRegion(photo.size))
        }.converted(to: .rgb8)
        for y in 0..<60 {
            let (row, expected) = (image.row(y), turned.row(y))
            #expect(
                row.indices.allSatisfy { abs(Int(row[$0]) - Int(expected[$0])) <= 1 }, "row \(y)")
        }
    }

    @Test("leaves no fringe where a transparent image is transformed", arguments: [0.4, 1, 2.3])
    func fringe(_ scale: Double) throws {
        // White with soft edges, over white: any darker pixel is a fringe.
        let soft = TestImage.make(PixelSize(width: 40, height: 40), .rgba8) { x, y, channel in
            channel == 3 ? UInt8(min(x, y) * 6) : 255
        }
        let image = try ImageRenderer(size: PixelSize(width: 100, height: 100)).image { context in
            context.fill(.color(.white))
            context.transform = Transform.translation(50, 10)
                .applied(after: .rotation(degrees: 33)).applied(after: .scale(scale, scale))
            context.draw(soft, in: SampleRegion(soft.size))
        }.converted(to: .gray8)
        #expect(image.packedBytes.allSatisfy { $0 == 255 })
    }

    @Test("keeps the corners of a nine-part image and stretches or repeats the rest")
    func ninePart() throws {
        let image = TestImage.noise(PixelSize(width: 12, height: 11), .rgba8)
        let insets = ResizableImage.Insets(top: 3, left: 4, bottom: 2, right: 5)
        let target = PixelSize(width: 31, height: 25)
        for mode in [ResizableImage.Mode.stretch, .tile] {
            let resizable = try ResizableImage(image, insets: insets, mode: mode)
            let result = try ImageRenderer(size: target).image { context throws(DrawingError) in
                try context.draw(resizable, in: SampleRegion(target))
            }
            for y in 0..<target.height {
                let row = result.row(y)
                for x in 0..<target.width {
                    let sx = Self.source(x, 12, 4, 5, 31, mode)
                    let sy = Self.source(y, 11, 3, 2, 25, mode)
                    for channel in 0..<4 {
                        let expected = Self.sample(image, sx, sy, channel)
                        #expect(
                            abs(Double(row[x * 4 + channel]) - expected) <= 1,
                            "\(mode) \(x) \(y) \(channel)")
                    }
                }
            }
        }
    }

    /// Returns the two source pixels of a pixel, and the share of the second.
    private static func source(
        _ x: Int, _ length: Int, _ before: Int, _ after: Int, _ space: Int,
        _ mode: ResizableImage.Mode
    ) -> (Int, Int, Double) {
        if x < before { return (x, x, 0) }
        if x >= space - after { return (length - space + x, length - space + x, 0) }
        let inner = length - before - after
        if mode == .tile { return (before + (x - before) % inner, before, 0) }
        let scale = Double(inner) / Double(space - before - after)
        let position = min(max((Double(x - before) + 0.5) * scale - 0.5, 0), Double(inner - 1))
        let first = Int(position)
        return (before + first, before + min(first + 1, inner - 1), position - Double(first))
    }

    private static func sample(
        _ image: PixelBuffer, _ x: (Int, Int, Double), _ y: (Int, Int, Double), _ channel: Int
    ) -> Double {
        func value(_ x: Int, _ y: Int) -> Double { Double(image.row(y)[x * 4 + channel]) }
        func along(_ y: Int) -> Double { value(x.0, y) * (1 - x.2) + value(x.1, y) * x.2 }
        return along(y.0) * (1 - y.2) + along(y.1) * y.2
    }

    @Test("rejects sizes and bytes beyond the limits before memory is allocated")
    func limits() {
        #expect(throws: DrawingError.self) {
            try ImageRenderer(size: PixelSize(width: 40_000, height: 1)).image { _ in }
        }
        #expect(throws: DrawingError.limitExceeded(needed: 4800 * 630, allowed: 1000)) {
            let format = ImageRendererFormat(maximumByteCount: 1000)
            return try ImageRenderer(size: size, format: format).image {
                $0.fill(.circle(in: whole), .color(red))
            }
        }
    }

    @Test("draws what an opaque layer does not hide", arguments: [true, false])
    func hidden(_ isWide: Bool) throws {
        let image = try ImageRenderer(size: PixelSize(width: 8, height: 8)).image {
            context throws(DrawingError) in
            context.fill(.color(SRGBColor(red: 0, green: 0, blue: 1)))
            let width: Double = isWide ? 8 : 4
            let rect = SampleRegion(x: 0, y: 3, width: width, height: 2)
            context.fill(.rect(rect), .color(SRGBColor(red: 0, green: 1, blue: 0)))
            context.opacity = 0.5
            context.fill(.color(.black))
        }
        func pixel(_ x: Int, _ y: Int) -> [UInt8] { (0..<3).map { image.row(y)[x * 3 + $0] } }
        for y in 0..<8 {
            for x in 0..<8 {
                let isInside = (3..<5).contains(y) && (isWide || x < 4)
                #expect(pixel(x, y) == (isInside ? [0, 128, 0] : [0, 0, 128]), "\(x), \(y)")
            }
        }
    }

    @Test("clips, strokes and mixes as specified")
    func operations() throws {
        let image = try ImageRenderer(size: PixelSize(width: 40, height: 40)).image {
            context throws(DrawingError) in
            context.fill(.color(SRGBColor(red: 0.5, green: 1, blue: 0)))
            try context.clip(.rect(SampleRegion(x: 10, y: 0, width: 10, height: 40))) {
                $0.blendMode = .multiply
                $0.fill(.color(SRGBColor(red: 0.5, green: 0.5, blue: 1)))
            }
            var line = Path()
            line.move(to: Point(0, 35))
            line.line(to: Point(40, 35))
            context.stroke(line, .color(.white), Stroke(width: 2, dashes: [5, 5]))
            context.opacity = 0.5
            context.fill(.rect(SampleRegion(x: 30, y: 0, width: 10, height: 20)), .color(.black))
        }
        func pixel(_ x: Int, _ y: Int) -> [UInt8] { (0..<3).map { image.row(y)[x * 3 + $0] } }
        #expect(image.format == .rgb8)
        #expect(pixel(5, 5) == [128, 255, 0])
        #expect(pixel(15, 5) == [64, 128, 0])
        #expect(pixel(35, 5) == [64, 128, 0])
        #expect(pixel(2, 35) == [255, 255, 255] && pixel(7, 35) == [128, 255, 0])
        #expect(pixel(22, 34) == [255, 255, 255] && pixel(22, 33) == [128, 255, 0])
    }
}
