// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Pixels

/// A table of the cosines of a transform, by frequency and position.
struct Cosines {
    private let values: [Double]
    private let count: Int

    /// Computes the table.
    ///
    /// - Parameters:
    ///   - frequencyCount: the number of frequencies, from 0 half-periods.
    ///   - count: the number of positions along a side.
    ///   - offset: the position of a sample in its pixel, from 0 to 1.
    init(_ frequencyCount: Int, _ count: Int, offset: Double) {
        self.count = count
        values = (0..<frequencyCount).flatMap { frequency in
            (0..<count).map {
                cos(.pi / Double(count) * Double(frequency) * (Double($0) + offset))
            }
        }
    }

    subscript(frequency: Int, place: Int) -> Double { values[frequency * count + place] }
}

/// Returns an image reduced to a side that is fast to transform, with 8 bits a channel.
func placeholderPixels(
    of image: PixelBuffer, _ result: PixelFormat, _ largestSide: Int
) -> PixelBuffer {
    let box = PixelSize(width: largestSide, height: largestSide)
    let geometry = ResizeGeometry(of: image.size, into: box, mode: .fit)
    guard geometry.size != image.size else { return image.converted(to: result) }
    let source = image.converted(to: image.format.withIntegerSamples)
    var resampler = RowResampler(
        from: image.size, source.format, to: geometry.size, kernel: .box,
        colorProfile: image.colorProfile)
    for y in 0..<image.size.height { resampler.append(source.row(y)) }
    return resampler.finish().converted(to: result)
}
