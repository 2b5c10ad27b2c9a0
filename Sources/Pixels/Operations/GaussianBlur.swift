// SPDX-License-Identifier: Apache-2.0

extension PixelBuffer {
    /// The picture out of focus: each pixel a mean of those around it, weighed by a Gaussian.
    ///
    /// The Gaussian is made of three means over lengths that need not be whole, which costs the same
    /// for every `sigma`. Beyond its edges the picture is taken to go on as it ends there.
    ///
    /// - Parameters:
    ///   - sigma: the standard deviation in pixels; at most 1000.
    ///   - isCancelled: whether the result is no longer needed; called before each row and column.
    /// - Returns: `nil` if it is not; otherwise a picture of the same channels, of whole samples in bytes of their own.
    /// - SeeAlso: Pascal Gwosdek et al., “Theoretical Foundations of Gaussian Convolution by Extended
    ///   Box Filtering”, 2011.
    public func blurred(sigma: Double, isCancelled: () -> Bool) -> PixelBuffer? {
        guard format.withWholeSamples == format else {
            return converted(to: format.withWholeSamples)
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

    /// ``blurred(sigma:isCancelled:)`` to its end.
    public func blurred(sigma: Double) -> PixelBuffer {
        blurred(sigma: sigma) { false } ?? self
    }
}

/// A mean over an odd number of pixels and a part of the two beside them, several times.
private struct ExtendedBox {
    private let passCount: Int
    /// Whole pixels on each side of the middle.
    private let reach: Int
    /// The weight of a whole pixel, and that of the two beside them.
    private let weight: Float
    private let edgeWeight: Float

    init(sigma: Double, passCount: Int) {
        self.passCount = passCount
        let variance = sigma * sigma / Double(passCount)
        let whole = (((12 * variance + 1).squareRoot() - 1) / 2).rounded(.down)
        let length = 2 * whole + 1
        let part =
            length * (whole * (whole + 1) - 3 * variance)
            / (6 * (variance - (whole + 1) * (whole + 1)))
        reach = Int(whole)
        weight = Float(1 / (length + 2 * part))
        edgeWeight = Float(part / (length + 2 * part))
    }

    func apply(to line: inout [SIMD4<UInt16>]) {
        guard let first = line.first, let last = line.last else { return }
        // Made longer once for all passes: each blurs what the one before made of the edges.
        let room = passCount * (reach + 1)
        var source = Array(repeating: first, count: room) + line
        source += Array(repeating: last, count: room)
        var result = source
        for pass in 0..<passCount {
            if pass > 0 { swap(&source, &result) }
            mean(source, into: &result)
        }
        for index in line.indices { line[index] = result[room + index] }
    }

    private func mean(_ source: [SIMD4<UInt16>], into result: inout [SIMD4<UInt16>]) {
        let last = source.count - 1
        func sample(_ index: Int) -> SIMD4<UInt32> {
            SIMD4(truncatingIfNeeded: source[min(max(index, 0), last)])
        }
        // Whole numbers, so that the sum that is carried along stays exact.
        var sum = SIMD4<UInt32>()
        for index in -reach...reach { sum &+= sample(index) }
        for index in source.indices {
            let (before, after) = (sample(index - reach - 1), sample(index + reach + 1))
            let mean = SIMD4<Float>(sum) * weight + SIMD4<Float>(before &+ after) * edgeWeight + 0.5
            result[index] = SIMD4<UInt16>(mean.clamped(lowerBound: 0, upperBound: 65535))
            sum = sum &+ after &- sample(index - reach)
        }
    }
}

extension SIMD4<Float> {
    fileprivate func clamped(lowerBound: Float, upperBound: Float) -> SIMD4<Float> {
        clamped(lowerBound: SIMD4(repeating: lowerBound), upperBound: SIMD4(repeating: upperBound))
    }
}
