// SPDX-License-Identifier: Apache-2.0

/// A width and a height in device pixels, never in points.
public struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    /// The number of columns.
    public var width: Int
    /// The number of rows.
    public var height: Int

    /// Creates a size from a width and a height in pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The number of pixels, or `Int.max` on overflow.
    public var area: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : product
    }

    /// Whether a side is less than 1.
    public var isEmpty: Bool { width <= 0 || height <= 0 }

    /// The larger of width and height.
    public var largestSide: Int { max(width, height) }

    /// The size with width and height exchanged.
    public var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// Returns the size after a reduction by `factor` in the decoder; each side is rounded up.
    public func shrunk(by factor: Int) -> PixelSize {
        PixelSize(width: (width + factor - 1) / factor, height: (height + factor - 1) / factor)
    }

    /// The size as text, such as `640x480`.
    public var description: String { "\(width)x\(height)" }
}
