// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Pixels

/// An SVG chart of a benchmark of formats: a panel for each image, at full and at reduced size,
/// with a line for each format and logarithmic axes.
struct FormatChart {
    private struct Panel {
        let title: String
        let lines: [(format: String, points: [(side: Int, milliseconds: Double)])]
    }

    private static let plot = PixelSize(width: 420, height: 300)
    private static let margin = (left: 64, top: 72, right: 16, bottom: 44)
    /// Colours that are distinguishable with colour blindness (Okabe and Ito); dashed when
    /// repeated.
    private static let colors = [
        "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f",
    ]

    private let panels: [Panel]
    private let formats: [String]
    private let sides: [Int]
    private let decades: ClosedRange<Int>

    init(_ results: [FormatBenchmark.Result]) {
        let warm = results.filter { !$0.isCold }
        formats = warm.reduce(into: []) { if !$0.contains($1.format) { $0.append($1.format) } }
        sides = Set(warm.map(\.size.width)).sorted()
        let images = warm.reduce(into: [String]()) {
            if !$0.contains($1.image) { $0.append($1.image) }
        }
        let formats = formats
        panels = images.flatMap { image in
            [false, true].map { isShrunk in
                let shown = warm.filter { $0.image == image && $0.isShrunk == isShrunk }
                return Panel(
                    title: "\(image), \(isShrunk ? "reduced size" : "full size")",
                    lines: formats.map { format in
                        (
                            format,
                            shown.filter { $0.format == format }
                                .map { ($0.size.width, $0.total.milliseconds) }
                                .sorted { $0.0 < $1.0 }
                        )
                    })
            }
        }.filter { $0.lines.contains { !$0.points.isEmpty } }
        let times = warm.map { log10(max($0.total.milliseconds, 0.000_1)) }
        let low = Int((times.min() ?? 0).rounded(.down))
        decades = low...max(low + 1, Int((times.max() ?? 1).rounded(.up)))
    }

    var svg: String {
        let columns = 2
        let rows = (panels.count + columns - 1) / columns
        let panel = PixelSize(
            width: Self.plot.width + Self.margin.left + Self.margin.right,
            height: Self.plot.height + Self.margin.top + Self.margin.bottom)
        let legendRows = (formats.count + 6) / 7
        let width = panel.width * columns
        let height = panel.height * rows + legendRows * 24 + 24
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" \
            font-family="system-ui, sans-serif" font-size="13">
            <title>Milliseconds to load and decode an image, by format and size</title>
            <style>
              :root { color-scheme: light dark; --ink: #222; --faint: #ccc; --paper: #fff; }
              @media (prefers-color-scheme: dark) {
                :root { --ink: #ddd; --faint: #444; --paper: #16181c; }
              }
              text { fill: var(--ink); }
              .grid { stroke: var(--faint); stroke-width: 1; }
              .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
              .title { font-weight: 600; font-size: 15px; }
            </style>
            <rect width="100%" height="100%" fill="var(--paper)"/>
            """
        ]
        for (index, item) in panels.enumerated() {
            let x = index % columns * panel.width + Self.margin.left
            let y = index / columns * panel.height + Self.margin.top
            parts.append("<g transform=\"translate(\(x) \(y))\">\(drawn(item))</g>")
        }
        for (index, format) in formats.enumerated() {
            let x = 64 + index % 7 * 120
            let y = panel.height * rows + 20 + index / 7 * 24
            parts.append(
                """
                <path class="line" \(stroke(index)) d="M\(x) \(y)h28"/>\
                <text x="\(x + 34)" y="\(y + 5)">\(Self.escaped(format))</text>
                """)
        }
        return parts.joined(separator: "\n") + "\n</svg>\n"
    }

    private func drawn(_ panel: Panel) -> String {
        let (width, height) = (Self.plot.width, Self.plot.height)
        var parts = [
            """
            <text class="title" y="-36">\(Self.escaped(panel.title))</text>\
            <text y="-14">milliseconds</text>
            """
        ]
        for decade in decades {
            let y = Self.text(self.y(pow(10, Double(decade))))
            let label =
                decade >= 0 ? "\(Int(pow(10, Double(decade))))" : "\(pow(10, Double(decade)))"
            parts.append(
                """
                <path class="grid" d="M0 \(y)H\(width)"/>\
                <text x="-8" y="\(y)" dy="4" text-anchor="end">\(label)</text>
                """)
        }
        for side in sides {
            let x = Self.text(self.x(side))
            parts.append(
                "<text x=\"\(x)\" y=\"\(height + 20)\" text-anchor=\"middle\">\(side)</text>")
        }
        parts.append(
            "<text x=\"\(width / 2)\" y=\"\(height + 38)\" text-anchor=\"middle\">pixels wide</text>"
        )
        for (index, line) in panel.lines.enumerated() where !line.points.isEmpty {
            let path = line.points.map {
                "\(Self.text(x($0.side))) \(Self.text(y($0.milliseconds)))"
            }.joined(separator: "L")
            parts.append("<path class=\"line\" \(stroke(index)) d=\"M\(path)\"/>")
        }
        return parts.joined(separator: "\n")
    }

    private func stroke(_ index: Int) -> String {
        let color = Self.colors[index % Self.colors.count]
        let dashes = index / Self.colors.count % 2 == 1 ? " stroke-dasharray=\"6 4\"" : ""
        return "stroke=\"\(color)\"\(dashes)"
    }

    private func x(_ side: Int) -> Double {
        guard let first = sides.first, let last = sides.last, last > first else { return 0 }
        let share = log2(Double(side) / Double(first)) / log2(Double(last) / Double(first))
        return share * Double(Self.plot.width - 40) + 20
    }

    private func y(_ milliseconds: Double) -> Double {
        let position = log10(max(milliseconds, 0.000_1)) - Double(decades.lowerBound)
        return (1 - position / Double(decades.count - 1)) * Double(Self.plot.height)
    }

    private static func text(_ value: Double) -> String { String(format: "%.1f", value) }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
