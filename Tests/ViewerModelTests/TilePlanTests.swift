// SPDX-License-Identifier: Apache-2.0

import ImageLoading
import Pixels
import Testing
import ViewerModel

@Suite("The tiles of an enlarged image") struct TilePlanTests {
    private let image = PixelSize(width: 20_001, height: 9_999)

    private func placement(_ scale: Double, _ x: Double, _ y: Double) -> ImagePlacement {
        var placement = ImagePlacement(image, in: PixelSize(width: 1280, height: 800))
        placement.zoom(to: scale, atX: 640, y: 400)
        placement.pan(byX: x, y: y)
        return placement
    }

    @Test(
        "cover each visible device pixel exactly once",
        arguments: [0.07, 0.1234, 0.25, 0.333, 0.5, 0.77, 1, 1.5])
    func covers(scale: Double) {
        let pyramid = TilePyramid(image, tileSide: 512)
        for (x, y) in [(0.0, 0.0), (-1e6, -1e6), (1e6, 1e6), (333.4, -777.7)] {
            let placement = placement(scale, x, y)
            let plan = TilePlan(placement, pyramid)
            var counts = [Int](repeating: 0, count: 1280 * 800)
            let (left, top) = (Int(placement.x.rounded()), Int(placement.y.rounded()))
            for tile in plan.visible {
                for y in max(0, top + tile.y)..<max(0, min(800, top + tile.y + tile.size.height)) {
                    let columns =
                        max(0, left + tile.x)..<max(0, min(1280, left + tile.x + tile.size.width))
                    for x in columns { counts[y * 1280 + x] += 1 }
                }
            }
            let rows = max(0, top)..<min(800, top + Int((placement.height).rounded()))
            let columns = max(0, left)..<min(1280, left + Int((placement.width).rounded()))
            for y in rows {
                #expect(
                    counts[(y * 1280 + columns.lowerBound)...].prefix(columns.count).allSatisfy {
                        $0 == 1
                    })
            }
        }
    }

    @Test("are kept at the device pixels that they cover, or at their own size from 100 %")
    func sizes() {
        let pyramid = TilePyramid(image, tileSide: 512)
        for scale in [0.1234, 0.5, 0.99] {
            for tile in TilePlan(placement(scale, 0, 0), pyramid).visible {
                let own = pyramid.rect(of: tile.address).size
                #expect(tile.textureSize == tile.size)
                // Reduced, by less than half.
                #expect(tile.size.width <= own.width && tile.size.width * 2 >= own.width)
            }
        }
        for scale in [1.0, 4] {
            for tile in TilePlan(placement(scale, 0, 0), pyramid).visible {
                #expect(tile.address.level == 0)
                #expect(tile.textureSize == pyramid.rect(of: tile.address).size)
                #expect(tile.size.width == Int(scale) * tile.textureSize.width)
            }
        }
    }

    @Test("that panning shows next surround the visible ones") func near() {
        let pyramid = TilePyramid(image, tileSide: 512)
        let plan = TilePlan(placement(1, 100, 100), pyramid)
        #expect(Set(plan.near).isDisjoint(with: plan.visible))
        let next = TilePlan(placement(1, 100 + 512, 100), pyramid)
        #expect(Set(next.visible).isSubset(of: Set(plan.visible + plan.near)))
        // At the corner, only two sides remain.
        #expect(TilePlan(placement(1, 1e6, 1e6), pyramid).near.count < plan.near.count)
    }
}
