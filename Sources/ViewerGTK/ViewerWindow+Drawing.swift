// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import EncodedImages
internal import ImageCommands
internal import ImageLoading
internal import Pixels
internal import ViewerModel

/// Colours as 0xRRGGBBAA.
private enum Palette {
    static let background: UInt32 = 0x1C1C_1EFF
    static let cell: UInt32 = 0x2A2A_2DFF
    static let selection: UInt32 = 0x4A90_E2FF
    static let text: UInt32 = 0xE8E8_E8FF
    static let panel: UInt32 = 0x0000_00C8
    static let light: UInt32 = 0x9999_99FF
    static let dark: UInt32 = 0x6666_66FF
}

extension ViewerWindow {
    /// Draws the grid or the image, and the texts above it.
    func drawContent() {
        let (width, height) = (Double(viewer.view.width), Double(viewer.view.height))
        calotype_draw_color(Palette.background, 0, 0, width, height)
        if viewer.mode == .grid { drawGrid() } else { drawImage() }
        if viewer.explains, viewer.mode == .single, !current.facts.isEmpty {
            drawPanel(current.facts, x: 20, y: 20, width: 600)
        }
        if viewer.showsKeys { drawPanel(keyList, x: width / 2 - 300, y: 40, width: 600) }
        if let message { drawPanel(message, x: 20, y: height - 60, width: width - 40) }
    }

    private func drawPanel(_ text: String, x: Double, y: Double, width: Double) {
        let lines = Double(text.utf8.count { $0 == UInt8(ascii: "\n") } + 1)
        calotype_draw_color(Palette.panel, x, y, width, lines * 18 + 24)
        _ = unsafe calotype_draw_text(text, Palette.text, x + 12, y + 12, width - 24)
    }

    private var keyList: String {
        keyMap.help.map { "\($0.keys.joined(separator: ", "))   \($0.command.text)" }
            .joined(separator: "\n")
    }

    private func drawGrid() {
        let grid = viewer.grid
        let visible = grid.visible(at: viewer.motion.offset)
        loadCells(visible, grid.side)
        for index in visible {
            let origin = grid.origin(of: index)
            let (x, y) = (Double(origin.x), (Double(origin.y) - viewer.motion.offset).rounded())
            let side = Double(grid.side)
            if index == viewer.list.currentIndex {
                calotype_draw_color(Palette.selection, x - 4, y - 4, side + 8, side + 8)
            }
            calotype_draw_color(Palette.cell, x, y, side, side)
            let name = viewer.list[index]
            let cell = cells[ComparedByBytes(name)]
            if let texture = cell?.texture {
                let (w, h) = (Double(texture.size.width), Double(texture.size.height))
                let left = x + ((side - w) / 2).rounded()
                let top = y + ((side - h) / 2).rounded()
                if texture.hasAlpha { drawCheckerboard(x: left, y: top, width: w, height: h) }
                texture.draw(x: left, y: top, width: w, height: h)
            } else if let failure = cell?.failure {
                calotype_draw_clip(x, y, side, side)
                _ = unsafe calotype_draw_text(
                    "\(name)\n\(failure)", Palette.text, x + 8, y + 8, side - 16)
                calotype_draw_pop()
            }
        }
        if viewer.list.count == 0 {
            _ = unsafe calotype_draw_text(
                "no images in \(viewer.folder)", Palette.text, 20, 20, Double(grid.width) - 40)
        }
    }

    /// Loads visible cells, and cancels the loads of those that have left the view.
    private func loadCells(_ visible: Range<Int>, _ side: Int) {
        let names = Set(visible.map { ComparedByBytes(viewer.list[$0]) })
        for (name, cell) in cells where !names.contains(name) {
            cell.load?.cancel()
            cells[name] = nil
        }
        for name in visible.map({ viewer.list[$0] }) where cells[ComparedByBytes(name)] == nil {
            let request = ImageLoads.cellRequest(viewer.path(name), side: side)
            if let loaded = loads.pipeline.cachedImage(for: request) {
                cells[ComparedByBytes(name)] = Cell(texture: Texture(loaded.image))
                continue
            }
            let load = Task { [weak self] in _ = await self?.finishCell(request, name) }
            cells[ComparedByBytes(name)] = Cell(load: load)
        }
        loads.prefetch(viewer)
    }

    private func finishCell(_ request: ImageRequest, _ name: String) async {
        var cell = Cell()
        do throws(FileFailure) {
            cell.texture = Texture(try await loads.image(request).image)
        } catch {
            cell.failure = error.reason
        }
        guard !Task.isCancelled, cells[ComparedByBytes(name)] != nil else { return }
        cells[ComparedByBytes(name)] = cell
        calotype_window_redraw()
    }

    private func drawImage() {
        let (width, height) = (Double(viewer.view.width), Double(viewer.view.height))
        if let failure = current.failure {
            _ = unsafe calotype_draw_text(
                "\(current.name ?? "")\n\(failure)", Palette.text, 40, height / 2 - 20, width - 80)
            return
        }
        guard let placement = viewer.placement, let fitted = current.fitted else { return }
        calotype_draw_clip(0, 0, width, height)
        defer { calotype_draw_pop() }
        if fitted.hasAlpha {
            drawCheckerboard(
                x: placement.x, y: placement.y, width: placement.width, height: placement.height)
        }
        let isEnlarged = !placement.isFitted && placement.scale > placement.fittingScale
        let tiles = isEnlarged ? current.tiles : nil
        // Scaling the whole image takes longer than all tiles.
        if tiles?.isComplete != true { draw(fitted, placement) }
        tiles?.draw(placement)
    }

    private func draw(_ fitted: Texture, _ placement: ImagePlacement) {
        // At the exact size, no pixel is interpolated.
        let isExact =
            placement.isFitted && current.view == viewer.view
            && abs(placement.width - Double(fitted.size.width)) < 1
        let (width, height) =
            isExact
            ? (Double(fitted.size.width), Double(fitted.size.height))
            : (placement.width, placement.height)
        fitted.draw(
            x: placement.x.rounded(), y: placement.y.rounded(), width: width, height: height)
    }

    /// Draws squares behind an image with transparency, only where it is visible.
    private func drawCheckerboard(x: Double, y: Double, width: Double, height: Double) {
        let square = 16.0
        let (left, top) = (max(0, x), max(0, y))
        let right = min(Double(viewer.view.width), x + width)
        let bottom = min(Double(viewer.view.height), y + height)
        guard right > left, bottom > top else { return }
        calotype_draw_clip(left, top, right - left, bottom - top)
        calotype_draw_color(Palette.light, left, top, right - left, bottom - top)
        for (row, y) in stride(from: top, to: bottom, by: square).enumerated() {
            let start = left + (row % 2 == 0 ? 0 : square)
            for x in stride(from: start, to: right, by: 2 * square) {
                calotype_draw_color(Palette.dark, x, y, square, square)
            }
        }
        calotype_draw_pop()
    }
}

extension Duration {
    /// The duration in milliseconds with one decimal.
    var formattedMilliseconds: String {
        let tenths = Int((self / .milliseconds(1) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
#endif
