// SPDX-License-Identifier: Apache-2.0

package import ImageLoading
package import Pixels

/// The tiles that show an enlarged image, at exact positions in device pixels.
///
/// Adjacent tiles share their edges at every scale, so that no pixel is left out or drawn twice.
/// Below 100 % each tile is resampled to the device pixels that it covers.
package struct TilePlan: Hashable, Sendable {
    /// A tile at one scale.
    package struct Tile: Hashable, Sendable {
        /// The position in the pyramid.
        package let address: TileAddress
        /// The distance of the left edge to that of the image.
        package let x: Int
        /// The distance of the top edge to that of the image.
        package let y: Int
        /// The covered device pixels.
        package let size: PixelSize
        /// The size in which the tile is kept: that of the device pixels, or its own above 100 %.
        package let textureSize: PixelSize
    }

    /// The tiles that are visible, the nearest to the centre first.
    package let visible: [Tile]
    /// The tiles around those, which panning shows next.
    package let near: [Tile]

    /// Plans the tiles for a placement.
    ///
    /// - Parameters:
    ///   - placement: the position and the scale of the image.
    ///   - pyramid: the tiles of the image.
    package init(_ placement: ImagePlacement, _ pyramid: TilePyramid) {
        let level = pyramid.level(forScale: placement.scale)
        func tiles(_ part: PixelRect) -> [Tile] {
            let viewport = SampleRegion(
                x: Double(part.x), y: Double(part.y), width: Double(part.width),
                height: Double(part.height))
            return pyramid.tiles(in: viewport, level: level).compactMap {
                Self.tile($0, pyramid, placement.scale)
            }
        }
        let part = placement.visiblePart
        visible = tiles(part)
        let margin = pyramid.tileSide << level
        let known = Set(visible)
        near = tiles(
            PixelRect(
                x: part.x - margin, y: part.y - margin, width: part.width + 2 * margin,
                height: part.height + 2 * margin)
        ).filter { !known.contains($0) }
    }

    /// Returns a tile; `nil` if it covers no device pixel.
    private static func tile(
        _ address: TileAddress, _ pyramid: TilePyramid, _ scale: Double
    ) -> Tile? {
        let rect = pyramid.imageRect(of: address)
        func edge(_ position: Int) -> Int { Int((Double(position) * scale).rounded()) }
        let (x, y) = (edge(rect.x), edge(rect.y))
        let size = PixelSize(
            width: edge(rect.x + rect.width) - x, height: edge(rect.y + rect.height) - y)
        guard !size.isEmpty else { return nil }
        return Tile(
            address: address, x: x, y: y, size: size,
            textureSize: scale < 1 ? size : pyramid.rect(of: address).size)
    }
}
