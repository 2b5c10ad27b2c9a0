// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// Returns the image as ``PixelFormat/yCbCr420``: the inverse of ``convertedFromYCbCr()``.
    ///
    /// Chroma is that of the mean of 2×2 pixels, of which the last column and row are repeated.
    ///
    /// - SeeAlso: ITU-T T.871 (JFIF), section 7.
    func convertedToYCbCr() -> PixelBuffer {
        guard [.gray8, .gray16, .rgb8, .rgb16].contains(format) else {
            return converted(to: .rgb8).convertedToYCbCr()
        }
        var result = MutablePixelBuffer(
            size: size, format: .yCbCr420, colorProfile: colorProfile)
        var pixels = [UInt8](repeating: 0, count: size.width * 3)
        // An odd width leaves room for a repeated column.
        var sums = [SIMD4<Int32>](repeating: .zero, count: (size.width + 1) / 2)
        for y in 0..<size.height {
            var target = pixels.mutableSpan
            row(y).convert(from: format, to: .rgb8, into: &target)
            result.withMutableRow(y) { Self.writeLuma(pixels, into: &$0) }
            let isLast = y == size.height - 1
            if y % 2 == 0 { for column in sums.indices { sums[column] = .zero } }
            Self.add(pixels, to: &sums)
            if y % 2 == 0, isLast { Self.add(pixels, to: &sums) }
            guard y % 2 == 1 || isLast else { continue }
            // Of the mean, in 1/65536; the sums of four samples are in 1/4.
            result.withMutableRow(y / 2, plane: 1) {
                Self.writeChroma(sums, SIMD4(-11058, -21710, 32768, 0), into: &$0)
            }
            result.withMutableRow(y / 2, plane: 2) {
                Self.writeChroma(sums, SIMD4(32768, -27439, -5329, 0), into: &$0)
            }
        }
        return result.finish()
    }

    private static func writeLuma(_ pixels: [UInt8], into luma: inout MutableSpan<UInt8>) {
        let pixels = pixels.span
        precondition(pixels.count >= luma.count * 3, "there are too few pixels")
        for x in 0..<luma.count {
            let red = unsafe UInt32(pixels[unchecked: x &* 3])
            let green = unsafe UInt32(pixels[unchecked: x &* 3 &+ 1])
            let blue = unsafe UInt32(pixels[unchecked: x &* 3 &+ 2])
            let sum = red &* 19595 &+ green &* 38470 &+ blue &* 7471 &+ 32768
            unsafe luma[unchecked: x] = UInt8(truncatingIfNeeded: sum &>> 16)
        }
    }

    /// Adds the two pixels of each column of chroma.
    private static func add(_ pixels: [UInt8], to sums: inout [SIMD4<Int32>]) {
        let pixels = pixels.span
        let last = pixels.count / 3 - 1
        func color(_ x: Int) -> SIMD4<Int32> {
            SIMD4(Int32(pixels[x * 3]), Int32(pixels[x * 3 + 1]), Int32(pixels[x * 3 + 2]), 0)
        }
        for column in sums.indices {
            sums[column] &+= color(column * 2) &+ color(min(column * 2 + 1, last))
        }
    }

    private static func writeChroma(
        _ sums: [SIMD4<Int32>], _ weights: SIMD4<Int32>, into chroma: inout MutableSpan<UInt8>
    ) {
        for column in 0..<chroma.count {
            let product = sums[column] &* weights
            let level = (product.x &+ product.y &+ product.z &+ (128 << 18) &+ (1 << 17)) >> 18
            chroma[column] = UInt8(clamping: level)
        }
    }
}
