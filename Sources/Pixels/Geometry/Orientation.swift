// SPDX-License-Identifier: Apache-2.0

/// How stored rows and columns relate to the picture as it is looked at.
///
/// The raw values are those of the EXIF tag `Orientation` (0x0112). Each case says what has to be
/// done to the stored pixels to show them upright.
/// - SeeAlso: CIPA DC-008 (EXIF 2.32), section 4.6.4.
public enum Orientation: UInt8, Hashable, Sendable, CaseIterable {
    case upright = 1
    case mirroredHorizontally = 2
    case rotated180 = 3
    case mirroredVertically = 4
    /// Mirrored along the diagonal from the top left to the bottom right.
    case transposed = 5
    /// Turned a quarter clockwise.
    case rotated90 = 6
    /// Mirrored along the diagonal from the top right to the bottom left.
    case transversed = 7
    /// Turned a quarter counter-clockwise.
    case rotated270 = 8

    public var swapsSides: Bool { rawValue >= 5 }

    /// The size of a stored picture once it is shown upright; its own inverse.
    public func oriented(_ size: PixelSize) -> PixelSize {
        swapsSides ? size.transposed : size
    }

    /// Where the pixel (x, y) of a stored picture of `size` pixels is shown.
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

    /// Where a part of the picture as it is looked at lies in a stored picture of `size` pixels.
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

    /// Whether stored columns are shown from the far side: right to left or bottom to top.
    public var reversesColumns: Bool {
        let size = PixelSize(width: 2, height: 2)
        let (first, second) = (position(ofX: 0, y: 0, in: size), position(ofX: 1, y: 0, in: size))
        return second.x + second.y < first.x + first.y
    }

    /// Whether stored rows are shown from the far side.
    public var reversesRows: Bool {
        let size = PixelSize(width: 2, height: 2)
        let (first, second) = (position(ofX: 0, y: 0, in: size), position(ofX: 0, y: 1, in: size))
        return second.x + second.y < first.x + first.y
    }
}
