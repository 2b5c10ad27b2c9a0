// SPDX-License-Identifier: Apache-2.0

import Pixels
import Testing
import ViewerModel

@Suite("The pointer") struct PointerInputTests {
    private func viewer(_ first: String?, isRightToLeft: Bool = false) -> Viewer {
        var viewer = Viewer(
            folder: "/nowhere", first: first, editor: FolderEditor(trashFolder: "/nowhere"),
            isRightToLeft: isRightToLeft)
        viewer.resize(to: PixelSize(width: 1280, height: 800))
        viewer.add((0..<200).map { "p\($0).jpg" })
        if first != nil { viewer.setImageSize(PixelSize(width: 4000, height: 3000)) }
        return viewer
    }

    /// Returns the point of the image at a point of the view.
    private func point(_ viewer: Viewer, _ x: Double, _ y: Double) -> (x: Double, y: Double) {
        guard let placement = viewer.placement else { return (.nan, .nan) }
        return ((x - placement.x) / placement.scale, (y - placement.y) / placement.scale)
    }

    @Test("selects a cell by a click, and opens it by a double click") func clicks() {
        var (viewer, pointer) = (viewer(nil), PointerInput())
        let origin = viewer.grid.origin(of: 3)
        let (x, y) = (Double(origin.x) + 5, Double(origin.y) + 5)
        #expect(pointer.cell(viewer, x: x, y: y) == 3)
        #expect(!pointer.press(&viewer, 1, x: x, y: y))
        #expect(viewer.list.currentIndex == 3 && viewer.mode == .grid)
        #expect(!pointer.press(&viewer, 2, x: x, y: y))
        #expect(viewer.mode == .single)
        #expect(pointer.cell(viewer, x: x, y: y) == nil)
    }

    @Test("enlarges the image at the wheel, whose point stays there") func wheel() {
        var viewer = viewer("p1.jpg")
        let before = point(viewer, 600, 300)
        let scale = viewer.placement?.scale ?? 0
        PointerInput().scroll(&viewer, dx: 0, dy: -20, x: 600, y: 300, hasControl: false)
        let after = point(viewer, 600, 300)
        #expect(viewer.placement?.scale ?? 0 > 10 * scale)
        #expect(abs(after.x - before.x) < 0.01 && abs(after.y - before.y) < 0.01)
        let (x, y) = (viewer.placement?.x ?? 0, viewer.placement?.y ?? 0)
        PointerInput().scroll(&viewer, dx: 1, dy: 2, x: 600, y: 300, hasControl: true)
        #expect(viewer.placement?.x == x - 100 && viewer.placement?.y == y - 200)
    }

    @Test("shows 100 % while the button is held, unless it moves") func holding() {
        var (viewer, pointer) = (viewer("p1.jpg"), PointerInput())
        #expect(pointer.press(&viewer, 1, x: 400, y: 400))
        #expect(pointer.drag(&viewer, dx: 3, dy: 4))
        #expect(!pointer.drag(&viewer, dx: 3, dy: 0))
        #expect(pointer.press(&viewer, 1, x: 400, y: 400))
        pointer.hold(&viewer, x: 400, y: 400)
        #expect(viewer.placement?.scale == 1)
        // Not again while it is enlarged.
        #expect(!pointer.press(&viewer, 1, x: 400, y: 400))
        pointer.release(&viewer)
        #expect(viewer.placement?.isFitted == true)
    }

    @Test("a release that ends no hold changes nothing, and a double click toggles 100 %")
    func doubleClick() {
        var (viewer, pointer) = (viewer("p1.jpg"), PointerInput())
        _ = pointer.press(&viewer, 2, x: 400, y: 400)
        pointer.release(&viewer)
        #expect(viewer.placement?.scale == 1)
        _ = pointer.press(&viewer, 2, x: 400, y: 400)
        #expect(viewer.placement?.isFitted == true)
    }

    @Test(
        "changes the image by a swipe along the order, only if it is fitted",
        arguments: [false, true])
    func swipes(isRightToLeft: Bool) {
        var viewer = viewer("p1.jpg", isRightToLeft: isRightToLeft)
        let pointer = PointerInput()
        #expect(pointer.swipe(&viewer, x: -400, y: 10) == (isRightToLeft ? .previous : .next))
        #expect(pointer.swipe(&viewer, x: 400, y: 10) == (isRightToLeft ? .next : .previous))
        #expect(pointer.swipe(&viewer, x: -200, y: 10) == nil)
        #expect(pointer.swipe(&viewer, x: -400, y: 500) == nil)
        pointer.pinch(&viewer, 3, x: 640, y: 400)
        #expect(pointer.swipe(&viewer, x: -400, y: 10) == nil)
    }

    @Test("opens neighbours in the film strip by clicks and by the wheel") func filmstrip() throws {
        var (viewer, pointer) = (viewer("p100.jpg"), PointerInput())
        _ = viewer.perform(.filmstrip)
        let strip = try #require(viewer.filmstrip)
        let (x, y) = (Double(strip.x(of: 101)) + 5, Double(viewer.view.height) - 30)
        #expect(pointer.cell(viewer, x: x, y: y) == 101)
        #expect(!pointer.press(&viewer, 1, x: x, y: y))
        #expect(viewer.list.currentIndex == 101)
        pointer.scroll(&viewer, dx: 0, dy: -1, x: x, y: y, hasControl: false)
        #expect(viewer.list.currentIndex == 100)
    }

    @Test("moves the grid by the wheel, a drag and a finger") func grid() {
        var (viewer, pointer) = (viewer(nil), PointerInput())
        _ = pointer.drag(&viewer, dx: 0, dy: -30)
        #expect(viewer.motion.offset == 30)
        pointer.scroll(&viewer, dx: 0, dy: 1, x: 0, y: 0, hasControl: false)
        #expect(viewer.motion.isMoving)
        pointer.pinch(&viewer, 2, x: 0, y: 0)
        #expect(viewer.placement == nil)
        #expect(pointer.swipe(&viewer, x: -400, y: 10) == nil)
    }

    @Test("typed text starts anew after a pause") func typedText() {
        var typed = TypedText()
        for (character, time) in zip("ab".unicodeScalars, [10, 11.4]) {
            typed.append(character, at: time)
        }
        #expect(typed.text == "ab")
        typed.append("c", at: 13)
        #expect(typed.text == "c")
    }
}
