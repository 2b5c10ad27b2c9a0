// SPDX-License-Identifier: Apache-2.0

/// Where the items of a view lie along the axis in which it scrolls, in pixels from its start.
public protocol ScrollLayout: Sendable {
    var itemCount: Int { get }

    /// From where to where an item reaches; neither end goes back from one item to the next.
    func extent(of item: Int) -> Range<Double>
}

extension ScrollLayout {
    /// The items of which something lies in a range.
    ///
    /// - Complexity: O(log *n*) questions for the extent of an item.
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

/// Rows of equal length with the same number of items each; with one item a row, a carousel.
public struct GridLayout: ScrollLayout {
    public let itemCount: Int
    public let columnCount: Int
    /// From the start of a row to the start of the next, in pixels.
    public let rowLength: Double

    public init(itemCount: Int, columnCount: Int = 1, rowLength: Double) {
        precondition(itemCount >= 0 && columnCount > 0 && rowLength > 0, "a grid has rows")
        self.itemCount = itemCount
        self.columnCount = columnCount
        self.rowLength = rowLength
    }

    /// Where the last row ends.
    public var length: Double {
        Double((itemCount + columnCount - 1) / columnCount) * rowLength
    }

    public func extent(of item: Int) -> Range<Double> {
        let start = Double(item / columnCount) * rowLength
        return start..<start + rowLength
    }
}
