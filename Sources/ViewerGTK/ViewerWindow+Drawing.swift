// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import EncodedImages
internal import ImageCodecs
internal import ImageCommands
internal import ImageLoading
internal import LoadScheduling
internal import Pixels
internal import ViewerModel

extension ViewerWindow {
    /// Draws the grid or the images, and the texts above them.
    func drawContent() {
        let (width, height) = (Double(viewer.view.width), Double(viewer.view.height))
        // The theme may change at any time.
        palette = viewer.mode == .single || calotype_theme_is_dark() ? .dark : .light
        calotype_draw_color(palette.background, 0, 0, width, height)
        if viewer.mode == .grid { drawGrid() } else { drawImages() }
        drawPanels(width, height)
        updateAccessibleCells()
    }

    private func drawGrid() {
        let grid = viewer.grid
        let visible = grid.visible(at: viewer.motion.offset)
        let isFast = viewer.motion.passes(Double(grid.height), within: 0.3)
        loadCells(visible.map { viewer.list[$0] }, grid.side, onlyFromMemory: isFast)
        placeholders.make(
            grid.appearing(at: viewer.motion.offset, velocity: viewer.motion.velocity)
                .map { ComparedByBytes(viewer.list[$0]) })
        // Many images would be late, and the placeholders would wait for them.
        loads.prefetch(viewer, isPaused: isFast && placeholders.areMissing)
        for index in visible {
            let origin = grid.origin(of: index)
            let (x, y) = (Double(origin.x), (Double(origin.y) - viewer.motion.offset).rounded())
            drawCell(index, x: x, y: y, side: Double(grid.side))
        }
        if viewer.list.count == 0 {
            let text = text(.noImages(folder: viewer.folder))
            _ = unsafe calotype_draw_text(text, palette.text, 20, 20, Double(grid.width) - 40)
        }
    }

    private func drawCell(_ index: Int, x: Double, y: Double, side: Double) {
        let name = viewer.list[index]
        if index == viewer.list.currentIndex {
            calotype_draw_color(palette.selection, x - 4, y - 4, side + 8, side + 8)
        }
        calotype_draw_color(palette.cell, x, y, side, side)
        let cell = cells[ComparedByBytes(name)]
        if let texture = cell?.texture {
            let largest = Double(max(texture.size.width, texture.size.height))
            // A draft is smaller than the image will be.
            let scale = cell?.isComplete == true ? min(1, side / largest) : side / largest
            let width = (Double(texture.size.width) * scale).rounded()
            let height = (Double(texture.size.height) * scale).rounded()
            let left = x + ((side - width) / 2).rounded()
            let top = y + ((side - height) / 2).rounded()
            if texture.hasAlpha { drawCheckerboard(x: left, y: top, width: width, height: height) }
            texture.draw(x: left, y: top, width: width, height: height)
        } else if let failure = cell?.failure {
            calotype_draw_clip(x, y, side, side)
            _ = unsafe calotype_draw_text(
                "\(name)\n\(failure)", palette.text, x + 8, y + 8, side - 16)
            calotype_draw_pop()
        }
        drawRating(name, x: x, y: y + side - 24)
    }

    private func drawRating(_ name: String, x: Double, y: Double) {
        guard let rating = viewer.rating(name), rating != 0 else { return }
        let text = rating < 0 ? "✕" : String(repeating: "★", count: rating)
        calotype_draw_color(palette.panel, x, y, rating < 0 ? 24 : 12 + 14 * Double(rating), 24)
        _ = unsafe calotype_draw_text(text, palette.panelText, x + 6, y + 3, 100)
    }

    /// Loads cells, and cancels the loads of those that have left the view.
    ///
    /// - Parameters:
    ///   - visible: the names of the images.
    ///   - side: the side of a cell of the grid.
    ///   - onlyFromMemory: whether no load is started, since it would end too late.
    func loadCells(_ visible: [String], _ side: Int, onlyFromMemory: Bool = false) {
        let names = visible.map { ComparedByBytes($0) }
        endCells(except: Set(names))
        for name in names {
            var cell = cells[name] ?? Cell()
            guard !cell.isComplete else { continue }
            let request = loads.cellRequest(name.wrappedValue, side: side)
            if cell.load == nil, let loaded = loads.pipeline.cachedImage(for: request),
                !loaded.isPreview
            {
                cells[name] = Cell(texture: Texture(loaded.image), isComplete: true)
                continue
            }
            // A placeholder may have been made since the load was started.
            if cell.texture == nil { cell.texture = draft(of: name, request) }
            if cell.load == nil, !onlyFromMemory {
                cell.load = Task { [weak self] in await self?.finishCell(request, name) }
            }
            cells[name] = cell
        }
    }

    /// Drops cells, and cancels their loads.
    func endCells(except names: Set<ComparedByBytes> = []) {
        for (name, cell) in cells where !names.contains(name) {
            cell.load?.cancel()
            cells[name] = nil
        }
    }

    /// Cancels the loads of cells, since none is displayed; their images stay.
    func endCellLoads() {
        for (name, cell) in cells where cell.load != nil {
            cell.load?.cancel()
            cells[name]?.load = nil
        }
    }

    /// Returns a coarse image of a cell: one of another size in memory, such as a level of detail that
    /// was prefetched, or the stored placeholder.
    private func draft(of name: ComparedByBytes, _ request: ImageRequest) -> Texture? {
        let pipeline = loads.pipeline
        let other =
            pipeline.sharpestCachedImage(for: request)?.image
            ?? pipeline.placeholder(for: request)
        if let other { return Texture(other.image) }
        guard let image = placeholders.image(name) else { return nil }
        return Texture((try? loads.monitor?.profile.converted(image)) ?? image)
    }

    private func finishCell(_ request: ImageRequest, _ name: ComparedByBytes) async {
        var cell = Cell(isComplete: true)
        do throws(FileFailure) {
            cell.texture = Texture(try await loads.image(request).image)
        } catch {
            cell.failure = error.reason
        }
        guard !Task.isCancelled, cells[name] != nil else { return }
        cells[name] = cell
        calotype_window_redraw()
    }

    private func drawImages() {
        let panes = viewer.panes
        for (image, rect) in zip(shown, panes.rects) {
            calotype_draw_clip(
                Double(rect.x), Double(rect.y), Double(rect.width), Double(rect.height))
            drawImage(image, rect)
            calotype_draw_pop()
        }
        guard let strip = viewer.filmstrip else { return }
        let top = Double(viewer.view.height - strip.height)
        // The grid's cells, drawn smaller: both show the same images.
        loadCells(strip.visible.map { viewer.list[$0] }, viewer.grid.side)
        for index in strip.visible {
            drawCell(
                index, x: Double(strip.x(of: index)), y: top + Double(strip.gap),
                side: Double(strip.side))
        }
    }

    private func drawImage(_ image: ShownImage, _ rect: PixelRect) {
        let (left, top) = (Double(rect.x), Double(rect.y))
        if let failure = image.failure {
            _ = unsafe calotype_draw_text(
                "\(image.name)\n\(failure)", palette.text, left + 40,
                top + Double(rect.height) / 2 - 20, Double(rect.width) - 80)
            return
        }
        guard let placement = placement(image), let fitted = image.fitted else { return }
        let (x, y) = (left + placement.x.rounded(), top + placement.y.rounded())
        if fitted.hasAlpha {
            drawCheckerboard(x: x, y: y, width: placement.width, height: placement.height)
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
        if let pixels = tilePlacement(image) { tiles?.draw(pixels, left: x, top: y) }
        drawRating(image.name, x: left + 8, y: top + Double(rect.height) - 32)
    }

    /// Draws squares behind an image with transparency, only where it is visible.
    private func drawCheckerboard(x: Double, y: Double, width: Double, height: Double) {
        let square = 16.0
        let (left, top) = (max(0, x), max(0, y))
        let right = min(Double(viewer.view.width), x + width)
        let bottom = min(Double(viewer.view.height), y + height)
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
