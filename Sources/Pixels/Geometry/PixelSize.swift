// SPDX-License-Identifier: Apache-2.0

/// A width and a height in device pixels, never in points.
public struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The number of pixels; `Int.max` when it does not fit in an `Int`.
    public var area: Int {
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : product
    }

    public var isEmpty: Bool { width <= 0 || height <= 0 }

    public var largestSide: Int { max(width, height) }

    public var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// The size of this picture after a decoder reduced it by `factor`: each side rounded up.
    public func shrunk(by factor: Int) -> PixelSize {
        PixelSize(width: (width + factor - 1) / factor, height: (height + factor - 1) / factor)
    }

    public var description: String { "\(width)x\(height)" }
}
