// SPDX-License-Identifier: Apache-2.0

import Drawing

/// The exact areas of pixels inside of polygons, in double precision.
///
/// Each edge adds, in each row, the area to its right; a sum over the columns gives the coverage. The
/// result is exact for polygons that do not cross themselves, and for holes of the opposite direction.
struct ExactCoverage {
    let width, height: Int
    private var areas: [Double]

    init(width: Int, height: Int, _ polygons: [[Point]]) {
        self.width = width
        self.height = height
        areas = Array(repeating: 0, count: (width + 2) * height)
        for polygon in polygons {
            for (index, point) in polygon.enumerated() {
                add(point, polygon[(index + 1) % polygon.count])
            }
        }
    }

    /// Returns the coverage of a row from 0 to 1.
    func row(_ y: Int) -> [Double] {
        var sum = 0.0
        return (0..<width).map { x in
            sum += areas[y * (width + 2) + x]
            return min(abs(sum), 1)
        }
    }

    private mutating func add(_ start: Point, _ end: Point) {
        guard start.y != end.y else { return }
        let sign = start.y < end.y ? 1.0 : -1
        let (top, bottom) = start.y < end.y ? (start, end) : (end, start)
        let slope = (bottom.x - top.x) / (bottom.y - top.y)
        let first = max(0, Int(top.y.rounded(.down)))
        let last = min(height - 1, Int(bottom.y.rounded(.up)) - 1)
        guard first <= last else { return }
        for y in first...last {
            let y0 = max(top.y, Double(y))
            let y1 = min(bottom.y, Double(y + 1))
            guard y1 > y0 else { continue }
            addRow(
                y, top.x + (y0 - top.y) * slope, top.x + (y1 - top.y) * slope, sign * (y1 - y0))
        }
    }

    /// Adds an edge within a row, whose height is `dy`.
    private mutating func addRow(_ y: Int, _ start: Double, _ end: Double, _ dy: Double) {
        let (left, right) = (min(start, end), max(start, end))
        var x = left
        repeat {
            let column = Int(x.rounded(.down))
            let next = min(right, Double(column + 1))
            let share = right > left ? dy * (next - x) / (right - left) : dy
            // The area within the column, then that of all columns to the right.
            let inside = share * (Double(column + 1) - (x + next) / 2)
            let place = y * (width + 2) + min(max(column, 0), width)
            if column >= 0 {
                areas[place] += inside
                areas[place + 1] += share - inside
            } else {
                areas[place] += share
            }
            x = next
        } while x < right
    }
}
