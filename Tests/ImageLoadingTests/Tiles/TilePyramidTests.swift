// SPDX-License-Identifier: Apache-2.0

import ImageLoading
import ImageTesting
import Pixels
import Testing

@Suite("A tile pyramid") struct TilePyramidTests {
    private static let sizes = [(1, 1), (1, 1000), (999, 1), (256, 256), (257, 256), (1025, 513)]
        .map { PixelSize(width: $0.0, height: $0.1) }

    @Test("covers every level with tiles, once", arguments: sizes, [1, 64, 256])
    func coverage(_ size: PixelSize, _ side: Int) {
        let pyramid = TilePyramid(size, tileSide: side)
        let last = pyramid.size(ofLevel: pyramid.levelCount - 1)
        #expect(last.largestSide <= side)
        #expect(pyramid.levelCount == 1 || pyramid.size(ofLevel: 0) == size)
        for level in 0..<pyramid.levelCount {
            let levelSize = pyramid.size(ofLevel: level)
            #expect(levelSize == size.shrunk(by: 1 << level))
            if level > 0 {
                #expect(levelSize == pyramid.size(ofLevel: level - 1).shrunk(by: 2))
            }
            let tiles = pyramid.tiles.filter { $0.level == level }
            let (columns, rows) = pyramid.tileCounts(ofLevel: level)
            #expect(tiles.count == columns * rows)
            // They lie within the level, in cells of their own, so equal areas leave no gap.
            var area = 0
            for tile in tiles {
                let rect = pyramid.rect(of: tile)
                area += rect.size.area
                if !PixelRect(levelSize).contains(rect) || rect.isEmpty
                    || rect.x != tile.x * side || rect.y != tile.y * side
                    || rect.width > side || rect.height > side
                {
                    Issue.record("\(tile) covers \(rect)")
                }
            }
            #expect(area == levelSize.area)
            let whole = tiles.reduce(0) { $0 + pyramid.imageRect(of: $1).size.area }
            #expect(whole == size.area)
            #expect(!pyramid.contains(TileAddress(level: level, x: columns, y: 0)))
            #expect(!pyramid.contains(TileAddress(level: level, x: 0, y: -1)))
        }
        #expect(!pyramid.contains(TileAddress(level: pyramid.levelCount, x: 0, y: 0)))
        #expect(!pyramid.contains(TileAddress(level: -1, x: 0, y: 0)))
    }

    @Test("selects the coarsest level with enough pixels") func levelForScale() {
        let pyramid = TilePyramid(PixelSize(width: 8192, height: 100))
        #expect(pyramid.levelCount == 6)
        let levels = [4, 1, 0.75, 0.5, 0.49, 0.25, 0.05, 1e-9].map { pyramid.level(forScale: $0) }
        #expect(levels == [0, 0, 0, 1, 1, 2, 4, 5])
    }

    @Test("returns the tiles of a viewport, coarse and near ones first")
    func viewport() {
        let pyramid = TilePyramid(PixelSize(width: 3001, height: 2003), tileSide: 100)
        var random = SeededRandom(seed: 1)
        for _ in 0..<50 {
            let viewport = SampleRegion(
                x: .random(in: -500...3200, using: &random),
                y: .random(in: -500...2200, using: &random),
                width: .random(in: 1...1500, using: &random),
                height: .random(in: 1...1500, using: &random))
            let scale = Double.random(in: 0.05...2, using: &random)
            let tiles = pyramid.tiles(in: viewport, scale: scale)
            let finest = pyramid.level(forScale: scale)
            let seen = pyramid.tiles.filter { tile in
                let rect = pyramid.imageRect(of: tile)
                return tile.level >= finest && Double(rect.x) < viewport.x + viewport.width
                    && Double(rect.x + rect.width) > viewport.x
                    && Double(rect.y) < viewport.y + viewport.height
                    && Double(rect.y + rect.height) > viewport.y
            }
            #expect(Set(tiles) == Set(seen))
            #expect(tiles.count == seen.count)
            for (one, next) in zip(tiles, tiles.dropFirst()) {
                #expect(one.level >= next.level)
                guard one.level == next.level else { continue }
                let side = Double(100 << one.level)
                func distance(_ tile: TileAddress) -> Double {
                    let dx = (Double(tile.x) + 0.5) * side - viewport.x - viewport.width / 2
                    let dy = (Double(tile.y) + 0.5) * side - viewport.y - viewport.height / 2
                    return dx * dx + dy * dy
                }
                #expect(distance(one) <= distance(next) * 1.0001 + 0.01)
            }
            let few = pyramid.tiles(in: viewport, scale: scale, coarserLevelCount: 0)
            #expect(few == tiles.filter { $0.level == finest })
        }
        let outside = SampleRegion(x: 4000, y: 0, width: 10, height: 10)
        #expect(pyramid.tiles(in: outside, scale: 1).isEmpty)
    }

    @Test("returns the area of a tile in a coarser one") func ancestors() {
        let pyramid = TilePyramid(PixelSize(width: 1025, height: 300), tileSide: 64)
        let tile = TileAddress(level: 0, x: 16, y: 4)
        let (parent, region) = pyramid.ancestor(of: tile, atLevel: 1)
        #expect(parent == TileAddress(level: 1, x: 8, y: 2))
        #expect(region == SampleRegion(x: 0, y: 0, width: 0.5, height: 22))
        for tile in pyramid.tiles {
            for level in tile.level..<pyramid.levelCount {
                let (coarser, region) = pyramid.ancestor(of: tile, atLevel: level)
                let rect = pyramid.rect(of: coarser)
                #expect(region.x >= 0 && region.x + region.width <= Double(rect.width))
                #expect(region.y >= 0 && region.y + region.height <= Double(rect.height))
            }
        }
    }

    @Test("has the levels of Deep Zoom") func deepZoom() {
        let size = PixelSize(width: 5000, height: 3000)
        let pyramid = TilePyramid(size, tileSide: 254)
        #expect(pyramid.deepZoomLevelCount == 14)
        #expect(pyramid.deepZoomLevel(of: 0) == 13)
        #expect(pyramid.level(ofDeepZoomLevel: 13) == 0)
        #expect(pyramid.level(ofDeepZoomLevel: 0) == nil)
        let whole = TilePyramid(size, tileSide: 254, endsInOnePixel: true)
        #expect(whole.levelCount == 14)
        #expect(whole.size(ofLevel: 13) == PixelSize(width: 1, height: 1))
        #expect(whole.level(ofDeepZoomLevel: 0) == 13)
        #expect(whole.level(ofDeepZoomLevel: 14) == nil)
        #expect(
            pyramid.deepZoomDescriptor(format: "jpg").contains(
                "TileSize=\"254\" Overlap=\"0\" Format=\"jpg\"><Size Width=\"5000\" Height=\"3000\"/>"
            ))
        for (side, count) in [(1, 1), (2, 2), (3, 3), (4, 3), (5, 4), (1024, 11), (1025, 12)] {
            let pyramid = TilePyramid(PixelSize(width: 1, height: side))
            #expect(pyramid.deepZoomLevelCount == count, "\(side)")
        }
    }

    @Test("finds its tiles by their IIIF names", arguments: sizes)
    func iiif(_ size: PixelSize) {
        let pyramid = TilePyramid(size, tileSide: 100)
        #expect(pyramid.scaleFactors == (0..<pyramid.levelCount).map { 1 << $0 })
        for tile in pyramid.tiles {
            // As the specification has it.
            let factor = 1 << tile.level
            let region = PixelRect(
                x: tile.x * 100 * factor, y: tile.y * 100 * factor,
                width: min(100 * factor, size.width - tile.x * 100 * factor),
                height: min(100 * factor, size.height - tile.y * 100 * factor))
            let scaled = region.size.shrunk(by: factor)
            #expect(pyramid.tile(region: region, size: scaled) == tile)
            let other = PixelSize(width: scaled.width + 1, height: scaled.height)
            #expect(pyramid.tile(region: region, size: other) == nil)
        }
        let wild = PixelRect(x: .max, y: 3, width: .max, height: 1)
        #expect(pyramid.tile(region: wild, size: size) == nil)
    }
}
