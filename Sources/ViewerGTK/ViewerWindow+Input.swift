// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import ImageCommands
internal import Pixels
internal import ViewerModel

extension ViewerWindow {
    func pressKey(_ name: String) -> Bool {
        // The arrow keys follow the order on the screen.
        let mirrored = ["Left": "Right", "Right": "Left"][name]
        guard let command = keyMap[viewer.isRightToLeft ? mirrored ?? name : name] else {
            return false
        }
        perform(command)
        return true
    }

    /// Selects the image whose name starts with the typed text; a pause starts a new text.
    func type(_ character: Unicode.Scalar, at seconds: Double) {
        if seconds - typedAt > 1.5 { typed = "" }
        typedAt = seconds
        typed.unicodeScalars.append(character)
        if let index = viewer.list.index(startingWith: typed) { viewer.select(index) }
        message = typed
        change()
    }

    func scroll(dx: Double, dy: Double, x: Double, y: Double, hasControl: Bool) {
        if viewer.mode == .grid {
            viewer.motion.scroll(by: dy * Double(viewer.grid.side) / 2)
        } else if isInFilmstrip(y) {
            viewer.select((viewer.list.currentIndex ?? 0) + (dy + dx > 0 ? 1 : -1))
        } else if hasControl {
            viewer.place { $0.pan(byX: -dx * 100, y: -dy * 100) }
        } else {
            zoom(by: pow(1.2, -dy), x: x, y: y)
        }
        change()
    }

    func press(_ count: Int, x: Double, y: Double) {
        dragged = 0
        if viewer.mode == .grid {
            guard let index = viewer.grid.cell(atX: x, y: y, offset: viewer.motion.offset) else {
                return
            }
            if count == 2 { viewer.open(index) } else { viewer.select(index) }
        } else if isInFilmstrip(y) {
            if let index = viewer.filmstrip?.cell(atX: x) { viewer.select(index) }
        } else if count == 2 {
            toggleFullSize(x: x, y: y)
        } else {
            startHold(x: x, y: y)
        }
        change()
    }

    /// Shows the point at 100 % while the button is held.
    private func startHold(x: Double, y: Double) {
        guard let placement = viewer.placement, placement.isFitted, placement.scale < 1 else {
            return
        }
        hold = Task { [weak self] in
            guard (try? await Task.sleep(for: .milliseconds(250))) != nil, let self else { return }
            isHolding = true
            toggleFullSize(x: x, y: y)
            change()
        }
    }

    func release() {
        hold?.cancel()
        guard isHolding else { return }
        isHolding = false
        viewer.place { $0.fit() }
        change()
    }

    func drag(dx: Double, dy: Double) {
        dragged += abs(dx) + abs(dy)
        if !isHolding, dragged > 8 { hold?.cancel() }
        if viewer.mode == .grid {
            viewer.motion.drag(by: -dy)
        } else {
            viewer.place { $0.pan(byX: dx, y: dy) }
        }
        change()
    }

    /// Continues the movement of a finger.
    func swipe(x: Double, y: Double) {
        if viewer.mode == .grid {
            viewer.motion.fling(-y)
        } else if viewer.placement?.isEnlarged != true, abs(x) > abs(y), abs(x) > 300 {
            perform((x < 0) != viewer.isRightToLeft ? .next : .previous)
        }
        change()
    }

    func pinch(_ factor: Double, x: Double, y: Double) {
        guard viewer.mode == .single else { return }
        zoom(by: factor, x: x, y: y)
        change()
    }

    /// Returns the URI of the file that is dragged out of the window, which starts at a cell.
    func draggedURI(x: Double, y: Double) -> String? {
        guard viewer.kind == .files else { return nil }
        var index: Int?
        if viewer.mode == .grid {
            index = viewer.grid.cell(atX: x, y: y, offset: viewer.motion.offset)
        } else if isInFilmstrip(y) {
            index = viewer.filmstrip?.cell(atX: x)
        }
        return index.flatMap { FileURI(viewer.path(viewer.list[$0]))?.text }
    }

    /// Opens an image by its cell.
    func activate(_ index: Int) {
        guard index < viewer.list.count else { return }
        if viewer.mode == .grid { viewer.open(index) } else { viewer.select(index) }
        change()
    }

    private func isInFilmstrip(_ y: Double) -> Bool {
        viewer.filmstrip.map { y >= Double(viewer.view.height - $0.height) } ?? false
    }

    private func toggleFullSize(x: Double, y: Double) {
        let (x, y) = positionInPane(x, y)
        viewer.place { placement in
            if placement.isFitted { placement.zoom(to: 1, atX: x, y: y) } else { placement.fit() }
        }
    }

    private func zoom(by factor: Double, x: Double, y: Double) {
        let (x, y) = positionInPane(x, y)
        viewer.place { $0.zoom(to: $0.scale * factor, atX: x, y: y) }
    }

    private func positionInPane(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
        let panes = viewer.panes
        let rect = panes.rects[panes.index(atX: x, y: y)]
        return (x - Double(rect.x), y - Double(rect.y))
    }
}
#endif
