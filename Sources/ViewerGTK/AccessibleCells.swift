// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import Pixels
internal import ViewerModel

/// Tells screen readers which cells or images are visible.
@MainActor
final class AccessibleCells {
    /// What screen readers have been told.
    private struct State: Equatable {
        let mode: Viewer.Mode
        let view: PixelSize
        let offset: Double
        let current: Int?
        let count: Int
        let name: String?
        let shownCount: Int
        let hasFilmstrip: Bool
    }

    private let language: ViewerLanguage
    private var state: State?

    init(_ language: ViewerLanguage) { self.language = language }

    func update(_ viewer: Viewer) {
        // While the grid moves, the cells have no lasting position.
        guard !viewer.motion.isMoving || viewer.mode == .single else { return }
        let state = State(
            mode: viewer.mode, view: viewer.view, offset: viewer.motion.offset,
            current: viewer.list.currentIndex, count: viewer.list.count, name: viewer.list.current,
            shownCount: viewer.shown.count, hasFilmstrip: viewer.filmstrip != nil)
        guard state != self.state else { return }
        self.state = state
        calotype_cells_begin()
        if viewer.mode == .grid {
            let grid = viewer.grid
            for index in grid.visible(at: viewer.motion.offset) {
                let origin = grid.origin(of: index)
                add(
                    index, of: viewer, x: Double(origin.x),
                    y: Double(origin.y) - viewer.motion.offset,
                    PixelSize(width: grid.side, height: grid.side), isImage: false)
            }
        } else {
            for (index, rect) in zip(viewer.shown, viewer.panes.rects) {
                add(
                    index, of: viewer, x: Double(rect.x), y: Double(rect.y), rect.size,
                    isImage: true)
            }
        }
        if let strip = viewer.filmstrip {
            for index in strip.visible where !viewer.shown.contains(index) {
                add(
                    index, of: viewer, x: Double(strip.x(of: index)),
                    y: Double(viewer.view.height - strip.height + strip.gap),
                    PixelSize(width: strip.side, height: strip.side), isImage: false)
            }
        }
        calotype_cells_end()
    }

    private func add(
        _ index: Int, of viewer: Viewer, x: Double, y: Double, _ size: PixelSize, isImage: Bool
    ) {
        let label = ViewerText.cell(
            name: viewer.list[index], number: index + 1, count: viewer.list.count)
        unsafe calotype_cells_add(
            Int32(index), label.text(in: language), x, y, Double(size.width), Double(size.height),
            isImage, index == viewer.list.currentIndex)
    }
}
#endif
