// SPDX-License-Identifier: Apache-2.0

internal import Pixels
internal import Glibc

/// Changes a viewer by the wheel, the pointer and fingers, at positions in device pixels.
package struct PointerInput: Sendable {
    /// Whether a point is displayed at 100 % until the button is released.
    private var isHolding = false
    /// The distance of the movement since the button was pressed.
    private var dragged = 0.0

    /// Creates the input before any event.
    package init() {}

    /// Scrolls the grid, shows another image of the film strip, or enlarges the image at the pointer.
    ///
    /// - Parameters:
    ///   - viewer: the viewer that is changed.
    ///   - dx: the steps of the wheel to the right.
    ///   - dy: the steps of the wheel downwards.
    ///   - x: the position of the pointer from the left.
    ///   - y: the position of the pointer from the top.
    ///   - hasControl: whether the image is moved instead.
    package func scroll(
        _ viewer: inout Viewer, dx: Double, dy: Double, x: Double, y: Double, hasControl: Bool
    ) {
        if viewer.mode == .grid {
            viewer.motion.scroll(by: dy * Double(viewer.grid.side) / 2)
        } else if isInFilmstrip(viewer, y) {
            viewer.select((viewer.list.currentIndex ?? 0) + (dy + dx > 0 ? 1 : -1))
        } else if hasControl {
            viewer.place { $0.pan(byX: -dx * 100, y: -dy * 100) }
        } else {
            zoom(&viewer, by: pow(1.2, -dy), x: x, y: y)
        }
    }

    /// Presses the primary button; `count` is 2 for a double click.
    ///
    /// - Returns: whether ``hold(_:x:y:)`` follows if the button is held.
    package mutating func press(
        _ viewer: inout Viewer, _ count: Int, x: Double, y: Double
    ) -> Bool {
        dragged = 0
        if viewer.mode == .grid {
            guard let index = cell(viewer, x: x, y: y) else { return false }
            if count == 2 { viewer.open(index) } else { viewer.select(index) }
        } else if isInFilmstrip(viewer, y) {
            if let index = cell(viewer, x: x, y: y) { viewer.select(index) }
        } else if count == 2 {
            toggleFullSize(&viewer, x: x, y: y)
        } else if let placement = viewer.placement {
            return placement.isFitted && placement.scale < 1
        }
        return false
    }

    /// Shows the point at 100 %, since the button is held.
    package mutating func hold(_ viewer: inout Viewer, x: Double, y: Double) {
        isHolding = true
        toggleFullSize(&viewer, x: x, y: y)
    }

    /// Releases the primary button.
    package mutating func release(_ viewer: inout Viewer) {
        guard isHolding else { return }
        isHolding = false
        viewer.place { $0.fit() }
    }

    /// Moves the content with the pointer by a distance since the last call.
    ///
    /// - Returns: whether ``hold(_:x:y:)`` may still follow.
    package mutating func drag(_ viewer: inout Viewer, dx: Double, dy: Double) -> Bool {
        dragged += abs(dx) + abs(dy)
        if viewer.mode == .grid {
            viewer.motion.drag(by: -dy)
        } else {
            viewer.place { $0.pan(byX: dx, y: dy) }
        }
        return dragged <= 8
    }

    /// Continues the movement of a finger, with its velocity in pixels per second.
    ///
    /// - Returns: the command that it performs.
    package func swipe(_ viewer: inout Viewer, x: Double, y: Double) -> ViewerCommand? {
        if viewer.mode == .grid {
            viewer.motion.fling(-y)
        } else if viewer.placement?.isEnlarged != true, abs(x) > abs(y), abs(x) > 300 {
            return (x < 0) != viewer.isRightToLeft ? .next : .previous
        }
        return nil
    }

    /// Enlarges the image between two fingers by a factor since the last call.
    package func pinch(_ viewer: inout Viewer, _ factor: Double, x: Double, y: Double) {
        if viewer.mode == .single { zoom(&viewer, by: factor, x: x, y: y) }
    }

    /// Returns the image of the cell of the grid or of the film strip at a position.
    package func cell(_ viewer: Viewer, x: Double, y: Double) -> Int? {
        if viewer.mode == .grid {
            return viewer.grid.cell(atX: x, y: y, offset: viewer.motion.offset)
        }
        return isInFilmstrip(viewer, y) ? viewer.filmstrip?.cell(atX: x) : nil
    }

    private func isInFilmstrip(_ viewer: Viewer, _ y: Double) -> Bool {
        viewer.filmstrip.map { y >= Double(viewer.view.height - $0.height) } ?? false
    }

    private func toggleFullSize(_ viewer: inout Viewer, x: Double, y: Double) {
        let (x, y) = positionInPane(viewer, x, y)
        viewer.place { placement in
            if placement.isFitted { placement.zoom(to: 1, atX: x, y: y) } else { placement.fit() }
        }
    }

    private func zoom(_ viewer: inout Viewer, by factor: Double, x: Double, y: Double) {
        let (x, y) = positionInPane(viewer, x, y)
        viewer.place { $0.zoom(to: $0.scale * factor, atX: x, y: y) }
    }

    private func positionInPane(_ viewer: Viewer, _ x: Double, _ y: Double) -> (
        x: Double, y: Double
    ) {
        let panes = viewer.panes
        let rect = panes.rects[panes.index(atX: x, y: y)]
        return (x - Double(rect.x), y - Double(rect.y))
    }
}
