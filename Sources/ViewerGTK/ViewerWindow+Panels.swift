// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import Pixels
internal import ViewerModel

/// Texts above the images, and the cells for screen readers.
extension ViewerWindow {
    /// Returns a text in the language of the user.
    func text(_ text: ViewerText) -> String { text.text(in: language) }

    func drawPanels(_ width: Double, _ height: Double) {
        if viewer.mode == .single, let image = current {
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
        if let message { drawPanel(message, x: 20, y: height - 60, width: width - 40) }
    }

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

    /// Tells screen readers about the cells or the images that are visible.
    func updateAccessibleCells() {
        // While the grid moves, the cells have no lasting position.
        guard !viewer.motion.isMoving || viewer.mode == .single else { return }
        let state = AccessibleState(
            mode: viewer.mode, view: viewer.view, offset: viewer.motion.offset,
            current: viewer.list.currentIndex, count: viewer.list.count, name: viewer.list.current,
            shownCount: viewer.shown.count, hasFilmstrip: viewer.filmstrip != nil)
        guard state != accessibleState else { return }
        accessibleState = state
        calotype_cells_begin()
        if viewer.mode == .grid {
            let grid = viewer.grid
            for index in grid.visible(at: viewer.motion.offset) {
                let origin = grid.origin(of: index)
                addAccessibleCell(
                    index, x: Double(origin.x), y: Double(origin.y) - viewer.motion.offset,
                    PixelSize(width: grid.side, height: grid.side), isImage: false)
            }
        } else {
            for (index, rect) in zip(viewer.shown, viewer.panes.rects) {
                addAccessibleCell(
                    index, x: Double(rect.x), y: Double(rect.y), rect.size, isImage: true)
            }
        }
        if let strip = viewer.filmstrip {
            for index in strip.visible where !viewer.shown.contains(index) {
                addAccessibleCell(
                    index, x: Double(strip.x(of: index)),
                    y: Double(viewer.view.height - strip.height + strip.gap),
                    PixelSize(width: strip.side, height: strip.side), isImage: false)
            }
        }
        calotype_cells_end()
    }

    private func addAccessibleCell(
        _ index: Int, x: Double, y: Double, _ size: PixelSize, isImage: Bool
    ) {
        let label = text(
            .cell(name: viewer.list[index], number: index + 1, count: viewer.list.count))
        unsafe calotype_cells_add(
            Int32(index), label, x, y, Double(size.width), Double(size.height),
            isImage, index == viewer.list.currentIndex)
    }
}

/// What screen readers have been told.
struct AccessibleState: Equatable {
    let mode: Viewer.Mode
    let view: PixelSize
    let offset: Double
    let current: Int?
    let count: Int
    let name: String?
    let shownCount: Int
    let hasFilmstrip: Bool
}

extension Duration {
    /// The duration in milliseconds with one decimal.
    var formattedMilliseconds: String {
        let tenths = Int((self / .milliseconds(1) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
#endif
