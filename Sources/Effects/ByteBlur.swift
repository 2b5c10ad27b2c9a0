// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Convolves an image of 8 bits per channel with a Gaussian at a reduced size; what is computed at the
/// full size is computed in integers.
///
/// The result is that of ``ReducedGaussianStage``, in half of the time.
final class ByteBlur {
    private let image: PixelBuffer
    private let channelCount: Int
    private let sampleCount: Int
    private var blur: BlockBlur
    /// The sums of the rows of a block.
    private var sums: [UInt16]
    /// The newest four blurred rows of the full width, in 1/256; four more samples follow each.
    private var wide: [[UInt16]]
    private var result: MutablePixelBuffer?
    private var nextRow = 0

    /// - Parameters:
    ///   - sigma: the standard deviation in pixels, at least ``BlockBlur/smallestSigma``.
    ///   - image: an image with one byte per channel, in one plane.
    init(sigma: Double, _ image: PixelBuffer) {
        self.image = image
        channelCount = image.format.channelCount
        sampleCount = image.size.width * channelCount
        blur = BlockBlur(sigma: sigma, width: image.size.width)
        sums = Array(repeating: 0, count: sampleCount)
        wide = Array(repeating: Array(repeating: 0, count: sampleCount + 4), count: 4)
        result = MutablePixelBuffer(
            size: image.size, format: image.format, colorProfile: image.colorProfile)
    }

    /// Returns the blurred image, or `nil` if it was cancelled.
    func blurred(_ isCancelled: () -> Bool) -> PixelBuffer? {
        let height = image.size.height
        appendBlocks(ofRows: 0..<1)
        for start in stride(from: 0, to: height, by: blur.factor) {
            if isCancelled() { return nil }
            appendBlocks(ofRows: start..<start + blur.factor)
        }
        appendBlocks(ofRows: height - 1..<height)
        while nextRow < height { makeRows() }
        return result.take()?.finish()
    }

    /// Appends a row of blocks; rows beyond the image are its last one.
    private func appendBlocks(ofRows rows: Range<Int>) {
        for index in sums.indices { sums[index] = 0 }
        let image = image
        for y in rows { Self.add(image.row(min(y, image.size.height - 1)), to: &sums) }
        let (last, factor, channelCount) = (image.size.width - 1, blur.factor, channelCount)
        let summed = sums
        let samples = summed.span
        let scale = 1 / (255 * Float(rows.count))
        /// The sums of a pixel column.
        func column(_ x: Int) -> SIMD4<UInt32> {
            var column = SIMD4<UInt32>()
            for channel in 0..<channelCount {
                column[channel] = UInt32(samples[x * channelCount + channel])
            }
            return column
        }
        let edges = (
            SIMD4<Float>(column(0)) * scale, SIMD4<Float>(column(last)) * scale
        )
        blur.append(edges: edges) { block in
            var sum = SIMD4<UInt32>()
            for x in block * factor..<(block + 1) * factor { sum &+= column(min(x, last)) }
            return SIMD4<Float>(sum) * (scale / Float(factor))
        }
        while blur.canBlur { makeRows() }
    }

    private static func add(_ row: Span<UInt8>, to sums: inout [UInt16]) {
        precondition(row.count == sums.count, "the sums are those of another width")
        var sums = sums.mutableSpan
        for index in row.indices {
            unsafe sums[unchecked: index] &+= UInt16(row[unchecked: index])
        }
    }

    /// Makes the rows that wait for one more blurred row of blocks.
    private func makeRows() {
        let current = blur.blurredCount % 4
        blur.blurNext()
        widen(into: &wide[current])
        while nextRow < image.size.height {
            let first = blur.firstBlurredRow(of: nextRow)
            guard first + 4 <= blur.blurredCount else { return }
            makeRow(from: first)
            nextRow += 1
        }
    }

    private func widen(into row: inout [UInt16]) {
        let channelCount = channelCount
        precondition(row.count == sampleCount + 4, "there is no room after the row")
        unsafe row.withUnsafeMutableBytes { row in
            blur.forEachPixel(image.size.width) { x, pixel in
                let samples = SIMD4<UInt16>(truncatingIfNeeded: (pixel * 65280).nearestIntegers)
                // What exceeds the pixel is overwritten by the next.
                unsafe row.storeBytes(
                    of: samples, toByteOffset: x &* channelCount &* 2, as: SIMD4<UInt16>.self)
            }
        }
    }

    private func makeRow(from first: Int) {
        let spline = blur.splines[nextRow % blur.factor]
        func fraction(_ weight: Float) -> UInt16 { UInt16((weight * 65536).rounded()) }
        let weights = (
            fraction(spline.weights.0), fraction(spline.weights.1), fraction(spline.weights.2),
            fraction(spline.weights.3)
        )
        let rows = (0..<4).map { wide[(first + $0) % 4] }
        result?.withMutableRow(nextRow) { target in
            Self.combine(rows, weights, &target)
        }
    }

    /// Writes the sum of four rows, each times a weight in 1/65536.
    private static func combine(
        _ rows: [[UInt16]], _ weights: (UInt16, UInt16, UInt16, UInt16),
        _ target: inout MutableSpan<UInt8>
    ) {
        let (samples0, samples1, samples2, samples3) = (rows[0], rows[1], rows[2], rows[3])
        let (row0, row1) = (samples0.span, samples1.span)
        let (row2, row3) = (samples2.span, samples3.span)
        precondition(
            min(row0.count, row1.count, row2.count, row3.count) >= target.count,
            "a row is too short")
        @inline(__always) func product(_ sample: UInt16, _ weight: UInt16) -> UInt16 {
            UInt16(truncatingIfNeeded: (UInt32(sample) &* UInt32(weight)) &>> 16)
        }
        for index in 0..<target.count {
            // Each product is truncated by a half on average.
            let sum =
                unsafe product(row0[unchecked: index], weights.0)
                &+ product(row1[unchecked: index], weights.1)
                &+ product(row2[unchecked: index], weights.2)
                &+ product(row3[unchecked: index], weights.3) &+ 130
            unsafe target[unchecked: index] = UInt8(truncatingIfNeeded: sum &>> 8)
        }
    }
}
