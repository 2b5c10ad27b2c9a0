// SPDX-License-Identifier: Apache-2.0

/// Chooses a palette for an image with more colours.
///
/// The colour cube is split where that reduces the variance most, once per colour (Wu, “Color
/// quantization by dynamic programming and principal analysis”, 1992, in its greedy form). Then
/// k-means iterations refine the colours.
enum GIFQuantizer {
    private static let bits = 5
    private static let side = 1 << bits
    private static let refinementCount = 6

    /// The sums over the pixels of one cell of the colour cube.
    private struct Cell {
        var count = 0.0
        var red = 0.0
        var green = 0.0
        var blue = 0.0
        /// The sum of the squares of all channels.
        var square = 0.0

        /// The sum of squared distances of all pixels from their mean.
        var variance: Double {
            count > 0 ? square - (red * red + green * green + blue * blue) / count : 0
        }

        mutating func add(_ other: Cell) {
            count += other.count
            red += other.red
            green += other.green
            blue += other.blue
            square += other.square
        }

        func subtracting(_ other: Cell) -> Cell {
            Cell(
                count: count - other.count, red: red - other.red, green: green - other.green,
                blue: blue - other.blue, square: square - other.square)
        }
    }

    private struct Box {
        var range: [Range<Int>]
        var content: Cell
    }

    /// Returns a palette for some pixels.
    ///
    /// - Parameters:
    ///   - pixels: colours with 255 in the highest byte, and 0 for transparent pixels.
    ///   - count: the maximum number of colours.
    /// - Returns: at least one and at most `count` colours.
    static func palette(of pixels: [UInt32], count: Int) -> [UInt32] {
        var cells = [Cell](repeating: Cell(), count: side * side * side)
        for pixel in pixels where pixel != 0 {
            var place = Int(pixel >> 3 & 31) << 10
            place |= Int(pixel >> 11 & 31) << 5
            place |= Int(pixel >> 19 & 31)
            let red = Double(pixel & 255)
            let green = Double(pixel >> 8 & 255)
            let blue = Double(pixel >> 16 & 255)
            cells[place].count += 1
            cells[place].red += red
            cells[place].green += green
            cells[place].blue += blue
            cells[place].square += red * red + green * green + blue * blue
        }
        var boxes = [Box(range: Array(repeating: 0..<side, count: 3), content: Cell())]
        for cell in cells { boxes[0].content.add(cell) }
        while boxes.count < count {
            let widest = boxes.indices.max {
                boxes[$0].content.variance < boxes[$1].content.variance
            }
            guard let widest, let (left, right) = halves(of: boxes[widest], cells) else { break }
            boxes[widest] = left
            boxes.append(right)
        }
        return refined(
            boxes.map(\.content).filter { $0.count > 0 }, cells.filter { $0.count > 0 })
    }

    /// Splits a box where the sum of the variances is least; `nil` if it cannot be split.
    private static func halves(of box: Box, _ cells: [Cell]) -> (Box, Box)? {
        guard box.content.variance > 0 else { return nil }
        var best: (axis: Int, cut: Int, left: Cell)?
        var least = Double.infinity
        for axis in 0..<3 {
            // The sums of the slices along this axis.
            var slices = [Cell](repeating: Cell(), count: box.range[axis].count)
            for red in box.range[0] {
                for green in box.range[1] {
                    for blue in box.range[2] {
                        let cell = cells[red << 10 | green << 5 | blue]
                        if cell.count == 0 { continue }
                        let place = axis == 0 ? red : axis == 1 ? green : blue
                        slices[place - box.range[axis].lowerBound].add(cell)
                    }
                }
            }
            var left = Cell()
            for (index, slice) in slices.dropLast().enumerated() {
                left.add(slice)
                let right = box.content.subtracting(left)
                guard left.count > 0, right.count > 0.5 else { continue }
                let variance = left.variance + right.variance
                if variance < least {
                    least = variance
                    best = (axis, box.range[axis].lowerBound + index + 1, left)
                }
            }
        }
        guard let best else { return nil }
        var left = Box(range: box.range, content: best.left)
        var right = Box(range: box.range, content: box.content.subtracting(best.left))
        left.range[best.axis] = box.range[best.axis].lowerBound..<best.cut
        right.range[best.axis] = best.cut..<box.range[best.axis].upperBound
        return (left, right)
    }

    /// Moves each colour to the mean of the cells nearest to it, several times.
    ///
    /// - Parameters:
    ///   - groups: the sum of the cells of each colour at first.
    ///   - cells: all cells with pixels.
    /// - Returns: the colours.
    private static func refined(_ groups: [Cell], _ cells: [Cell]) -> [UInt32] {
        var groups = groups
        for _ in 0..<refinementCount {
            let colors = GIFColorSearch(groups.map { mean(of: $0) })
            var members = [Cell](repeating: Cell(), count: groups.count)
            for cell in cells {
                let mean = mean(of: cell)
                members[colors.nearest(mean.0, mean.1, mean.2)].add(cell)
            }
            for (index, member) in members.enumerated() where member.count > 0 {
                groups[index] = member
            }
        }
        return groups.map { group in
            let mean = mean(of: group)
            let levels = [mean.0, mean.1, mean.2, 255].map { UInt32($0.rounded()) }
            return levels.reversed().reduce(0) { $0 << 8 | $1 }
        }
    }

    private static func mean(of cell: Cell) -> (Float, Float, Float) {
        (
            Float(cell.red / cell.count), Float(cell.green / cell.count),
            Float(cell.blue / cell.count)
        )
    }
}

/// A nearest-colour search by exhaustive comparison.
struct GIFColorSearch {
    private let reds: [Float]
    private let greens: [Float]
    private let blues: [Float]

    init(_ colors: [(Float, Float, Float)]) {
        reds = colors.map(\.0)
        greens = colors.map(\.1)
        blues = colors.map(\.2)
    }

    /// Returns the index of the colour with the least squared distance.
    func nearest(_ red: Float, _ green: Float, _ blue: Float) -> Int {
        let (reds, greens, blues) = (reds.span, greens.span, blues.span)
        var best = 0
        var least = Float.infinity
        var index = 0
        while index < reds.count {
            let dr = unsafe reds[unchecked: index] - red
            let dg = unsafe greens[unchecked: index] - green
            let db = unsafe blues[unchecked: index] - blue
            let distance = dr * dr + dg * dg + db * db
            if distance < least {
                least = distance
                best = index
            }
            index &+= 1
        }
        return best
    }
}
