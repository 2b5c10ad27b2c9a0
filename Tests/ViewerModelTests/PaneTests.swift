// SPDX-License-Identifier: Apache-2.0

import Pixels
import Testing
import ViewerModel

@Suite("Images side by side") struct PaneTests {
    private let view = PixelSize(width: 1280, height: 800)

    @Test("have the same size, do not overlap and fill the view", arguments: 1...4)
    func rects(count: Int) {
        let panes = Panes(view, count: count)
        #expect(panes.rects.count == count)
        let whole = PixelRect(view)
        for (index, rect) in panes.rects.enumerated() {
            #expect(rect.size == panes.size && whole.contains(rect))
            let middle = (Double(rect.x + rect.width / 2), Double(rect.y + rect.height / 2))
            #expect(panes.index(atX: middle.0, y: middle.1) == index)
            for other in panes.rects[(index + 1)...] {
                #expect(rect.intersection(other).isEmpty)
            }
        }
        let covered = panes.rects.reduce(0) { $0 + $1.width * $1.height }
        #expect(covered > 1280 * 800 * 98 / 100)
    }

    @Test("start at the right in languages from right to left") func mirrored() {
        #expect(Panes(view, count: 3, isRightToLeft: true).rects[0].x > 800)
        #expect(Panes(view, count: 3).rects[0].x == 0)
    }

    @Test("show the same point at the same enlargement") func inStep() {
        let (small, large) = (
            PixelSize(width: 2000, height: 1500), PixelSize(width: 4000, height: 3000)
        )
        var first = ImagePlacement(small, in: PixelSize(width: 638, height: 800))
        #expect(first.inStep(for: large).isFitted)
        first.zoom(to: 1.3, atX: 100, y: 200)
        first.pan(byX: -333, y: -55)
        let second = first.inStep(for: large)
        #expect(abs(second.scale - 0.65) < 1e-9)
        #expect(abs(second.x - first.x) < 1e-6 && abs(second.y - first.y) < 1e-6)
        // The other way round as well.
        let back = second.inStep(for: small)
        #expect(abs(back.x - first.x) < 1e-6 && abs(back.scale - first.scale) < 1e-9)
    }
}

@Suite("The film strip") struct FilmstripTests {
    private func strip(_ current: Int, isRightToLeft: Bool = false) -> Filmstrip {
        Filmstrip(
            width: 1000, count: 100, current: current, side: 90, gap: 10,
            isRightToLeft: isRightToLeft)
    }

    @Test("has the current image in its middle, and no gap at the edges") func centred() {
        let strip = strip(50)
        #expect(strip.x(of: 50) == 455)
        #expect(strip.height == 110)
        #expect(strip.x(of: strip.visible.lowerBound) <= 0)
        #expect(strip.x(of: strip.visible.upperBound - 1) + 90 >= 1000)
        #expect(self.strip(0).visible.lowerBound == 0)
        #expect(self.strip(99).visible.upperBound == 100)
    }

    @Test("finds the cell at a position", arguments: [false, true])
    func hits(isRightToLeft: Bool) {
        let strip = strip(50, isRightToLeft: isRightToLeft)
        for index in strip.visible {
            let x = Double(strip.x(of: index))
            #expect(strip.cell(atX: x) == index && strip.cell(atX: x + 89) == index)
            #expect(strip.cell(atX: x + 91) == nil)
        }
        #expect((strip.x(of: 51) > strip.x(of: 50)) != isRightToLeft)
    }
}
