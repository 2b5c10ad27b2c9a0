// SPDX-License-Identifier: Apache-2.0

import Foundation
import ImageTesting
import Pixels
import Testing

@testable import Effects

@Suite("A Gaussian blur") struct BlurTests {
    /// Convolves gray bytes with a Gaussian by its definition; edge pixels are repeated.
    private func reference(_ image: PixelBuffer, _ sigma: Double) -> [Double] {
        let (width, height) = (image.size.width, image.size.height)
        let reach = Int((5 * sigma).rounded(.up))
        let weights = (-reach...reach).map { exp(-0.5 * pow(Double($0) / sigma, 2)) }
        let sum = weights.reduce(0, +)
        var values = image.packedBytes.map(Double.init)
        func convolve(_ count: Int, _ step: Int, _ start: Int) {
            let line = (0..<count).map { values[start + $0 * step] }
            for index in 0..<count {
                var total = 0.0
                for (offset, weight) in zip(-reach...reach, weights) {
                    total += weight * line[min(max(index + offset, 0), count - 1)]
                }
                values[start + index * step] = total / sum
            }
        }
        for y in 0..<height { convolve(width, 1, y * width) }
        for x in 0..<width { convolve(height, width, x) }
        return values
    }

    @Test(
        "is within 1/255 of the definition, in every format",
        arguments: [0.4, 1, 2.5, 3.9, 4, 6, 8, 13, 40])
    func definition(_ sigma: Double) throws {
        for size in [PixelSize(width: 97, height: 71), PixelSize(width: 3, height: 2)] {
            let image = TestImage.photograph(size, .gray8)
            let expected = reference(image, sigma)
            for format in [PixelFormat.gray8, .rgb8, .rgba8, .gray16] {
                let blurred = try #require(
                    Effect.blur(sigma: sigma).applied(to: image.converted(to: format)))
                let gray = blurred.converted(to: .gray8).packedBytes
                let largest = zip(gray, expected).map { abs(Double($0) - $1) }.max() ?? 255
                #expect(largest <= 1.5, "\(size) \(format): \(largest)")
            }
        }
    }

    @Test(
        "keeps a uniform colour, whatever the standard deviation", arguments: [0.3, 1, 7, 900, 1e9])
    func flat(_ sigma: Double) throws {
        let flat = TestImage.flat(PixelSize(width: 9, height: 5), .rgba8, [200, 100, 0, 128])
        let result = try #require(Effect.blur(sigma: sigma).applied(to: flat))
        #expect(PixelComparison(result, flat).maximumDifference == 0)
    }

    @Test(
        "is the same alone, in integers, and in a chain, in floats",
        arguments: [0.5, 1, 2.2, 4.0, 11, 70])
    func chain(_ sigma: Double) throws {
        let image = TestImage.noise(PixelSize(width: 130, height: 67), .rgba8)
        let opaque = image.converted(to: .rgb8)
        let alone = try #require(Effect.blur(sigma: sigma).applied(to: opaque))
        let chained = try #require(
            Effect.blur(sigma: sigma).then(.colorMatrix(ColorMatrix(scale: 1, offset: 0)))
                .applied(to: opaque))
        #expect(PixelComparison(alone, chained).maximumDifference <= 1)
    }
}
