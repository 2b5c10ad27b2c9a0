// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import Pixels
internal import ViewerModel

/// The texts above the grid or the images.
@MainActor
struct WindowPanels {
    let viewer: Viewer
    /// The image that is displayed alone, or the first one that is compared.
    let image: ShownImage?
    let message: String?
    let keyMap: KeyMap
    let language: ViewerLanguage
    let palette: Palette

    func draw() {
        let (width, height) = (Double(viewer.view.width), Double(viewer.view.height))
        if let image {
            if viewer.explains { drawPanel(explanation(image), x: 20, y: 20, width: 600) }
            if viewer.showsInfo { drawInfo(image, x: width - 420, width: 400) }
        }
        if let review = viewer.review {
            let names = review.prefix(24).joined(separator: "\n")
            let rest = review.count > 24 ? "\n…" : ""
            drawPanel(
                "\(text(.review(count: review.count)))\n\n\(names)\(rest)\n\n\(text(.reviewKeys))",
                x: width / 2 - 300, y: 40, width: 600)
        }
        if viewer.showsKeys { drawKeys(width) }
        if let message = message ?? image?.page.map({ text($0.label) }) {
            drawPanel(message, x: 20, y: height - 60, width: width - 40)
        }
    }

    private func text(_ text: ViewerText) -> String { text.text(in: language) }

    /// Draws a text on a panel of its height; returns the height.
    @discardableResult
    private func drawPanel(_ text: String, x: Double, y: Double, width: Double) -> Double {
        let height = unsafe calotype_text_height(text, width - 24) + 24
        calotype_draw_color(palette.panel, x, y, width, height)
        _ = unsafe calotype_draw_text(text, palette.panelText, x + 12, y + 12, width - 24)
        return height
    }

    private func drawKeys(_ width: Double) {
        let lines = keyMap.help.map {
            "\($0.keys.joined(separator: ", "))   \(text(.command($0.command)))"
        }
        let half = (lines.count + 1) / 2
        for (column, part) in [lines[..<half], lines[half...]].enumerated() {
            drawPanel(
                part.joined(separator: "\n"), x: width / 2 - 460 + Double(column) * 460, y: 20,
                width: 460)
        }
    }

    private func explanation(_ image: ShownImage) -> String {
        var lines = [image.name] + image.facts.map(text)
        if let page = image.page { lines.append(text(page.label)) }
        if let player = image.player {
            lines.append(
                text(
                    .frame(
                        number: player.index + 1, count: player.frameCount,
                        isPaused: !player.isPlaying)))
        }
        return lines.joined(separator: "\n")
    }

    private func drawInfo(_ image: ShownImage, x: Double, width: Double) {
        var lines = [image.name]
        if let page = image.page { lines.append(text(page.label)) }
        if let (facts, metadata) = image.properties {
            lines += (facts + metadata).map { "\($0): \($1)" }
            if metadata.isEmpty { lines.append(text(.noMetadata)) }
        }
        let height = drawPanel(lines.joined(separator: "\n"), x: x, y: 20, width: width)
        guard let histogram = image.histogram else { return }
        let (w, h) = (Double(histogram.size.width), Double(histogram.size.height))
        calotype_draw_color(palette.panel, x, 20 + height, width, h + 24)
        histogram.draw(x: x + (width - w) / 2, y: 20 + height + 4, width: w, height: h)
    }
}
#endif
