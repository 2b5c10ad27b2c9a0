// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// An SVG chart of a scrolling benchmark: a row of panels per screen, a bar per design.
struct ScrollChart {
    private struct Panel {
        let title: String
        let bars: [(design: String, value: Double, text: String)]
    }

    private static let labelWidth = 110
    private static let barWidth = 190
    private static let panelWidth = 350
    private static let barHeight = 22

    private let rows: [(title: String, panels: [Panel])]

    init(_ totals: [ScrollResult]) {
        var groups: [[ScrollResult]] = []
        for total in totals {
            if let first = groups.last?.first, first.run.layout == total.run.layout,
                first.run.rate == total.run.rate
            {
                groups[groups.count - 1].append(total)
            } else {
                groups.append([total])
            }
        }
        rows = groups.map { group in
            (
                "\(group[0].run.layout), \(group[0].run.rate) Hz",
                [
                    Self.panel("Missed frames", group, \.missedShare, ScrollReport.percent),
                    Self.panel(
                        "Cells without an image", group, \.popInShare, ScrollReport.percent),
                    Self.panel(
                        "Time to sharp at rest, 95th percentile", group,
                        { $0.sharpTime(0.95) ?? 0 }, ScrollReport.milliseconds),
                    Self.panel(
                        "Peak memory of the process", group, { Double($0.peakResidentByteCount) },
                        { ScrollReport.mebibytes(Int($0)) }),
                ]
            )
        }
    }

    private static func panel(
        _ title: String, _ group: [ScrollResult], _ value: (ScrollResult) -> Double,
        _ text: (Double) -> String
    ) -> Panel {
        Panel(
            title: title,
            bars: group.map { (ScrollReport.name($0.run), value($0), text(value($0))) })
    }

    var svg: String {
        let columns = rows.first?.panels.count ?? 1
        let heights = rows.map { 76 + ($0.panels.first?.bars.count ?? 0) * Self.barHeight }
        let width = columns * Self.panelWidth + 24
        let height = heights.reduce(16, +)
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" \
            font-family="system-ui, sans-serif" font-size="13">
            <title>Scrolling benchmark: frames, cells, time to sharp and memory by design</title>
            <style>
              :root { color-scheme: light dark; --ink: #222; --paper: #fff; --bar: #7f9db9; \
            --best: #d55e00; }
              @media (prefers-color-scheme: dark) {
                :root { --ink: #ddd; --paper: #16181c; --bar: #4d6a85; --best: #e69f00; }
              }
              text { fill: var(--ink); }
              .title { font-weight: 600; font-size: 15px; }
              .bar { fill: var(--bar); }
              .own { fill: var(--best); }
            </style>
            <rect width="100%" height="100%" fill="var(--paper)"/>
            """
        ]
        var top = 0
        for (row, height) in zip(rows, heights) {
            parts.append("<text class=\"title\" x=\"16\" y=\"\(top + 28)\">\(row.title)</text>")
            for (index, panel) in row.panels.enumerated() {
                let x = 16 + index * Self.panelWidth
                parts.append(
                    "<g transform=\"translate(\(x) \(top + 52))\">\(Self.drawn(panel))</g>")
            }
            top += height
        }
        return parts.joined(separator: "\n") + "\n</svg>\n"
    }

    private static func drawn(_ panel: Panel) -> String {
        let most = panel.bars.map(\.value).max() ?? 0
        var parts = ["<text font-weight=\"600\">\(panel.title)</text>"]
        for (index, bar) in panel.bars.enumerated() {
            let y = 10 + index * barHeight
            let length = most > 0 ? bar.value / most * Double(barWidth - 60) : 0
            let kind = bar.design.hasPrefix(ScrollDesign.calotype.rawValue) ? "bar own" : "bar"
            parts.append(
                """
                <text x="\(labelWidth - 8)" y="\(y + 13)" text-anchor="end">\(bar.design)</text>\
                <rect class="\(kind)" x="\(labelWidth)" y="\(y)" \
                width="\(String(format: "%.1f", max(length, 1)))" height="16"/>\
                <text x="\(String(format: "%.1f", Double(labelWidth) + length + 6))" \
                y="\(y + 13)">\(bar.text)</text>
                """)
        }
        return parts.joined(separator: "\n")
    }
}
