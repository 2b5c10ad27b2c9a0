// SPDX-License-Identifier: Apache-2.0

import Drawing
import Foundation
import ImageTesting
import Pixels
import Testing

@Suite("Text") struct TextTests {
    private let fonts: FontCollection

    init() throws { fonts = try FontCollection() }

    private func mask(
        _ layout: TextLayout, at origin: Point = Point(10, 10), _ size: PixelSize
    ) throws -> PixelBuffer {
        let format = ImageRendererFormat(range: .monochrome)
        return try ImageRenderer(size: size, format: format, fonts: fonts).image {
            context throws(DrawingError) in
            try context.draw(layout, at: origin)
        }
    }

    @Test(
        "has the mask of pangocairo within 2 levels",
        arguments: [
            ("Hamburgefonstiv 0123", nil as Double?), ("مرحبا بالعالم", nil),
            ("नमस्ते दुनिया", nil), ("שלום 123 abc", nil),
            ("A longer title that is broken into several lines at words", 380),
        ])
    func pangocairo(text: String, width: Double?) throws {
        let size = PixelSize(width: 400, height: 300)
        let script = SampleFiles.packageDirectory.appending(path: "Tests/Peers/pangocairo.py").path
        let arguments =
            [script, text, "Sans Bold", "40", "10.5", "10", "400", "300"]
            + (width.map { ["\($0)"] } ?? [])
        // Bindings of Pango are packages of Debian, which a virtual environment does not contain.
        let python = URL(filePath: "/usr/bin/python3")
        guard FileManager.default.isExecutableFile(atPath: python.path),
            let file = try PeerTool.run(python, arguments), let peer = PeerTool.image(file)
        else { return }
        let layout = TextLayout(
            text, font: .named("Sans Bold", size: 40), width: width, fits: .clip)
        let image = try mask(layout, at: Point(10.5, 10), size)
        var (largest, sum) = (0, 0)
        for y in 0..<size.height {
            let (row, expected) = (image.row(y), peer.row(y))
            for x in 0..<size.width {
                largest = max(largest, abs(Int(row[x]) - Int(expected[x])))
                sum += Int(expected[x])
            }
        }
        #expect(sum > 0)
        #expect(largest <= 2)
    }

    @Test("of 20,000 random Unicode strings is drawn without a crash")
    func randomStrings() throws {
        var random = SeededRandom(seed: 7)
        let size = PixelSize(width: 160, height: 40)
        let blocks: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0x300...0x36F, 0x590...0x6FF, 0x900...0xDFF, 0xE00...0xEFF,
            0x1100...0x11FF, 0x2000...0x206F, 0x3040...0x30FF, 0x4E00...0x9FFF, 0xAC00...0xD7A3,
            0xE000...0xE100, 0xFE00...0xFEFF, 0x1F300...0x1FAFF, 0xE0000...0xE01EF, 0...0x10FFFF,
        ]
        for index in 0..<20_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let block = blocks[Int.random(in: 0..<blocks.count, using: &random)]
                let value = UInt32.random(in: block, using: &random)
                text.append(Unicode.Scalar(value) ?? "x")
            }
            let layout = TextLayout(
                String(text), font: .named("Sans", size: 12), width: 150, lines: 2,
                fits: index % 4 == 0 ? .shrinking(to: 8) : .ellipsis)
            // Drawing each takes minutes where fonts have large bitmaps.
            if index % 10 == 0 {
                _ = try mask(layout, at: Point(5, 5), size)
            } else {
                _ = try ImageRenderer(size: size, fonts: fonts).plan {
                    context throws(DrawingError) in
                    _ = try context.measure(layout)
                }
            }
        }
    }

    /// Returns the first rows of the letters at the left of each line.
    private func tops(_ image: PixelBuffer) -> [Int] {
        let isInked = (0..<image.size.height).map { y in
            let row = image.row(y)
            return (0..<40).contains { row[$0] > 127 }
        }
        return isInked.indices.filter { isInked[$0] && ($0 == 0 || !isInked[$0 - 1]) }
    }

    /// The mathematical letter and the emoji are in fonts of their own, with other heights.
    @Test("has equal distances of lines, whatever fonts they need", arguments: [0.9, 1.0, 1.5])
    func lineSpacing(_ factor: Double) throws {
        var layout = TextLayout(
            "H plain\nH \u{1D4D0}\u{1D538}\nH plain\nH 😀\nH ⏟ 字 ก็ नि\nH plain",
            font: .named("Sans", size: 40), fits: .clip, lineSpacing: factor)
        let format = ImageRendererFormat(range: .standard)
        let size = PixelSize(width: 400, height: 500)
        let renderer = ImageRenderer(size: size, format: format, fonts: fonts)
        var heights: [Double] = []
        let image = try renderer.image { context throws(DrawingError) in
            let single = TextLayout("H", font: layout.font)
            heights.append(try context.measure(single).box.height)
            heights.append(try context.draw(layout, at: Point(4, 4)).box.height)
        }
        let mask = PixelBuffer.alpha(of: image)
        let tops = tops(mask)
        try #require(tops.count == 6)
        for (line, top) in tops.enumerated() {
            let expected = Double(line) * heights[0] * factor
            #expect(abs(Double(top - tops[0]) - expected) <= 1, "line \(line): \(tops)")
        }
        // A font of bitmaps, of which Pango has the metrics at another size.
        let emoji = TextLayout(
            "😀\n😀", font: .named("Noto Color Emoji", size: 40), fits: .clip, lineSpacing: factor)
        var single = emoji
        single.text = "😀"
        _ = try renderer.plan { context throws(DrawingError) in
            let height = try context.measure(single).box.height
            let pitch = try context.measure(emoji).box.height - height
            #expect(abs(pitch - height * factor) < 1)
        }
        // As many lines as fit are drawn, and the last one ends with an ellipsis.
        layout.width = 390
        layout.overflow = .ellipsis
        layout.height = heights[0] * (1 + 2 * factor)
        let shortened = try renderer.image { context throws(DrawingError) in
            let extents = try context.draw(layout, at: Point(4, 4))
            #expect(extents.lineCount == 3 && extents.isShortened)
        }
        #expect(self.tops(PixelBuffer.alpha(of: shortened)).count == 3)
    }

    private static let hostile: [String] = [
        String(repeating: "W", count: 10_240), String(repeating: "wide ", count: 2048),
        "a" + String(repeating: "\u{301}", count: 10_000),
        String(repeating: "a\u{20DD}\u{489}\u{361}", count: 2000),
        String(repeating: "\u{202E}abc\u{202D}", count: 2000),
        String(repeating: "\u{2066}", count: 500) + "אבג", String(repeating: "\n", count: 5000),
        String(repeating: "\u{200D}", count: 5000), String(repeating: "👨‍👩‍👧‍👦", count: 1000),
        String(repeating: "\u{10FFFD}", count: 3000), String(repeating: "\u{0}", count: 3000),
        String(repeating: "ﷺ", count: 3000), String(repeating: "\u{0E49}", count: 3000),
        "زل" + String(repeating: "\u{640}", count: 9000), "\u{FEFF}\u{FFFE}\u{FFFF}", "", " ",
        String(repeating: "क्", count: 3000) + "ष", String(repeating: "\u{1F1E9}", count: 3001),
        String(repeating: "\u{2028}\r\n", count: 3000), String(repeating: "𒐫", count: 2000),
    ]

    /// The CPU time of the thread, which other tests do not change.
    private static var threadSeconds: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test("that is hostile leaves no pixel outside of its box and takes less than a second")
    func hostileTitles() throws {
        let size = PixelSize(width: 1200, height: 630)
        let box = PixelRect(x: 80, y: 200, width: 1040, height: 250)
        for (index, text) in Self.hostile.enumerated() {
            let layout = TextLayout(
                text, font: .named("Sans Bold", size: 72), width: Double(box.width), lines: 3,
                height: Double(box.height), fits: .shrinking(to: 40))
            let start = Self.threadSeconds
            let image = try mask(layout, at: Point(Double(box.x), Double(box.y)), size)
            #expect(Self.threadSeconds - start < 1, "text \(index)")
            var outside = 0
            for y in 0..<size.height {
                let row = image.row(y)
                for x in 0..<size.width where row[x] > 0 {
                    let pixel = PixelRect(x: x, y: y, width: 1, height: 1)
                    if !box.contains(pixel) { outside += 1 }
                }
            }
            #expect(outside == 0, "text \(index)")
        }
    }

    @Test("shrinks until it fits, and ends with an ellipsis only below the smallest size")
    func shrinking() throws {
        _ = try ImageRenderer(size: PixelSize(width: 10, height: 10), fonts: fonts).plan {
            context throws(DrawingError) in
            func extents(_ text: String, to size: Double) throws(DrawingError) -> TextExtents {
                try context.measure(
                    TextLayout(
                        text, font: .named("Sans", size: 72), width: 400, lines: 2,
                        fits: .shrinking(to: size)))
            }
            let short = try extents("Short", to: 20)
            #expect(short.fontSize == 72 && !short.isShortened)
            let long = try extents("A title that needs a smaller font to fit", to: 20)
            #expect(long.fontSize < 72 && long.fontSize >= 20)
            #expect(!long.isShortened && long.lineCount <= 2 && long.box.width <= 400.5)
            let longest = try extents(String(repeating: "word ", count: 200), to: 60)
            #expect(longest.fontSize == 60 && longest.isShortened && longest.lineCount == 2)
        }
    }

    /// The first 4,800 texts fill cairo's cache of glyphs.
    @Test(
        "needs at most 8 MiB more for 10,000 different texts on 8 threads",
        .disabled(if: Sanitizer.replacesAllocator, "sanitizers replace the allocator"),
        .enabled(
            if: ProcessInfo.processInfo.environment["CALOTYPE_DEEP_FILES"] != nil,
            "takes ten seconds of two cores; `make test-deep` runs it"))
    func memory() throws {
        let program = try #require(builtProgram("TestHelper"))
        let output = try #require(try PeerTool.run(program, ["draw-texts", "8", "600", "1250"]))
        let growth = Int(String(decoding: output, as: UTF8.self).filter { $0 != "\n" })
        #expect(try #require(growth) <= 8 << 20)
    }

    @Test("with glyphs of colours needs colours")
    func emoji() throws {
        let renderer = ImageRenderer(size: PixelSize(width: 200, height: 80), fonts: fonts)
        var hasColors = false
        let contents = try renderer.contents { context throws(DrawingError) in
            let layout = TextLayout("a😀", font: .named("Sans", size: 40))
            hasColors = try context.draw(layout, at: Point(10, 10)).hasColors
        }
        guard hasColors else { return }
        guard case .pixels(let image) = contents else {
            Issue.record("not an image: \(contents)")
            return
        }
        #expect(image.format == .rgba8)
    }

    @Test("names a font file that is not one")
    func invalidFont() {
        #expect(throws: DrawingError.self) { try FontCollection(files: ["/nonexistent.ttf"]) }
    }
}

extension PixelBuffer {
    /// Returns the alpha of an image with 8 bits per channel.
    fileprivate static func alpha(of image: PixelBuffer) -> PixelBuffer {
        let pixels = image.converted(to: .rgba8).packedBytes
        let alpha = stride(from: 3, to: pixels.count, by: 4).map { pixels[$0] }
        return PixelBuffer(packed: alpha, image.size, .alpha8)
    }
}
