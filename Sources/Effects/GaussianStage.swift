// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Pixels

/// The weights of a sampled Gaussian.
struct GaussianKernel {
    /// The weights of the pixel and of its neighbours at distances up to ``radius``, each in all
    /// channels; the sum over both sides is 1.
    let weights: [SIMD4<Float>]

    var radius: Int { weights.count - 1 }

    init(sigma: Double) {
        let radius = max(1, Int((3 * sigma).rounded(.up)))
        let values = (0...radius).map { exp(-0.5 * pow(Double($0) / sigma, 2)) }
        let sum = 2 * values.reduce(0, +) - values[0]
        weights = values.map { SIMD4(repeating: Float($0 / sum)) }
    }

    /// Convolves a row; edge pixels are repeated.
    ///
    /// - Parameters:
    ///   - padded: room for the row and ``radius`` pixels on both sides; contains the row in its middle.
    ///   - result: receives the row.
    func convolve(_ padded: inout PixelRow, into result: inout PixelRow) {
        let (radius, count) = (radius, result.count)
        let (first, last) = (padded[radius], padded[radius + count - 1])
        for index in 0..<radius {
            padded[index] = first
            padded[radius + count + index] = last
        }
        let (source, weights) = (padded.span, weights.span)
        var target = result.mutableSpan
        precondition(source.count >= count + 2 * radius && target.count == count)
        for x in 0..<count {
            var sum = unsafe source[unchecked: x &+ radius] * weights[unchecked: 0]
            var distance = 1
            while distance <= radius {
                let pair =
                    unsafe source[unchecked: x &+ radius &- distance]
                    + source[unchecked: x &+ radius &+ distance]
                sum += unsafe pair * weights[unchecked: distance]
                distance &+= 1
            }
            unsafe target[unchecked: x] = sum
        }
    }
}

/// The newest rows of an image, as many as a vertical kernel needs.
struct RowRing {
    private var pixels: PixelRow
    private let width: Int
    private let capacity: Int
    /// The number of rows that have been appended.
    private(set) var count = 0

    init(width: Int, capacity: Int) {
        self.width = width
        self.capacity = capacity
        pixels = PixelRow(repeating: .zero, count: width * capacity)
    }

    mutating func append(_ row: PixelRow) {
        let start = count % capacity * width
        let source = row.span
        precondition(source.count == width)
        var target = pixels.mutableSpan
        for x in source.indices { target[start + x] = source[x] }
        count += 1
    }

    /// Returns the index of the first pixel of a row; rows beyond the edges are the first or last one.
    private func offset(_ y: Int) -> Int {
        let row = min(max(y, 0), count - 1)
        precondition(row >= count - capacity, "the row has been overwritten")
        return row % capacity * width
    }

    /// Copies row `y`.
    func copy(_ y: Int, into row: inout PixelRow) {
        let start = offset(y)
        let source = pixels.span
        var target = row.mutableSpan
        for x in 0..<width { target[x] = source[start + x] }
    }

    /// Writes the sum of rows, each times a weight.
    ///
    /// - Parameters:
    ///   - first: the row of the first weight.
    ///   - weights: the weights of consecutive rows, each in all channels.
    ///   - result: receives the sums.
    ///   - start: the index of the first sum.
    func sum(
        from first: Int, _ weights: [SIMD4<Float>], into result: inout PixelRow, at start: Int = 0
    ) {
        let rows = weights.indices.map { offset(first + $0) }
        let source = pixels.span
        var target = result.mutableSpan
        precondition(target.count >= start + width)
        PointOperations.forEachChunk(width) { range in
            for x in range {
                unsafe target[unchecked: start &+ x] =
                    source[unchecked: rows[0] &+ x] * weights[0]
            }
            for (row, weight) in zip(rows, weights).dropFirst() {
                for x in range {
                    unsafe target[unchecked: start &+ x] += source[unchecked: row &+ x] * weight
                }
            }
        }
    }

    /// Writes the sum of a row and its neighbours, each times the weight of its distance.
    ///
    /// - Parameters:
    ///   - centre: the row.
    ///   - weights: the weights of the distances from 0, each in all channels.
    ///   - result: receives the sums.
    ///   - start: the index of the first sum.
    func sum(
        around centre: Int, _ weights: [SIMD4<Float>], into result: inout PixelRow,
        at start: Int = 0
    ) {
        let middle = offset(centre)
        let pairs = (1..<weights.count).map { (offset(centre - $0), offset(centre + $0)) }
        let source = pixels.span
        var target = result.mutableSpan
        precondition(target.count >= start + width)
        PointOperations.forEachChunk(width) { range in
            for x in range {
                unsafe target[unchecked: start &+ x] = source[unchecked: middle &+ x] * weights[0]
            }
            for (index, pair) in pairs.enumerated() {
                let weight = weights[index + 1]
                for x in range {
                    let sum =
                        unsafe source[unchecked: pair.0 &+ x] + source[unchecked: pair.1 &+ x]
                    unsafe target[unchecked: start &+ x] += sum * weight
                }
            }
        }
    }
}

/// Convolves the image with a Gaussian whose weights are few, or sharpens it with one.
final class GaussianStage: RowStage {
    private let kernel: GaussianKernel
    private let sharpening: Float?
    private let height: Int
    private let next: RowStage
    private var ring: RowRing
    private var padded: PixelRow
    private var result: PixelRow
    private var nextRow = 0

    /// - Parameters:
    ///   - sigma: the standard deviation in pixels.
    ///   - sharpening: the factor of the difference from the blurred image, which is added to the
    ///     image; `nil` to blur.
    ///   - size: the size of the image.
    ///   - next: receives as many rows.
    init(sigma: Double, sharpening: Float?, _ size: PixelSize, _ next: RowStage) {
        kernel = GaussianKernel(sigma: sigma)
        self.sharpening = sharpening
        self.next = next
        height = size.height
        ring = RowRing(width: size.width, capacity: 2 * kernel.radius + 1)
        padded = PixelRow(repeating: .zero, count: size.width + 2 * kernel.radius)
        result = PixelRow(repeating: .zero, count: size.width)
    }

    override func append(_ row: inout PixelRow) {
        ring.append(row)
        if ring.count > kernel.radius { passOn(&row) }
    }

    override func finish() {
        var row = result
        while nextRow < height { passOn(&row) }
        next.finish()
    }

    /// Passes the next row on; `row` is room for it.
    private func passOn(_ row: inout PixelRow) {
        ring.sum(around: nextRow, kernel.weights, into: &padded, at: kernel.radius)
        kernel.convolve(&padded, into: &result)
        if let sharpening {
            ring.copy(nextRow, into: &row)
            let blurred = result.span
            var pixels = row.mutableSpan
            for x in blurred.indices { pixels[x] += (pixels[x] - blurred[x]) * sharpening }
        } else {
            swap(&row, &result)
        }
        nextRow += 1
        next.append(&row)
    }
}
