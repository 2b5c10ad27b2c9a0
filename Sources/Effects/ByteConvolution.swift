// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Convolves an image of 8 bits per channel with a Gaussian whose weights are few, in integers.
///
/// The result is that of ``GaussianStage`` within 1/255. Samples are integers of 16 bits in 1/128, of
/// which the processor multiplies several at a time; each product is truncated, by 1/256 on average.
struct ByteConvolution {
    private let image: PixelBuffer
    private let channelCount: Int
    private let sampleCount: Int
    private let radius: Int
    /// The weights of the distances from 0, in 1/65536; that of 0 is halved, since two samples are added
    /// at each distance.
    private let weights: [UInt16]

    /// - Parameters:
    ///   - sigma: the standard deviation in pixels, less than ``BlockBlur/smallestSigma``.
    ///   - image: an image with one byte per channel, in one plane.
    init(sigma: Double, _ image: PixelBuffer) {
        self.image = image
        channelCount = image.format.channelCount
        sampleCount = image.size.width * channelCount
        let kernel = GaussianKernel(sigma: sigma)
        radius = kernel.radius
        let sides = kernel.weights.dropFirst().map { UInt16(($0.x * 65536).rounded()) }
        weights = [sides.reduce(32768) { $0 - $1 }] + sides
    }

    /// Returns the blurred image, or `nil` if it was cancelled.
    func blurred(_ isCancelled: () -> Bool) -> PixelBuffer? {
        var result = MutablePixelBuffer(
            size: image.size, format: image.format, colorProfile: image.colorProfile)
        let (height, capacity) = (image.size.height, 2 * radius + 1)
        // The newest rows, as many as are added.
        var rows = [UInt16](repeating: 0, count: capacity * sampleCount)
        let margin = radius * channelCount
        var column = [UInt16](repeating: 0, count: sampleCount + 2 * margin)
        var blurred = [UInt16](repeating: 0, count: sampleCount)
        func start(_ y: Int) -> Int { min(max(y, 0), height - 1) % capacity * sampleCount }
        for y in 0..<min(radius, height) { Self.widen(image.row(y), into: &rows, at: start(y)) }
        for y in 0..<height {
            if isCancelled() { return nil }
            if y + radius < height {
                Self.widen(image.row(y + radius), into: &rows, at: start(y + radius))
            }
            let vertical = (0...radius).map { (start(y - $0), start(y + $0)) }
            add(rows, vertical, into: &column, margin..<margin + sampleCount)
            repeatEdges(&column, margin)
            let horizontal = (0...radius).map {
                (margin - $0 * channelCount, margin + $0 * channelCount)
            }
            add(column, horizontal, into: &blurred, 0..<sampleCount)
            result.withMutableRow(y) { Self.narrow(blurred, into: &$0) }
        }
        return result.finish()
    }

    private static func widen(_ row: Span<UInt8>, into rows: inout [UInt16], at start: Int) {
        precondition(start >= 0 && start + row.count <= rows.count, "the row leaves the rows")
        var rows = rows.mutableSpan
        for index in row.indices {
            unsafe rows[unchecked: start &+ index] = UInt16(row[unchecked: index]) &<< 7
        }
    }

    private static func narrow(_ samples: [UInt16], into row: inout MutableSpan<UInt8>) {
        let samples = samples.span
        precondition(samples.count >= row.count, "there are too few samples")
        for index in 0..<row.count {
            unsafe row[unchecked: index] = UInt8(
                truncatingIfNeeded: (samples[unchecked: index] &+ 64) &>> 7)
        }
    }

    private func repeatEdges(_ column: inout [UInt16], _ margin: Int) {
        for index in 0..<margin {
            let channel = index % channelCount
            column[index] = column[margin + channel]
            column[margin + sampleCount + index] =
                column[margin + sampleCount - channelCount + channel]
        }
    }

    /// Writes sums of two samples at each distance, times its weight.
    ///
    /// - Parameters:
    ///   - samples: the samples.
    ///   - pairs: the indices of the first two samples at each distance from 0.
    ///   - sums: receives the sums.
    ///   - range: the indices of the sums.
    private func add(
        _ samples: [UInt16], _ pairs: [(Int, Int)], into sums: inout [UInt16], _ range: Range<Int>
    ) {
        let samples = samples.span
        var sums = sums.mutableSpan
        precondition(
            range.lowerBound >= 0 && range.upperBound <= sums.count
                && pairs.allSatisfy {
                    min($0.0, $0.1) >= 0 && max($0.0, $0.1) + range.count <= samples.count
                }, "a range leaves the samples")
        /// Returns the sum of two samples, times a weight.
        @inline(__always)
        func product(_ pair: (Int, Int), _ weight: UInt16, _ index: Int) -> UInt16 {
            let sum =
                unsafe samples[unchecked: pair.0 &+ index] &+ samples[unchecked: pair.1 &+ index]
            return UInt16(truncatingIfNeeded: (UInt32(sum) &* UInt32(weight)) &>> 16)
        }
        // Half of a unit for each product, since they are truncated.
        let bias = UInt16(pairs.count / 2)
        let first = range.lowerBound
        // The sums of a chunk stay in the first-level cache.
        var start = 0
        while start < range.count {
            let chunk = start..<min(start + 2048, range.count)
            for index in chunk {
                unsafe sums[unchecked: first &+ index] =
                    product(pairs[0], weights[0], index) &+ product(pairs[1], weights[1], index)
                    &+ bias
            }
            for distance in stride(from: 2, to: pairs.count - 1, by: 2) {
                for index in chunk {
                    unsafe sums[unchecked: first &+ index] &+=
                        product(pairs[distance], weights[distance], index)
                        &+ product(pairs[distance + 1], weights[distance + 1], index)
                }
            }
            if pairs.count % 2 == 1 {
                let distance = pairs.count - 1
                for index in chunk {
                    unsafe sums[unchecked: first &+ index] &+=
                        product(pairs[distance], weights[distance], index)
                }
            }
            start = chunk.upperBound
        }
    }
}
