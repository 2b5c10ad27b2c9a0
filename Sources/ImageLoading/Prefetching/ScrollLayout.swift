// SPDX-License-Identifier: Apache-2.0

/// The positions of the items of a view along its scroll axis, in pixels from the start.
public protocol ScrollLayout: Sendable {
    /// The number of items.
    var itemCount: Int { get }

    /// Returns the extent of an item; lower and upper bounds never decrease from one item to the
    /// next.
    func extent(of item: Int) -> Range<Double>
}

extension ScrollLayout {
    /// Returns the items that overlap a range.
    ///
    /// - Complexity: O(log *n*) calls of ``extent(of:)``.
    public func items(in range: Range<Double>) -> Range<Int> {
        let first = firstItem { $0.upperBound > range.lowerBound }
        let end = firstItem { $0.lowerBound >= range.upperBound }
        return first..<max(first, end)
    }

    private func firstItem(where isBeyond: (Range<Double>) -> Bool) -> Int {
        var lower = 0
        var upper = itemCount
        while lower < upper {
            let middle = (lower + upper) / 2
            if isBeyond(extent(of: middle)) { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}

/// A grid of rows with equal length and equal numbers of items.
public struct GridLayout: ScrollLayout {
    /// The number of items.
    public let itemCount: Int
    /// The number of items in a row.
    public let columnCount: Int
    /// The distance between the starts of two rows in pixels.
    public let rowLength: Double

    /// Creates a grid; `columnCount` and `rowLength` must be positive.
    public init(itemCount: Int, columnCount: Int = 1, rowLength: Double) {
        precondition(itemCount >= 0 && columnCount > 0 && rowLength > 0, "invalid grid")
        self.itemCount = itemCount
        self.columnCount = columnCount
        self.rowLength = rowLength
    }

    /// The length of all rows in pixels.
    public var length: Double {
        Double((itemCount + columnCount - 1) / columnCount) * rowLength
    }

    /// Returns the extent of the row of an item.
    public func extent(of item: Int) -> Range<Double> {
        let start = Double(item / columnCount) * rowLength
        return start..<start + rowLength
    }
}
