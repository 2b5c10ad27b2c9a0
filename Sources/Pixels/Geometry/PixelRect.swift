// SPDX-License-Identifier: Apache-2.0

/// A rectangle of whole pixels; the origin is the top left corner, y grows downwards.
public struct PixelRect: Hashable, Sendable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int

    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    public init(_ size: PixelSize) {
        self.init(x: 0, y: 0, width: size.width, height: size.height)
    }

    public var size: PixelSize { PixelSize(width: width, height: height) }

    public var isEmpty: Bool { width <= 0 || height <= 0 }

    public func contains(_ other: PixelRect) -> Bool {
        other.x >= x && other.y >= y
            && other.x + other.width <= x + width && other.y + other.height <= y + height
    }

    /// The part that both rectangles share; its sides are 0 when they share none.
    public func intersection(_ other: PixelRect) -> PixelRect {
        let left = max(x, other.x)
        let top = max(y, other.y)
        return PixelRect(
            x: left, y: top,
            width: max(0, min(x + width, other.x + other.width) - left),
            height: max(0, min(y + height, other.y + other.height) - top))
    }
}
