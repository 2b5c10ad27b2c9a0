// SPDX-License-Identifier: Apache-2.0

import Drawing
import Foundation
import ImageTesting
import Pixels
import Testing

@Suite(
    "Texts, compared with Chromium",
    .enabled(if: PeerTool.chromium != nil, "CALOTYPE_PYTHON is not set, or Chromium not installed"))
struct TextSheetTests {
    private struct Sample {
        let language, family, text: String
        /// The distance of lines in pixels.
        var lineHeight = 48
    }

    private static let samples = [
        Sample(
            language: "en", family: "DejaVu Sans",
            text: "Sphinx of black quartz, judge my vow: “fi ffl AVAToday” — naïve café"),
        Sample(
            language: "ar", family: "DejaVu Sans",
            text: "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق، وقد وهبوا 123 عقلًا"),
        Sample(
            language: "he", family: "DejaVu Sans",
            text: "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם (abc 42) כולם חוננו"),
        Sample(
            language: "hi", family: "Noto Sans Devanagari",
            text: "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है"),
        Sample(
            language: "th", family: "Noto Sans Thai",
            text: "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ"),
        Sample(
            language: "ja", family: "Noto Sans CJK JP",
            text: "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"),
        Sample(
            language: "zh-cn", family: "Noto Sans CJK SC",
            text: "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。"),
        Sample(
            language: "ko", family: "Noto Sans CJK KR",
            text: "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."),
        Sample(
            language: "en", family: "Noto Color Emoji",
            text: "😀 👩‍👩‍👧‍👦 🇩🇪🇯🇵 👍🏽 ❤️ 🧑🏿‍🚀 🏳️‍🌈 1️⃣ 🥐", lineHeight: 33),
    ]

    private static let fontSize = 28.0
    private static let width = 400
    /// The height of the area of a sample.
    private static let height = 240

    /// The rows and columns of a line that are darker or more colourful than the background.
    private struct Ink: CustomStringConvertible {
        var left = Int.max, right = Int.min

        init(_ image: PixelBuffer, rows: Range<Int>) {
            for y in rows {
                let row = image.row(y)
                for x in 0..<image.size.width {
                    let darkest = min(row[x * 3], row[x * 3 + 1], row[x * 3 + 2])
                    if darkest < 160 { (left, right) = (min(left, x), max(right, x)) }
                }
            }
        }

        /// Whether the edges are the same but for two pixels, which hinting can move them by.
        func isEqual(_ other: Ink) -> Bool {
            guard left <= right, other.left <= other.right else {
                return left > right && other.left > other.right
            }
            return abs(left - other.left) <= 2 && abs(right - other.right) <= 2
        }

        var description: String { right < left ? "empty" : "\(left)...\(right)" }
    }

    @Test("break, order and shape lines in the same way")
    func lines() throws {
        let installed = Self.samples.filter { sample in
            let fonts = try? PeerTool.run(URL(filePath: "/usr/bin/fc-list"), [sample.family])
            return !(fonts ?? []).isEmpty
        }
        try #require(!installed.isEmpty)
        let fonts = try FontCollection()
        let page = installed.map { sample in
            """
            <div lang="\(sample.language)" dir="auto" style="width: \(Self.width)px; \
            height: \(Self.height)px; font: \(Self.fontSize)px '\(sample.family)'; \
            line-height: \(sample.lineHeight)px; text-rendering: geometricPrecision; \
            overflow: hidden">\(sample.text)</div>
            """
        }
        let window = PixelSize(width: Self.width, height: Self.height * installed.count)
        let sheet = try #require(try PeerTool.screenshot(page.joined(), [:], window))
        for (index, sample) in installed.enumerated() {
            let expected = sheet.cut(
                PixelRect(x: 0, y: index * Self.height, width: Self.width, height: Self.height))
            let (image, lineCount) = try draw(sample, fonts)
            #expect(lineCount > 1)
            for line in 0..<Self.height / sample.lineHeight {
                let rows = line * sample.lineHeight..<(line + 1) * sample.lineHeight
                let (ours, theirs) = (Ink(image, rows: rows), Ink(expected, rows: rows))
                #expect(
                    ours.isEqual(theirs),
                    "\(sample.language) \(sample.family), line \(line): \(ours), \(theirs)")
            }
        }
    }

    /// Draws a sample with the line height of the page.
    private func draw(
        _ sample: Sample, _ fonts: FontCollection
    ) throws -> (image: PixelBuffer, lineCount: Int) {
        var lineCount = 0
        let size = PixelSize(width: Self.width, height: Self.height)
        let format = ImageRendererFormat(range: .standard)
        let image = try ImageRenderer(size: size, format: format, fonts: fonts).image {
            context throws(DrawingError) in
            context.fill(.color(.white))
            var layout = TextLayout(
                sample.text, font: .named(sample.family, size: Self.fontSize), fits: .clip,
                language: sample.language)
            let lineHeight = try context.measure(layout).box.height
            layout.width = Double(Self.width)
            let expected = Double(sample.lineHeight)
            if abs(expected - lineHeight) > 0.5 { layout.lineSpacing = expected / lineHeight }
            let top = (expected - lineHeight) / 2
            lineCount = try context.draw(layout, at: Point(0, top)).lineCount
        }
        return (image.converted(to: .rgb8), lineCount)
    }
}
