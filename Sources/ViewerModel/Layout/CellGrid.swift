// SPDX-License-Identifier: Apache-2.0

package import ImageLoading

/// The cells of a grid in a view, in device pixels.
package struct CellGrid: Hashable, Sendable {
    /// The width of the view.
    package let width: Int
    /// The height of the view.
    package let height: Int
    /// The number of cells.
    package let count: Int
    /// The side of the square in which an image is displayed.
    package let side: Int
    /// The distance between two squares, and to the edge of the view.
    package let gap: Int
    /// Whether the first cell of a row is at the right.
    package let isRightToLeft: Bool

    /// Creates a grid; all lengths are at least 1.
    package init(
        width: Int, height: Int, count: Int, side: Int, gap: Int, isRightToLeft: Bool = false
    ) {
        self.isRightToLeft = isRightToLeft
        (self.width, self.height) = (max(1, width), max(1, height))
        (self.count, self.side, self.gap) = (max(0, count), max(1, side), max(1, gap))
    }

    /// The number of cells in a row.
    package var columnCount: Int { max(1, (width - gap) / (side + gap)) }

    /// The number of rows that fit into the view, at least 1.
    package var pageRowCount: Int { max(1, height / (side + gap)) }

    /// The rows, for prefetching.
    package var layout: GridLayout {
        GridLayout(itemCount: count, columnCount: columnCount, rowLength: Double(side + gap))
    }

    /// The height of all rows.
    package var contentHeight: Double { layout.length + Double(gap) }

    /// The maximum scroll offset.
    package var maximumOffset: Double { max(0, contentHeight - Double(height)) }

    /// Returns the top left corner of a cell in the content.
    package func origin(of index: Int) -> (x: Int, y: Int) {
        let margin = (width - columnCount * (side + gap) + gap) / 2
        let (row, place) = index.quotientAndRemainder(dividingBy: columnCount)
        let column = isRightToLeft ? columnCount - 1 - place : place
        return (max(0, margin) + column * (side + gap), gap + row * (side + gap))
    }

    /// Returns the cells that are visible at a scroll offset.
    package func visible(at offset: Double) -> Range<Int> {
        layout.items(in: offset..<offset + Double(height))
    }

    /// The time ahead of moving content for which cells are about to appear, in seconds.
    private static let lookAhead = 0.5

    /// Returns the cells of the view and of the next one, or of all that appear in half a second.
    ///
    /// They are in the order in which their images are needed: at rest those of the view first, while
    /// it moves those that appear next.
    package func appearing(at offset: Double, velocity: Double) -> [Int] {
        let visible = visible(at: offset)
        let length = max(Double(height), abs(velocity) * Self.lookAhead)
        if velocity < 0 {
            let next = layout.items(in: offset - length..<offset)
            return next.filter { $0 < visible.lowerBound }.reversed() + visible
        }
        let end = offset + Double(height)
        let ahead = layout.items(in: end..<end + length).filter { $0 >= visible.upperBound }
        return velocity == 0 ? visible + ahead : ahead + visible
    }

    /// Returns the cell at a point of the view; `nil` between cells.
    package func cell(atX x: Double, y: Double, offset: Double) -> Int? {
        visible(at: offset).first { index in
            let origin = origin(of: index)
            return Double(origin.x)..<Double(origin.x + side) ~= x
                && Double(origin.y)..<Double(origin.y + side) ~= y + offset
        }
    }

    /// Returns the scroll offset nearest to `offset` at which a cell is completely visible.
    package func offset(revealing index: Int, from offset: Double) -> Double {
        let top = Double(origin(of: index).y - gap)
        let bottom = Double(origin(of: index).y + side + gap - height)
        return min(max(0, min(max(offset, bottom), top)), maximumOffset)
    }
}
