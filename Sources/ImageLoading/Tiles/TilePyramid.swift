// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The position of a tile in a pyramid.
public struct TileAddress: Hashable, Sendable, CustomStringConvertible {
    /// The level; each level halves the image once more.
    public var level: Int
    /// The column, from the left.
    public var x: Int
    /// The row, from the top.
    public var y: Int

    /// Creates a position.
    public init(level: Int, x: Int, y: Int) {
        self.level = level
        self.x = x
        self.y = y
    }

    /// The position as `tile level/x/y`.
    public var description: String { "tile \(level)/\(x)/\(y)" }
}

/// The geometry of an image pyramid: levels of half the size each, cut into square tiles.
///
/// Level 0 is the image. Each further level has half as many columns and rows, rounded up: its
/// pixel (x, y) covers the 2×2 pixels at (2x, 2y) of the finer level. Tiles at the right and bottom
/// edges may be smaller.
public struct TilePyramid: Hashable, Sendable {
    /// The size of the image in pixels.
    public let size: PixelSize
    /// The width and height of a tile in pixels.
    public let tileSide: Int
    /// The number of levels.
    public let levelCount: Int

    /// Creates a pyramid.
    ///
    /// - Parameters:
    ///   - size: the size of the image; both sides at least 1.
    ///   - tileSide: the width and height of a tile; at least 1.
    ///   - endsInOnePixel: whether the last level is a single pixel, as in Deep Zoom; otherwise it
    ///     is the first level that fits one tile.
    public init(_ size: PixelSize, tileSide: Int = 256, endsInOnePixel: Bool = false) {
        precondition(!size.isEmpty && tileSide > 0, "image and tiles must be at least 1×1")
        self.size = size
        self.tileSide = tileSide
        var count = 1
        var side = size.largestSide
        while side > (endsInOnePixel ? 1 : tileSide) {
            side = side / 2 + side % 2
            count += 1
        }
        levelCount = count
    }

    /// All tiles, the coarsest level first, each level row by row.
    public var tiles: [TileAddress] {
        (0..<levelCount).reversed().flatMap { tiles(ofLevel: $0, in: grid(ofLevel: $0)) }
    }

    /// Returns the size of a level in its own pixels.
    public func size(ofLevel level: Int) -> PixelSize {
        precondition((0..<levelCount).contains(level), "level \(level) of \(levelCount)")
        return PixelSize(
            width: Self.halved(size.width, level), height: Self.halved(size.height, level))
    }

    /// Returns the number of columns and rows of tiles in a level.
    public func tileCounts(ofLevel level: Int) -> (columns: Int, rows: Int) {
        let size = size(ofLevel: level)
        return ((size.width - 1) / tileSide + 1, (size.height - 1) / tileSide + 1)
    }

    /// Returns whether the pyramid has a tile.
    public func contains(_ tile: TileAddress) -> Bool {
        guard (0..<levelCount).contains(tile.level) else { return false }
        let (columns, rows) = tileCounts(ofLevel: tile.level)
        return (0..<columns).contains(tile.x) && (0..<rows).contains(tile.y)
    }

    /// Returns the area of a tile in pixels of its level.
    public func rect(of tile: TileAddress) -> PixelRect {
        precondition(contains(tile), "no \(tile) in \(size)")
        let tileRect = PixelRect(
            x: tile.x * tileSide, y: tile.y * tileSide, width: tileSide, height: tileSide)
        return tileRect.intersection(PixelRect(size(ofLevel: tile.level)))
    }

    /// Returns the area of a tile in pixels of the image.
    public func imageRect(of tile: TileAddress) -> PixelRect {
        let rect = rect(of: tile)
        return PixelRect(
            x: rect.x << tile.level, y: rect.y << tile.level,
            width: rect.width << tile.level, height: rect.height << tile.level
        ).intersection(PixelRect(size))
    }

    /// Returns the level to draw at a scale: the coarsest with at least one pixel for each device
    /// pixel.
    ///
    /// - Parameter scale: the number of device pixels for each pixel of the image; more than 0.
    /// - Returns: the level, 0 if the image is enlarged.
    public func level(forScale scale: Double) -> Int {
        precondition(scale > 0, "scale must be positive")
        var level = 0
        var reduction = 2.0
        while level + 1 < levelCount, reduction * scale <= 1 {
            level += 1
            reduction *= 2
        }
        return level
    }

    /// Returns the tiles that a viewport needs, in the order in which to request them.
    ///
    /// Coarse levels, of which a few tiles cover the viewport, are first, up to the level for the
    /// scale. In each level the tiles nearest to the centre of the viewport are first.
    ///
    /// - Parameters:
    ///   - viewport: the visible area in pixels of the image; it may exceed the edges.
    ///   - scale: the number of device pixels for each pixel of the image; more than 0.
    ///   - coarserLevelCount: the number of coarser levels to include; `nil` for all.
    /// - Returns: the tiles, none if the viewport is outside of the image.
    public func tiles(
        in viewport: SampleRegion, scale: Double, coarserLevelCount: Int? = nil
    ) -> [TileAddress] {
        let finest = level(forScale: scale)
        let coarsest = min(levelCount - 1, finest + min(coarserLevelCount ?? .max, levelCount))
        return (finest...max(finest, coarsest)).reversed().flatMap {
            tiles(in: viewport, level: $0)
        }
    }

    /// Returns the tiles of one level that a viewport needs, the nearest to its centre first.
    public func tiles(in viewport: SampleRegion, level: Int) -> [TileAddress] {
        let side = Double(tileSide) * Double(1 << level)
        let (columns, rows) = tileCounts(ofLevel: level)
        guard
            let x = Self.range(viewport.x, viewport.width, size.width, side, columns),
            let y = Self.range(viewport.y, viewport.height, size.height, side, rows)
        else { return [] }
        let middleX = (viewport.x + viewport.width / 2) / side - 0.5
        let middleY = (viewport.y + viewport.height / 2) / side - 0.5
        func distance(_ tile: TileAddress) -> Double {
            let (dx, dy) = (Double(tile.x) - middleX, Double(tile.y) - middleY)
            return dx * dx + dy * dy
        }
        return tiles(ofLevel: level, in: (x, y)).map { (tile: $0, distance: distance($0)) }
            .sorted { ($0.distance, $0.tile.y, $0.tile.x) < ($1.distance, $1.tile.y, $1.tile.x) }
            .map(\.tile)
    }

    /// Returns the tile of a coarser level that covers a tile, and the part that does.
    ///
    /// - Parameters:
    ///   - tile: the finer tile.
    ///   - level: the coarser level.
    /// - Returns: the coarser tile, and the area of the finer one in its pixels.
    public func ancestor(
        of tile: TileAddress, atLevel level: Int
    ) -> (tile: TileAddress, region: SampleRegion) {
        precondition(level >= tile.level, "level \(level) is finer than \(tile)")
        let difference = level - tile.level
        let coarser = TileAddress(
            level: level, x: tile.x >> difference, y: tile.y >> difference)
        let rect = rect(of: tile)
        let origin = self.rect(of: coarser)
        let scale = 1 / Double(1 << difference)
        let region = SampleRegion(
            x: Double(rect.x), y: Double(rect.y), width: Double(rect.width),
            height: Double(rect.height)
        ).scaled(horizontally: scale, vertically: scale)
        return (
            coarser,
            SampleRegion(
                x: region.x - Double(origin.x), y: region.y - Double(origin.y),
                width: region.width, height: region.height)
        )
    }

    private func grid(ofLevel level: Int) -> (Range<Int>, Range<Int>) {
        let (columns, rows) = tileCounts(ofLevel: level)
        return (0..<columns, 0..<rows)
    }

    private func tiles(
        ofLevel level: Int, in grid: (columns: Range<Int>, rows: Range<Int>)
    ) -> [TileAddress] {
        grid.rows.flatMap { y in grid.columns.map { TileAddress(level: level, x: $0, y: y) } }
    }

    private static func halved(_ side: Int, _ times: Int) -> Int {
        (side - 1) >> times + 1
    }

    /// Returns the tiles along one axis that are partly visible.
    private static func range(
        _ start: Double, _ length: Double, _ side: Int, _ tileSide: Double, _ count: Int
    ) -> Range<Int>? {
        let from = max(start, 0)
        let to = min(start + length, Double(side))
        guard from < to else { return nil }
        return Int(from / tileSide)..<min(count, Int((to / tileSide).rounded(.up)))
    }
}
