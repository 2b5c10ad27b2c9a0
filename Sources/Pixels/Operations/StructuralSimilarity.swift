// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// How like another picture this one looks: 1 if it is the same, near 0 if nothing is alike.
    ///
    /// That is SSIM with C₁ = (0.01 × 255)² and C₂ = (0.03 × 255)², of luma alone, over white where a
    /// picture is transparent. The windows are blocks of 8 by 8 pixels that all count the same, one
    /// every 4 pixels, where the paper slides a Gaussian of 11 by 11 over every pixel; that is several
    /// times as fast, and a little kinder to files: 0.95 is 0.94 there. The last column and row are
    /// repeated to whole windows.
    ///
    /// - Parameter other: a picture of the same size.
    /// - Returns: the mean of all windows, from -1 to 1.
    /// - SeeAlso: Z. Wang, A. C. Bovik, H. R. Sheikh, E. P. Simoncelli, “Image Quality Assessment: From
    ///   Error Visibility to Structural Similarity”, 2004.
    public func structuralSimilarity(to other: PixelBuffer) -> Double {
        precondition(size == other.size, "pictures of different sizes cannot be compared")
        let (first, second) = (lumaOverWhite(), other.lumaOverWhite())
        // Blocks of 4 by 4, of which two by two are a window.
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

    /// Luma of 8 bits, over white where the picture is transparent; free if it is that already.
    public func lumaOverWhite() -> PixelBuffer {
        guard format == .yCbCr420 else { return laidOverWhite().converted(to: .gray8) }
        var luma = MutablePixelBuffer(size: size, format: .gray8, colorProfile: colorProfile)
        for y in 0..<size.height {
            let source = row(y)
            luma.withMutableRow(y) { for x in source.indices { $0[x] = source[x] } }
        }
        return luma.finish()
    }
}

/// Adds a row of two pictures to the sums of the blocks that it goes through.
///
/// The sums are those of the first picture, of the second, of the squares of both, and of their
/// products.
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

/// SSIM of a window of 64 pixels, both sides of the fraction multiplied by 64².
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
