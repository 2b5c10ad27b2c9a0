// SPDX-License-Identifier: Apache-2.0

import Pixels
import Testing
import ViewerModel

@Suite("The grid") struct CellGridTests {
    private let grid = CellGrid(width: 1000, height: 500, count: 95, side: 190, gap: 10)

    @Test("places cells inside the view, without overlap") func places() {
        #expect(grid.columnCount == 4)
        let origins = (0..<grid.count).map { grid.origin(of: $0) }
        for origin in origins {
            #expect(origin.x >= 10 && origin.x + grid.side <= grid.width - 10)
        }
        #expect(Set(origins.map { "\($0.x) \($0.y)" }).count == grid.count)
        #expect(origins[4].y - origins[0].y == 200)
    }

    @Test("finds the cell at each point of the cell, and none between") func hits() {
        for offset in [0.0, 333, grid.maximumOffset] {
            for index in grid.visible(at: offset) {
                let (x, y) = grid.origin(of: index)
                let top = Double(y) - offset
                #expect(grid.cell(atX: Double(x), y: top, offset: offset) == index)
                #expect(grid.cell(atX: Double(x + 189), y: top + 189, offset: offset) == index)
                #expect(grid.cell(atX: Double(x - 1), y: top, offset: offset) != index)
                #expect(grid.cell(atX: Double(x), y: top - 1, offset: offset) != index)
            }
        }
    }

    @Test("reveals a cell completely, and moves no further") func reveals() {
        for index in 0..<grid.count {
            for start in [0.0, 700, grid.maximumOffset] {
                let offset = grid.offset(revealing: index, from: start)
                let top = Double(grid.origin(of: index).y) - offset
                #expect(top >= 0 && top + 190 <= 500)
                let startTop = Double(grid.origin(of: index).y) - start
                if startTop >= 10, startTop + 200 <= 500 { #expect(offset == start) }
            }
        }
    }

    @Test("orders cells by when they are needed, in either direction") func appearing() {
        let visible = Array(4..<16)
        #expect(Array(grid.visible(at: 200)) == visible)
        #expect(grid.appearing(at: 200, velocity: 0) == visible + Array(16..<24))
        #expect(grid.appearing(at: 200, velocity: 900) == Array(16..<24) + visible)
        // All that appear within half a second.
        #expect(grid.appearing(at: 200, velocity: 2400) == Array(16..<40) + visible)
        #expect(grid.appearing(at: 200, velocity: -900) == [3, 2, 1, 0] + visible)
        #expect(grid.appearing(at: 0, velocity: -900) == Array(grid.visible(at: 0)))
    }

    @Test("has one column in a narrow view") func narrow() {
        let grid = CellGrid(width: 5, height: 5, count: 3, side: 190, gap: 10)
        #expect(grid.columnCount == 1)
        #expect(grid.origin(of: 2).x == 0)
    }
}

@Suite("The motion of the grid") struct ScrollMotionTests {
    @Test(
        "ends at the target, whatever the frame rate", arguments: [1.0 / 30, 1.0 / 60, 1.0 / 144])
    func wheel(frame: Double) {
        var motion = ScrollMotion()
        motion.limit = 1000
        motion.scroll(by: 100)
        motion.scroll(by: 100)
        var time = 0.0
        while motion.isMoving {
            motion.advance(by: frame)
            time += frame
        }
        #expect(motion.offset == 200)
        #expect(time < 0.6)
    }

    @Test("depends on the time, not on the number of frames") func frames() {
        var (one, many) = (ScrollMotion(), ScrollMotion())
        one.limit = 1e6
        many.limit = 1e6
        one.fling(5_000)
        many.fling(5_000)
        one.advance(by: 0.25)
        for _ in 0..<25 { many.advance(by: 0.01) }
        #expect(abs(one.offset - many.offset) < 1e-6)
        #expect(abs(one.velocity - 5_000 * 0.463) < 10)
    }

    @Test("is known to be too fast for a load, in either direction") func fast() {
        var motion = ScrollMotion()
        motion.limit = 1e6
        motion.jump(to: 5e5)
        #expect(!motion.passes(800, within: 0.3))
        for velocity in [2_000.0, -2_000] {
            motion.fling(velocity)
            #expect(!motion.passes(800, within: 0.3))
            #expect(motion.passes(500, within: 0.3))
        }
    }

    @Test("never leaves the content") func limits() {
        var motion = ScrollMotion()
        motion.limit = 50
        motion.fling(1e9)
        motion.advance(by: 10)
        #expect(motion.offset == 50)
        motion.scroll(by: -1e9)
        motion.advance(by: 10)
        #expect(motion.offset == 0)
        motion.jump(to: 50)
        motion.limit = 20
        #expect(motion.offset == 20)
        #expect(!motion.isMoving)
    }
}

@Suite("The placement of an image") struct ImagePlacementTests {
    private let view = PixelSize(width: 800, height: 600)

    @Test("fits large images, centred, and does not enlarge small ones") func fits() {
        let large = ImagePlacement(PixelSize(width: 4000, height: 2000), in: view)
        #expect(large.scale == 0.2)
        #expect(large.x == 0 && large.y == 100)
        let small = ImagePlacement(PixelSize(width: 100, height: 50), in: view)
        #expect(small.scale == 1)
        #expect(small.x == 350 && small.y == 275)
        #expect(small.visiblePart == PixelRect(x: 0, y: 0, width: 100, height: 50))
    }

    @Test("keeps the point under the pointer while zooming") func anchor() {
        var placement = ImagePlacement(PixelSize(width: 4000, height: 3000), in: view)
        for scale in [0.5, 1, 3, 1] {
            let point = (300 - placement.x) / placement.scale
            placement.zoom(to: scale, atX: 300, y: 200)
            #expect(abs((300 - placement.x) / placement.scale - point) < 1e-9)
        }
        #expect(!placement.isFitted)
    }

    @Test("leaves no gap beside an image that covers the view") func clamps() {
        var placement = ImagePlacement(PixelSize(width: 4000, height: 3000), in: view)
        placement.zoom(to: 1, atX: 0, y: 0)
        placement.pan(byX: 500, y: 500)
        #expect(placement.x == 0 && placement.y == 0)
        placement.pan(byX: -1e6, y: -1e6)
        #expect(placement.x == -3200 && placement.y == -2400)
        #expect(placement.visiblePart == PixelRect(x: 3200, y: 2400, width: 800, height: 600))
    }

    @Test("stays fitted when the window changes") func resizes() {
        var placement = ImagePlacement(PixelSize(width: 4000, height: 3000), in: view)
        placement.resize(to: PixelSize(width: 400, height: 300))
        #expect(placement.scale == 0.1)
        placement.zoom(to: 1, atX: 200, y: 150)
        let middle = (200 - placement.x, 150 - placement.y)
        placement.resize(to: view)
        #expect(placement.scale == 1)
        #expect((400 - placement.x, 300 - placement.y) == middle)
    }

    @Test("is limited in scale") func scales() {
        var placement = ImagePlacement(PixelSize(width: 4000, height: 3000), in: view)
        placement.zoom(to: 1e9, atX: 0, y: 0)
        #expect(placement.scale == ImagePlacement.maximumScale)
        placement.zoom(to: 1e-9, atX: 0, y: 0)
        #expect(placement.scale == 0.1)
    }
}
