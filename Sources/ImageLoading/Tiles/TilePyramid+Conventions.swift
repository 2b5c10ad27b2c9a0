// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The level numbers of Deep Zoom, which count up from a single pixel.
/// - SeeAlso: Microsoft, “Deep Zoom File Format Overview”.
extension TilePyramid {
    /// The number of levels in Deep Zoom.
    public var deepZoomLevelCount: Int {
        TilePyramid(size, tileSide: tileSide, endsInOnePixel: true).levelCount
    }

    /// Returns the Deep Zoom number of a level.
    public func deepZoomLevel(of level: Int) -> Int { deepZoomLevelCount - 1 - level }

    /// Returns the level with a Deep Zoom number.
    ///
    /// - Returns: the level, `nil` if the pyramid does not have it, for example because it ends in
    ///   one tile.
    public func level(ofDeepZoomLevel number: Int) -> Int? {
        // Before the subtraction: the number comes from a URL.
        guard (0..<deepZoomLevelCount).contains(number) else { return nil }
        let level = deepZoomLevelCount - 1 - number
        return level < levelCount ? level : nil
    }

    /// Returns the Deep Zoom descriptor, which a viewer loads first.
    ///
    /// - Parameter format: the file name extension of tiles, such as `jpg`.
    /// - Returns: the descriptor in XML.
    public func deepZoomDescriptor(format: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="\(tileSide)" \
        Overlap="0" Format="\(format)"><Size Width="\(size.width)" Height="\(size.height)"/></Image>

        """
    }
}

/// The tile requests of IIIF: a region of the image and a size.
/// - SeeAlso: IIIF Image API 3.0, section 5.4 and “Calculation of Tile Regions”.
extension TilePyramid {
    /// The scale factors of the levels, the finest first.
    public var scaleFactors: [Int] { (0..<levelCount).map { 1 << $0 } }

    /// Returns the tile for a region at a size.
    ///
    /// - Parameters:
    ///   - region: the region in pixels of the image.
    ///   - size: the size of the result.
    /// - Returns: the tile, `nil` if none matches exactly.
    public func tile(region: PixelRect, size: PixelSize) -> TileAddress? {
        guard !region.isEmpty, region.x >= 0, region.y >= 0 else { return nil }
        for level in 0..<levelCount {
            let side = tileSide << level
            let tile = TileAddress(level: level, x: region.x / side, y: region.y / side)
            guard contains(tile), imageRect(of: tile) == region, rect(of: tile).size == size
            else { continue }
            return tile
        }
        return nil
    }
}
