// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// One tile of a pyramid.
public struct TileAddress: Hashable, Sendable, CustomStringConvertible {
    /// How often the picture was halved.
    public var level: Int
    /// The column, from the left.
    public var x: Int
    /// The row, from the top.
    public var y: Int

    public init(level: Int, x: Int, y: Int) {
        self.level = level
        self.x = x
        self.y = y
    }

    public var description: String { "tile \(level)/\(x)/\(y)" }
}

/// A picture at its own size and halved again and again, each level cut into square tiles.
///
/// Level 0 is the picture. Each further one has half as many columns and rows, rounded up, so that
/// its pixel (x, y) stands for those of the finer one from (2x, 2y) on. All tiles have the same
/// side but the last of each row and column, which end where the picture ends.
public struct TilePyramid: Hashable, Sendable {
    /// The size of the picture.
    public let size: PixelSize
    public let tileSide: Int
    public let levelCount: Int

    /// - Parameters:
    ///   - size: the size of the picture; both sides at least 1.
    ///   - tileSide: the columns and rows of a tile; at least 1.
    ///   - endsInOnePixel: whether levels go on to a single pixel, as those of Deep Zoom do;
    ///     the last is else the first that fits into one tile.
    public init(_ size: PixelSize, tileSide: Int = 256, endsInOnePixel: Bool = false) {
        precondition(!size.isEmpty && tileSide > 0, "pictures and tiles are at least 1x1")
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

    /// Every tile, that of the coarsest level first, each level row by row.
    public var tiles: [TileAddress] {
        (0..<levelCount).reversed().flatMap { tiles(ofLevel: $0, in: grid(ofLevel: $0)) }
    }

    /// The size of a level in its own pixels.
    public func size(ofLevel level: Int) -> PixelSize {
        precondition((0..<levelCount).contains(level), "level \(level) of \(levelCount)")
        return PixelSize(
            width: Self.halved(size.width, level), height: Self.halved(size.height, level))
    }

    /// How many columns and rows of tiles a level has.
    public func tileCounts(ofLevel level: Int) -> (columns: Int, rows: Int) {
        let size = size(ofLevel: level)
        return ((size.width - 1) / tileSide + 1, (size.height - 1) / tileSide + 1)
    }

    public func contains(_ tile: TileAddress) -> Bool {
        guard (0..<levelCount).contains(tile.level) else { return false }
        let (columns, rows) = tileCounts(ofLevel: tile.level)
        return (0..<columns).contains(tile.x) && (0..<rows).contains(tile.y)
    }

    /// The part of its level that a tile covers, in pixels of the level.
    public func rect(of tile: TileAddress) -> PixelRect {
        precondition(contains(tile), "no \(tile) in \(size)")
        let tileRect = PixelRect(
            x: tile.x * tileSide, y: tile.y * tileSide, width: tileSide, height: tileSide)
        return tileRect.intersection(PixelRect(size(ofLevel: tile.level)))
    }

    /// The part of the picture that a tile covers, in pixels of the picture.
    public func pictureRect(of tile: TileAddress) -> PixelRect {
        let rect = rect(of: tile)
        return PixelRect(
            x: rect.x << tile.level, y: rect.y << tile.level,
            width: rect.width << tile.level, height: rect.height << tile.level
        ).intersection(PixelRect(size))
    }

    /// The level to draw at a scale: the coarsest that has no fewer pixels than the screen.
    ///
    /// - Parameter scale: device pixels for each pixel of the picture; more than 0.
    /// - Returns: 0 where the picture is enlarged.
    public func level(forScale scale: Double) -> Int {
        precondition(scale > 0, "a scale is more than 0")
        var level = 0
        var reduction = 2.0
        while level + 1 < levelCount, reduction * scale <= 1 {
            level += 1
            reduction *= 2
        }
        return level
    }

    /// The tiles that a viewport needs, in the order in which they should be asked for.
    ///
    /// The coarse levels come first, of which a few tiles cover everything, then finer ones up to
    /// that which the scale needs; in each level those nearest to the middle of the viewport.
    ///
    /// - Parameters:
    ///   - viewport: what is seen, in pixels of the picture; it may reach over the edges.
    ///   - scale: device pixels for each pixel of the picture; more than 0.
    ///   - coarserLevelCount: how many levels above the one that the scale needs; `nil` for all.
    /// - Returns: none if nothing of the picture is seen.
    public func tiles(
        in viewport: SampleRegion, scale: Double, coarserLevelCount: Int? = nil
    ) -> [TileAddress] {
        let finest = level(forScale: scale)
        let coarsest = min(levelCount - 1, finest + min(coarserLevelCount ?? .max, levelCount))
        return (finest...max(finest, coarsest)).reversed().flatMap {
            tiles(in: viewport, level: $0)
        }
    }

    /// The tiles of one level that a viewport needs, those nearest to its middle first.
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

    /// The tile of a coarser level that covers another one, and the part of it that does.
    ///
    /// - Parameters:
    ///   - tile: the finer tile.
    ///   - level: the coarser level.
    /// - Returns: the coarser tile, and where the finer one lies in it, in its own pixels.
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

    /// The tiles along a side of which a part is seen.
    private static func range(
        _ start: Double, _ length: Double, _ side: Int, _ tileSide: Double, _ count: Int
    ) -> Range<Int>? {
        let from = max(start, 0)
        let to = min(start + length, Double(side))
        guard from < to else { return nil }
        return Int(from / tileSide)..<min(count, Int((to / tileSide).rounded(.up)))
    }
}
