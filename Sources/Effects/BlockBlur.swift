// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Convolves an image with a Gaussian at a reduced size, row by row of blocks.
///
/// Blocks of pixels are averaged, the averages convolved with a Gaussian of the variance that is
/// missing, and the result is enlarged with cubic B-splines. The Gaussian contains so little above the
/// Nyquist frequency of the reduced size that nothing visible is lost. Beyond the edges there are
/// blocks of repeated edge pixels.
struct BlockBlur {
    /// The smallest standard deviation in pixels; smaller ones need hardly more taps than memory
    /// accesses.
    static let smallestSigma = 4.0
    /// The number of blocks beyond each edge: as many as a spline reaches.
    static let margin = 2

    /// The side of a block in pixels, a power of two up to 256.
    let factor: Int
    /// The weights of blocks, for each pixel of a block in one direction.
    let splines: [SplinePhase]
    private let kernel: GaussianKernel
    private let blockCount: Int
    /// Room for the averages of a row of blocks and what the kernel needs beside them.
    private var padded: PixelRow
    /// Rows of blocks, blurred horizontally; the first one lies beyond the upper edge.
    private var rows: RowRing
    /// A row of blocks that is blurred in both directions, with ``margin`` blocks beyond each edge.
    private(set) var blurred: PixelRow
    /// The number of blurred rows, of which the first ``margin`` lie beyond the upper edge.
    private(set) var blurredCount = 0

    /// - Parameters:
    ///   - sigma: the standard deviation in pixels, from ``smallestSigma`` to 1000.
    ///   - width: the width of the image in pixels.
    init(sigma: Double, width: Int) {
        var factor = 2
        while sigma / Double(factor * 2) >= 2 { factor *= 2 }
        let square = Double(factor * factor)
        // Variances add up: that of a block, of the Gaussian, and of the spline.
        let variance = (sigma * sigma - (square - 1) / 12) / square - 1.0 / 3
        kernel = GaussianKernel(sigma: variance.squareRoot())
        splines = (0..<factor).map { SplinePhase($0, of: factor) }
        self.factor = factor
        blockCount = (width + factor - 1) / factor
        let count = blockCount + 2 * Self.margin
        padded = PixelRow(repeating: .zero, count: count + 2 * kernel.radius)
        blurred = PixelRow(repeating: .zero, count: count)
        rows = RowRing(width: count, capacity: 2 * kernel.radius + 1)
    }

    /// Whether no row has been appended.
    var isEmpty: Bool { rows.count == 0 }

    /// Whether the next blurred row needs no more rows of blocks, unless the image ends.
    var canBlur: Bool { rows.count > blurredCount - Self.margin + 1 + kernel.radius }

    /// Appends a row of blocks.
    ///
    /// - Parameters:
    ///   - edges: the averages of the first and last pixel column.
    ///   - average: returns the average of a block.
    mutating func append(
        edges: (SIMD4<Float>, SIMD4<Float>), _ average: (_ block: Int) -> SIMD4<Float>
    ) {
        let start = kernel.radius + Self.margin
        for block in 0..<blockCount { padded[start + block] = average(block) }
        for index in 1...Self.margin {
            padded[start - index] = edges.0
            padded[start + blockCount - 1 + index] = edges.1
        }
        kernel.convolve(&padded, into: &blurred)
        rows.append(blurred)
    }

    /// Makes the next row of ``blurred``.
    mutating func blurNext() {
        rows.sum(around: blurredCount - Self.margin + 1, kernel.weights, into: &blurred)
        blurredCount += 1
    }

    /// Calls `body` with the pixels of a blurred row, enlarged horizontally.
    @inline(__always)
    func forEachPixel(_ width: Int, _ body: (Int, SIMD4<Float>) -> Void) {
        let (blocks, splines) = (blurred.span, splines.span)
        precondition(width <= blockCount * factor && splines.count == factor)
        var x = 0
        for block in 0..<blockCount {
            for phase in 0..<min(factor, width - x) {
                let spline = unsafe splines[unchecked: phase]
                let first = block &+ spline.firstTap &+ Self.margin
                let left =
                    unsafe blocks[unchecked: first] * spline.weights.0
                    + blocks[unchecked: first &+ 1] * spline.weights.1
                let right =
                    unsafe blocks[unchecked: first &+ 2] * spline.weights.2
                    + blocks[unchecked: first &+ 3] * spline.weights.3
                body(x, left + right)
                x &+= 1
            }
        }
    }

    /// Returns the first of the four blurred rows that row `y` of the image is made of.
    func firstBlurredRow(of y: Int) -> Int {
        y / factor + splines[y % factor].firstTap + Self.margin
    }
}

/// Convolves the rows of an image with a Gaussian at a reduced size.
final class ReducedGaussianStage: RowStage {
    private let size: PixelSize
    private let next: RowStage
    private var blur: BlockBlur
    /// The sums of the rows of the current block, and their number.
    private var sums: PixelRow
    private var sumCount = 0
    private var lastRow: PixelRow
    /// Blurred rows of the full width.
    private var wide: RowRing
    private var wideRow: PixelRow
    private var nextRow = 0

    /// - Parameters:
    ///   - sigma: the standard deviation in pixels, at least ``BlockBlur/smallestSigma``.
    ///   - size: the size of the image.
    ///   - next: receives as many rows.
    init(sigma: Double, _ size: PixelSize, _ next: RowStage) {
        self.size = size
        self.next = next
        blur = BlockBlur(sigma: sigma, width: size.width)
        sums = PixelRow(repeating: .zero, count: size.width)
        lastRow = sums
        wideRow = sums
        wide = RowRing(width: size.width, capacity: 4)
    }

    override func append(_ row: inout PixelRow) {
        if blur.isEmpty { appendBlocks(of: row, count: 1) }
        add(row)
        swap(&lastRow, &row)
    }

    override func finish() {
        while sumCount > 0 { add(lastRow) }
        appendBlocks(of: lastRow, count: 1)
        while nextRow < size.height { appendWideRow() }
        next.finish()
    }

    private func add(_ row: PixelRow) {
        if sumCount == 0 {
            sums = row
        } else {
            let row = row.span
            var sums = sums.mutableSpan
            for x in row.indices { sums[x] += row[x] }
        }
        sumCount += 1
        guard sumCount == blur.factor else { return }
        appendBlocks(of: sums, count: sumCount)
        sumCount = 0
    }

    /// Appends a row of blocks, the averages of `count` rows whose sums are given.
    private func appendBlocks(of sums: PixelRow, count: Int) {
        let (last, factor) = (size.width - 1, blur.factor)
        let scale = 1 / Float(count)
        blur.append(edges: (sums[0] * scale, sums[last] * scale)) { block in
            var sum = SIMD4<Float>()
            for x in block * factor..<(block + 1) * factor { sum += sums[min(x, last)] }
            return sum * (scale / Float(factor))
        }
        while blur.canBlur { appendWideRow() }
    }

    /// Passes on the rows that wait for one more blurred row of blocks.
    private func appendWideRow() {
        blur.blurNext()
        blur.forEachPixel(size.width) { wideRow[$0] = $1 }
        wide.append(wideRow)
        while nextRow < size.height {
            let first = blur.firstBlurredRow(of: nextRow)
            guard first + 4 <= wide.count else { return }
            wide.sum(
                from: first, blur.splines[nextRow % blur.factor].weightList, into: &wideRow)
            nextRow += 1
            next.append(&wideRow)
        }
    }
}

/// The weights of four blocks at a pixel with a certain position in its block.
struct SplinePhase {
    /// The first of the four blocks, relative to that of the pixel.
    let firstTap: Int
    let weights: (Float, Float, Float, Float)

    /// The weights, each in all channels.
    var weightList: [SIMD4<Float>] {
        [weights.0, weights.1, weights.2, weights.3].map { SIMD4(repeating: $0) }
    }

    init(_ index: Int, of count: Int) {
        let position = (Double(index) + 0.5) / Double(count) - 0.5
        let floor = position.rounded(.down)
        let t = position - floor
        let (t2, t3) = (t * t, t * t * t)
        firstTap = Int(floor) - 1
        weights = (
            Float((1 - t) * (1 - t) * (1 - t) / 6), Float((3 * t3 - 6 * t2 + 4) / 6),
            Float((3 * (t + t2 - t3) + 1) / 6), Float(t3 / 6)
        )
    }
}
