// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// How the viewers of Deep Zoom count levels: up from a single pixel.
/// - SeeAlso: Microsoft, “Deep Zoom File Format Overview”.
extension TilePyramid {
    /// How many levels Deep Zoom gives the picture.
    public var deepZoomLevelCount: Int {
        TilePyramid(size, tileSide: tileSide, endsInOnePixel: true).levelCount
    }

    /// The number that Deep Zoom has for a level.
    public func deepZoomLevel(of level: Int) -> Int { deepZoomLevelCount - 1 - level }

    /// The level that Deep Zoom has that number for.
    ///
    /// - Returns: `nil` if this pyramid has no such level, as one that ends in one tile may.
    public func level(ofDeepZoomLevel number: Int) -> Int? {
        // Before the subtraction: the number comes from an address.
        guard (0..<deepZoomLevelCount).contains(number) else { return nil }
        let level = deepZoomLevelCount - 1 - number
        return level < levelCount ? level : nil
    }

    /// The file that a viewer reads first.
    ///
    /// - Parameter format: what the tiles' names end with, such as `jpg`.
    /// - Returns: a file in XML.
    public func deepZoomDescriptor(format: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="\(tileSide)" \
        Overlap="0" Format="\(format)"><Size Width="\(size.width)" Height="\(size.height)"/></Image>

        """
    }
}

/// How the viewers of IIIF name tiles: by the part of the picture and the size that it is wanted at.
/// - SeeAlso: IIIF Image API 3.0, section 5.4 and “Calculation of Tile Regions”.
extension TilePyramid {
    /// What the levels are reduced by, the finest first.
    public var scaleFactors: [Int] { (0..<levelCount).map { 1 << $0 } }

    /// The tile that shows a part of the picture at a size.
    ///
    /// - Parameters:
    ///   - region: the part, in pixels of the picture.
    ///   - size: the size that it is wanted at.
    /// - Returns: `nil` if no tile shows exactly that.
    public func tile(region: PixelRect, size: PixelSize) -> TileAddress? {
        guard !region.isEmpty, region.x >= 0, region.y >= 0 else { return nil }
        for level in 0..<levelCount {
            let side = tileSide << level
            let tile = TileAddress(level: level, x: region.x / side, y: region.y / side)
            guard contains(tile), pictureRect(of: tile) == region, rect(of: tile).size == size
            else { continue }
            return tile
        }
        return nil
    }
}
