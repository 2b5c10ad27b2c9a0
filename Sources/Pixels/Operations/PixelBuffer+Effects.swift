// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// Returns the image convolved with a Gaussian, or `nil` if it was cancelled.
    ///
    /// Three extended box filters approximate the Gaussian, in O(pixels) for every `sigma`. Edge
    /// pixels are repeated beyond the border.
    ///
    /// - Parameters:
    ///   - sigma: the standard deviation in pixels, clamped to 1000; 0 or less changes nothing.
    ///   - isCancelled: returns whether to stop; called before each row and column.
    /// - Returns: an image in the format ``PixelFormat/withIntegerSamples``.
    /// - SeeAlso: Pascal Gwosdek et al., “Theoretical Foundations of Gaussian Convolution by Extended
    ///   Box Filtering”, 2011.
    public func blurred(sigma: Double, isCancelled: () -> Bool) -> PixelBuffer? {
        guard format.withIntegerSamples == format else {
            return converted(to: format.withIntegerSamples)
                .blurred(sigma: sigma, isCancelled: isCancelled)
        }
        guard sigma > 0, !size.isEmpty else { return self }
        let filter = ExtendedBox(sigma: min(sigma, 1000), passCount: 3)
        var pixels: [SIMD4<UInt16>] = []
        pixels.reserveCapacity(size.area)
        var line = [SIMD4<UInt16>](repeating: SIMD4(), count: size.width)
        var deepRow = DeepRow(width: size.width)
        for y in 0..<size.height {
            if isCancelled() { return nil }
            deepRow.unpack(row(y), format)
            for x in 0..<size.width { line[x] = deepRow.pixel(x) }
            filter.apply(to: &line)
            pixels += line
        }
        line = [SIMD4<UInt16>](repeating: SIMD4(), count: size.height)
        for x in 0..<size.width {
            if isCancelled() { return nil }
            for y in 0..<size.height { line[y] = pixels[y * size.width + x] }
            filter.apply(to: &line)
            for y in 0..<size.height { pixels[y * size.width + x] = line[y] }
        }
        return mapped(to: format) { [width = size.width] row, y in
            var next = y * width
            row.forEachPixel { pixel in
                pixel = pixels[next]
                next += 1
            }
        }
    }

    /// Returns the image convolved with a Gaussian; see ``blurred(sigma:isCancelled:)``.
    public func blurred(sigma: Double) -> PixelBuffer {
        blurred(sigma: sigma) { false } ?? self
    }

    /// Returns the image with rounded, antialiased corners.
    ///
    /// - Parameter radius: the corner radius in pixels, clamped to 0 and half the shorter side.
    /// - Returns: premultiplied RGBA of the image's bit depth, or ``PixelFormat/alpha8``.
    public func withRoundedCorners(radius: Double) -> PixelBuffer {
        let result: PixelFormat =
            format == .alpha8 ? .alpha8 : format.isDeep ? .rgba16 : .rgba8
        let corner = RoundedCorner(radius: radius, of: size)
        return mapped(to: result) { row, y in
            guard let insets = corner.insets(ofRow: y) else { return }
            let width = row.samples.count / 4
            var x = 0
            row.forEachPixel { pixel in
                let coverage = corner.coverage(x, width, insets)
                x += 1
                guard coverage < 1 else { return }
                for channel in 0..<4 {
                    pixel[channel] = UInt16((Double(pixel[channel]) * coverage).rounded())
                }
            }
        }
    }

    /// Returns the image blended with a colour; alpha is unchanged.
    ///
    /// - Parameters:
    ///   - color: the colour, in the colour space of the image.
    ///   - amount: the opacity of the tint, clamped to 0 (unchanged) and 1 (colour only); NaN
    ///     becomes 0.
    /// - Returns: RGB or premultiplied RGBA of the image's bit depth.
    public func tinted(_ color: SRGBColor, amount: Double) -> PixelBuffer {
        func clamped(_ value: Double) -> Double { value > 0 ? min(value, 1) : 0 }
        let amount = clamped(amount * color.alpha)
        let parts = [color.red, color.green, color.blue].map { clamped($0) * amount }
        let format: PixelFormat =
            switch (self.format.hasAlpha, self.format.isDeep) {
            case (true, true): .rgba16
            case (true, false): .rgba8
            case (false, true): .rgb16
            case (false, false): .rgb8
            }
        return mapped(to: format) { row, _ in
            row.forEachPixel { pixel in
                let alpha = Double(pixel[3])
                for channel in 0..<3 {
                    let kept = Double(pixel[channel]) * (1 - amount)
                    pixel[channel] = UInt16((kept + parts[channel] * alpha).rounded())
                }
            }
        }
    }

    /// Returns the image composited over white, as 8-bit RGB; O(1) if it has no alpha.
    public func compositedOverWhite() -> PixelBuffer {
        guard format.hasAlpha else { return self }
        let source = converted(to: .rgba8)
        var result = MutablePixelBuffer(size: size, format: .rgb8, colorProfile: colorProfile)
        for y in 0..<size.height {
            result.withMutableRow(y) {
                PremultipliedAlpha.compositeOverWhite(source.row(y), into: &$0)
            }
        }
        return result.finish()
    }
}

/// A repeated box filter of fractional length: an odd number of pixels and a fraction of the two
/// adjacent ones.
private struct ExtendedBox {
    private let passCount: Int
    /// The number of whole pixels on each side of the centre.
    private let radius: Int
    /// The weight of each whole pixel.
    private let weight: Float
    /// The weight of each of the two outer pixels.
    private let edgeWeight: Float

    init(sigma: Double, passCount: Int) {
        self.passCount = passCount
        let variance = sigma * sigma / Double(passCount)
        let whole = (((12 * variance + 1).squareRoot() - 1) / 2).rounded(.down)
        let length = 2 * whole + 1
        let fraction =
            length * (whole * (whole + 1) - 3 * variance)
            / (6 * (variance - (whole + 1) * (whole + 1)))
        radius = Int(whole)
        weight = Float(1 / (length + 2 * fraction))
        edgeWeight = Float(fraction / (length + 2 * fraction))
    }

    func apply(to line: inout [SIMD4<UInt16>]) {
        guard let first = line.first, let last = line.last else { return }
        // Padded once for all passes: each pass filters the previous one's padding as well.
        let margin = passCount * (radius + 1)
        var source = Array(repeating: first, count: margin) + line
        source += Array(repeating: last, count: margin)
        var result = source
        for pass in 0..<passCount {
            if pass > 0 { swap(&source, &result) }
            mean(source, into: &result)
        }
        for index in line.indices { line[index] = result[margin + index] }
    }

    private func mean(_ source: [SIMD4<UInt16>], into result: inout [SIMD4<UInt16>]) {
        let last = source.count - 1
        func sample(_ index: Int) -> SIMD4<UInt32> {
            SIMD4(truncatingIfNeeded: source[min(max(index, 0), last)])
        }
        // Integers, so that the running sum stays exact.
        var sum = SIMD4<UInt32>()
        for index in -radius...radius { sum &+= sample(index) }
        for index in source.indices {
            let (before, after) = (sample(index - radius - 1), sample(index + radius + 1))
            let mean = SIMD4<Float>(sum) * weight + SIMD4<Float>(before &+ after) * edgeWeight + 0.5
            result[index] = SIMD4<UInt16>(mean.clamped(lowerBound: 0, upperBound: 65535))
            sum = sum &+ after &- sample(index - radius)
        }
    }
}

extension SIMD4<Float> {
    fileprivate func clamped(lowerBound: Float, upperBound: Float) -> SIMD4<Float> {
        clamped(lowerBound: SIMD4(repeating: lowerBound), upperBound: SIMD4(repeating: upperBound))
    }
}

/// The coverage of pixels by an image with rounded corners.
private struct RoundedCorner {
    private let radius: Double
    private let height: Double

    init(radius: Double, of size: PixelSize) {
        self.radius = min(max(radius, 0), Double(min(size.width, size.height)) / 2)
        height = Double(size.height)
    }

    /// Returns the horizontal insets in pixels at 16 heights within a row; `nil` without a corner.
    func insets(ofRow y: Int) -> [Double]? {
        let top = Double(y)
        guard top < radius || top + 1 > height - radius else { return nil }
        return (0..<16).map { line in
            let place = top + (Double(line) + 0.5) / 16
            let distance = max(radius - place, place - (height - radius), 0)
            return radius - (radius * radius - distance * distance).squareRoot()
        }
    }

    /// Returns the covered fraction of the pixel in column `x` of a row.
    func coverage(_ x: Int, _ width: Int, _ insets: [Double]) -> Double {
        let (left, end) = (Double(x), Double(width))
        guard left < radius || left + 1 > end - radius else { return 1 }
        var sum = 0.0
        for inset in insets { sum += max(0, min(left + 1, end - inset) - max(left, inset)) }
        return sum / Double(insets.count)
    }
}

extension PremultipliedAlpha {
    /// Composites a row of premultiplied RGBA pixels of 8 bits over white.
    ///
    /// - Parameters:
    ///   - source: the RGBA pixels, 4 bytes each.
    ///   - row: receives as many RGB pixels, 3 bytes each.
    public static func compositeOverWhite(_ source: Span<UInt8>, into row: inout MutableSpan<UInt8>)
    {
        for x in 0..<source.count / 4 {
            let white = 255 - source[x * 4 + 3]
            for channel in 0..<3 { row[x * 3 + channel] = source[x * 4 + channel] &+ white }
        }
    }
}
