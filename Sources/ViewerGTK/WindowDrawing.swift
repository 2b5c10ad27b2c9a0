// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import Pixels
internal import ViewerModel

/// Draws the grid, or the images that are displayed alone or compared.
@MainActor
final class WindowDrawing {
    private let cells: GridCells
    private let shown: ShownImages
    private let language: ViewerLanguage
    private var palette = Palette.dark

    init(_ cells: GridCells, _ shown: ShownImages, _ language: ViewerLanguage) {
        (self.cells, self.shown, self.language) = (cells, shown, language)
    }

    func draw(_ viewer: inout Viewer, _ palette: Palette) {
        self.palette = palette
        calotype_draw_color(
            palette.background, 0, 0, Double(viewer.view.width), Double(viewer.view.height))
        if viewer.mode == .grid { drawGrid(&viewer) } else { drawImages(&viewer) }
    }

    private func drawGrid(_ viewer: inout Viewer) {
        cells.load(viewer)
        let grid = viewer.grid
        for index in grid.visible(at: viewer.motion.offset) {
            let origin = grid.origin(of: index)
            let (x, y) = (Double(origin.x), (Double(origin.y) - viewer.motion.offset).rounded())
            drawCell(index, of: &viewer, x: x, y: y, side: Double(grid.side))
        }
        if viewer.list.count == 0 {
            let text = ViewerText.noImages(folder: viewer.folder).text(in: language)
            _ = unsafe calotype_draw_text(text, palette.text, 20, 20, Double(grid.width) - 40)
        }
    }

    private func drawCell(
        _ index: Int, of viewer: inout Viewer, x: Double, y: Double, side: Double
    ) {
        let name = viewer.list[index]
        if index == viewer.list.currentIndex {
            calotype_draw_color(palette.selection, x - 4, y - 4, side + 8, side + 8)
        }
        calotype_draw_color(palette.cell, x, y, side, side)
        let cell = cells[name]
        if let texture = cell?.texture {
            let largest = Double(max(texture.size.width, texture.size.height))
            // A draft is smaller than the image will be.
            let scale = cell?.isComplete == true ? min(1, side / largest) : side / largest
            let width = (Double(texture.size.width) * scale).rounded()
            let height = (Double(texture.size.height) * scale).rounded()
            let left = x + ((side - width) / 2).rounded()
            let top = y + ((side - height) / 2).rounded()
            if texture.hasAlpha {
                drawCheckerboard(viewer.view, x: left, y: top, width: width, height: height)
            }
            texture.draw(x: left, y: top, width: width, height: height)
        } else if let failure = cell?.failure {
            calotype_draw_clip(x, y, side, side)
            _ = unsafe calotype_draw_text(
                "\(name)\n\(failure)", palette.text, x + 8, y + 8, side - 16)
            calotype_draw_pop()
        }
        drawRating(viewer.rating(name), x: x, y: y + side - 24)
    }

    private func drawRating(_ rating: Int?, x: Double, y: Double) {
        guard let rating, rating != 0 else { return }
        let text = rating < 0 ? "✕" : String(repeating: "★", count: rating)
        calotype_draw_color(palette.panel, x, y, rating < 0 ? 24 : 12 + 14 * Double(rating), 24)
        _ = unsafe calotype_draw_text(text, palette.panelText, x + 6, y + 3, 100)
    }

    private func drawImages(_ viewer: inout Viewer) {
        let panes = viewer.panes
        for (image, rect) in zip(shown.images, panes.rects) {
            calotype_draw_clip(
                Double(rect.x), Double(rect.y), Double(rect.width), Double(rect.height))
            drawImage(image, of: &viewer, rect)
            calotype_draw_pop()
        }
        guard let strip = viewer.filmstrip else { return }
        let top = Double(viewer.view.height - strip.height)
        // The grid's cells, drawn smaller: both show the same images.
        cells.load(strip.visible.map { viewer.list[$0] }, viewer.grid.side)
        for index in strip.visible {
            drawCell(
                index, of: &viewer, x: Double(strip.x(of: index)), y: top + Double(strip.gap),
                side: Double(strip.side))
        }
    }

    private func drawImage(_ image: ShownImage, of viewer: inout Viewer, _ rect: PixelRect) {
        let (left, top) = (Double(rect.x), Double(rect.y))
        if let failure = image.failure {
            _ = unsafe calotype_draw_text(
                "\(image.name)\n\(failure)", palette.text, left + 40,
                top + Double(rect.height) / 2 - 20, Double(rect.width) - 80)
            return
        }
        guard let placement = shown.placement(image, in: viewer), let fitted = image.fitted else {
            return
        }
        let (x, y) = (left + placement.x.rounded(), top + placement.y.rounded())
        if fitted.hasAlpha {
            drawCheckerboard(
                viewer.view, x: x, y: y, width: placement.width, height: placement.height)
        }
        let tiles = placement.isEnlarged ? image.tiles : nil
        // Scaling the whole image takes longer than all tiles.
        if tiles?.isComplete != true {
            // At the exact size, no pixel is interpolated.
            let isExact =
                placement.isFitted && abs(placement.width - Double(fitted.size.width)) < 1
            let width = isExact ? Double(fitted.size.width) : placement.width
            let height = isExact ? Double(fitted.size.height) : placement.height
            fitted.draw(x: x, y: y, width: width, height: height)
        }
        if let pixels = shown.tilePlacement(image, in: viewer) {
            tiles?.draw(pixels, left: x, top: y)
        }
        drawRating(viewer.rating(image.name), x: left + 8, y: top + Double(rect.height) - 32)
    }

    /// Draws squares behind an image with transparency, only where it is visible.
    private func drawCheckerboard(
        _ view: PixelSize, x: Double, y: Double, width: Double, height: Double
    ) {
        let square = 16.0
        let (left, top) = (max(0, x), max(0, y))
        let right = min(Double(view.width), x + width)
        let bottom = min(Double(view.height), y + height)
        guard right > left, bottom > top else { return }
        calotype_draw_clip(left, top, right - left, bottom - top)
        calotype_draw_color(palette.light, left, top, right - left, bottom - top)
        for (row, y) in stride(from: top, to: bottom, by: square).enumerated() {
            let start = left + (row % 2 == 0 ? 0 : square)
            for x in stride(from: start, to: right, by: 2 * square) {
                calotype_draw_color(palette.dark, x, y, square, square)
            }
        }
        calotype_draw_pop()
    }
}
#endif
