// SPDX-License-Identifier: Apache-2.0

/// The transform that displays stored pixels upright.
///
/// The raw values are those of the EXIF tag `Orientation` (0x0112).
///
/// - SeeAlso: CIPA DC-008 (EXIF 2.32), section 4.6.4.
public enum Orientation: UInt8, Hashable, Sendable, CaseIterable {
    /// No transform.
    case upright = 1
    /// Left and right exchanged.
    case mirroredHorizontally = 2
    /// Rotated by 180°.
    case rotated180 = 3
    /// Top and bottom exchanged.
    case mirroredVertically = 4
    /// Mirrored along the diagonal from the top left to the bottom right.
    case transposed = 5
    /// Rotated by 90° clockwise.
    case rotated90 = 6
    /// Mirrored along the diagonal from the top right to the bottom left.
    case transversed = 7
    /// Rotated by 90° counter-clockwise.
    case rotated270 = 8

    /// Whether the transform exchanges width and height.
    public var swapsSides: Bool { rawValue >= 5 }

    /// The transform that undoes this one.
    public var inverse: Orientation {
        switch self {
        case .rotated90: .rotated270
        case .rotated270: .rotated90
        default: self
        }
    }

    /// Returns the upright size of a stored image, or the stored size of an upright one.
    public func oriented(_ size: PixelSize) -> PixelSize {
        swapsSides ? size.transposed : size
    }

    /// Maps a pixel of a stored image to its upright position.
    ///
    /// - Parameters:
    ///   - x: the stored column, from 0.
    ///   - y: the stored row, from 0.
    ///   - size: the stored size in pixels.
    /// - Returns: the column and the row in the upright image.
    public func position(ofX x: Int, y: Int, in size: PixelSize) -> (x: Int, y: Int) {
        let right = size.width - 1
        let bottom = size.height - 1
        return switch self {
        case .upright: (x, y)
        case .mirroredHorizontally: (right - x, y)
        case .rotated180: (right - x, bottom - y)
        case .mirroredVertically: (x, bottom - y)
        case .transposed: (y, x)
        case .rotated90: (bottom - y, x)
        case .transversed: (bottom - y, right - x)
        case .rotated270: (y, right - x)
        }
    }

    /// Maps a region of the upright image to the stored image.
    ///
    /// - Parameters:
    ///   - part: the region in pixels of the upright image.
    ///   - size: the stored size in pixels.
    /// - Returns: the region in pixels of the stored image.
    public func stored(_ part: SampleRegion, in size: PixelSize) -> SampleRegion {
        let (width, height) = (Double(size.width), Double(size.height))
        let region =
            swapsSides
            ? SampleRegion(x: part.y, y: part.x, width: part.height, height: part.width) : part
        let isFromRight = [.mirroredHorizontally, .rotated180, .transversed, .rotated270]
            .contains(self)
        let isFromBottom = [.rotated180, .mirroredVertically, .rotated90, .transversed]
            .contains(self)
        return SampleRegion(
            x: isFromRight ? width - region.x - region.width : region.x,
            y: isFromBottom ? height - region.y - region.height : region.y,
            width: region.width, height: region.height)
    }

    /// Whether stored columns are displayed in reverse: right to left or bottom to top.
    public var reversesColumns: Bool {
        let size = PixelSize(width: 2, height: 2)
        let (first, second) = (position(ofX: 0, y: 0, in: size), position(ofX: 1, y: 0, in: size))
        return second.x + second.y < first.x + first.y
    }

    /// Whether stored rows are displayed in reverse: bottom to top or right to left.
    public var reversesRows: Bool {
        let size = PixelSize(width: 2, height: 2)
        let (first, second) = (position(ofX: 0, y: 0, in: size), position(ofX: 0, y: 1, in: size))
        return second.x + second.y < first.x + first.y
    }
}
