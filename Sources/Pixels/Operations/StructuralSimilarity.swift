// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// Returns the structural similarity (SSIM) of two images: 1 if equal, near 0 if unrelated.
    ///
    /// SSIM is computed with C₁ = (0.01 × 255)² and C₂ = (0.03 × 255)², from luma over white. The
    /// windows are unweighted 8×8 blocks, one every 4 pixels; the last column and row are repeated
    /// to fill windows. The paper uses an 11×11 Gaussian at every pixel. Blocks are several times
    /// as fast and give slightly higher values: 0.95 instead of 0.94.
    ///
    /// - Parameter other: an image of the same size.
    /// - Returns: the mean over all windows, from -1 to 1.
    /// - SeeAlso: Z. Wang, A. C. Bovik, H. R. Sheikh, E. P. Simoncelli, “Image Quality Assessment: From
    ///   Error Visibility to Structural Similarity”, 2004.
    public func structuralSimilarity(to other: PixelBuffer) -> Double {
        precondition(
            size == other.size, "the images differ in size: \(size) and \(other.size)")
        let (first, second) = (lumaOverWhite(), other.lumaOverWhite())
        // Blocks of 4×4 pixels; 2×2 blocks form a window.
        let columnCount = max(2, (size.width + 3) / 4)
        let rowCount = max(2, (size.height + 3) / 4)
        var above: [SIMD4<Int32>] = []
        var total = 0.0
        for row in 0..<rowCount {
            var blocks = [SIMD4<Int32>](repeating: .zero, count: columnCount)
            for line in row * 4..<row * 4 + 4 {
                let y = min(line, size.height - 1)
                add(first.row(y), second.row(y), to: &blocks)
            }
            if row > 0 {
                for column in 1..<columnCount {
                    total += similarity(
                        above[column - 1] &+ above[column] &+ blocks[column - 1] &+ blocks[column])
                }
            }
            above = blocks
        }
        return total / Double((columnCount - 1) * (rowCount - 1))
    }

    /// Returns the 8-bit luma of the image over white; O(1) if it is ``PixelFormat/gray8`` already.
    public func lumaOverWhite() -> PixelBuffer {
        guard format == .yCbCr420 else { return compositedOverWhite().converted(to: .gray8) }
        var luma = MutablePixelBuffer(size: size, format: .gray8, colorProfile: colorProfile)
        for y in 0..<size.height {
            let source = row(y)
            luma.withMutableRow(y) { for x in source.indices { $0[x] = source[x] } }
        }
        return luma.finish()
    }
}

/// Adds a row of each image to the sums of the blocks that it crosses.
///
/// The four sums are those of the first image, the second, the squares of both, and the products.
private func add(
    _ first: Span<UInt8>, _ second: Span<UInt8>, to blocks: inout [SIMD4<Int32>]
) {
    for column in blocks.indices {
        var sums = SIMD4<Int32>.zero
        for place in column * 4..<column * 4 + 4 {
            let x = min(place, first.count - 1)
            let (a, b) = (Int32(first[x]), Int32(second[x]))
            sums &+= SIMD4(a, b, a &* a &+ b &* b, a &* b)
        }
        blocks[column] &+= sums
    }
}

/// Returns the SSIM of a window of 64 pixels; each factor is multiplied by 64².
private func similarity(_ sums: SIMD4<Int32>) -> Double {
    let scale = 4096 * 255.0 * 255.0
    let (meanConstant, varianceConstant) = (0.0001 * scale, 0.0009 * scale)
    let (first, second) = (Double(sums[0]), Double(sums[1]))
    let squaredMeans = first * first + second * second
    let variances = 64 * Double(sums[2]) - squaredMeans
    let covariance = 64 * Double(sums[3]) - first * second
    return (2 * first * second + meanConstant) * (2 * covariance + varianceConstant)
        / ((squaredMeans + meanConstant) * (variances + varianceConstant))
}
