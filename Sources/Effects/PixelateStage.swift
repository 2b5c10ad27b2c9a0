// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Replaces squares of pixels by their means.
final class PixelateStage: RowStage {
    private let side: Int
    private let height: Int
    private let next: RowStage
    /// The sums of the squares over the rows so far.
    private var sums: PixelRow
    private var rowCount = 0
    private var sumCount = 0
    private var result: PixelRow

    /// - Parameters:
    ///   - side: the side of the squares in pixels.
    ///   - size: the size of the image.
    ///   - next: receives as many rows.
    init(_ side: Int, _ size: PixelSize, _ next: RowStage) {
        // Larger squares have the same mean.
        self.side = min(side, max(size.width, size.height))
        self.next = next
        height = size.height
        sums = PixelRow(repeating: .zero, count: (size.width + self.side - 1) / self.side)
        result = PixelRow(repeating: .zero, count: size.width)
    }

    override func append(_ row: inout PixelRow) {
        for square in sums.indices {
            for x in columns(square) { sums[square] += row[x] }
        }
        sumCount += 1
        rowCount += 1
        if sumCount == side || rowCount == height { passOn() }
    }

    override func finish() { next.finish() }

    private func columns(_ square: Int) -> Range<Int> {
        square * side..<min((square + 1) * side, result.count)
    }

    private func passOn() {
        let means = sums.indices.map { sums[$0] / Float(columns($0).count * sumCount) }
        for _ in 0..<sumCount {
            // The next stage may have exchanged or changed the row.
            for square in means.indices {
                for x in columns(square) { result[x] = means[square] }
            }
            next.append(&result)
        }
        sums = PixelRow(repeating: .zero, count: sums.count)
        sumCount = 0
    }
}
