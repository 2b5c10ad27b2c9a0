// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A part of an image at its own or a reduced resolution, which a file may store as a tile.
public struct StoredTile: Hashable, Sendable {
    /// The size of the whole stored image at the resolution of the tile.
    public var levelSize: PixelSize
    /// The part, in pixels at that resolution.
    public var rect: PixelRect

    /// A part of an image at the resolution at which the image has a size.
    public init(_ rect: PixelRect, ofLevel levelSize: PixelSize) {
        self.rect = rect
        self.levelSize = levelSize
    }

    /// The maximum size of a tile in bytes; larger ones are decoded.
    package static let maximumByteCount = 1 << 20

    /// The maximum number of tiles that ``ImageSource/jpegTiles(_:)`` reads at once.
    public static let maximumCount = 16
}
