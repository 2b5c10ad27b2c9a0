// SPDX-License-Identifier: Apache-2.0

/// The cells of a strip of images with the current one in its middle, in device pixels.
package struct Filmstrip: Hashable, Sendable {
    /// The width of the strip.
    package let width: Int
    /// The number of images.
    package let count: Int
    /// The position of the current image.
    package let current: Int
    /// The side of the square in which an image is displayed.
    package let side: Int
    /// The distance between two squares, and to the upper and the lower edge.
    package let gap: Int
    /// Whether the first image is at the right end.
    package let isRightToLeft: Bool

    /// Creates a strip; the side is at least 1.
    package init(
        width: Int, count: Int, current: Int, side: Int, gap: Int, isRightToLeft: Bool = false
    ) {
        (self.width, self.count, self.current) = (width, count, current)
        (self.side, self.gap, self.isRightToLeft) = (max(1, side), gap, isRightToLeft)
    }

    /// The height of the strip.
    package var height: Int { side + 2 * gap }

    /// The cells that are visible, in part at least.
    package var visible: Range<Int> {
        let half = (width + side) / 2 / (side + gap) + 1
        return max(0, current - half)..<max(0, min(count, current + half + 1))
    }

    /// Returns the left edge of a cell in the strip.
    package func x(of index: Int) -> Int {
        let distance = (index - current) * (side + gap)
        return (width - side) / 2 + (isRightToLeft ? -distance : distance)
    }

    /// Returns the cell at a horizontal position; `nil` between cells.
    package func cell(atX x: Double) -> Int? {
        visible.first { Double(self.x(of: $0))..<Double(self.x(of: $0) + side) ~= x }
    }
}
