// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import Pixels

/// The waves of a cosine transform, looked up by frequency and place.
struct Cosines {
    private let values: [Double]
    private let count: Int

    /// - Parameters:
    ///   - frequencyCount: from none to that many half-periods, less one.
    ///   - count: the places along a side.
    ///   - offset: where in its place a sample stands, from 0 to 1.
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

extension PixelBuffer {
    /// The picture small enough to be read wave by wave, in 8 bits a channel.
    func placeholderPixels(_ result: PixelFormat, _ largestSide: Int) -> PixelBuffer {
        let box = PixelSize(width: largestSide, height: largestSide)
        let geometry = ResizeGeometry(of: size, into: box, mode: .fit)
        guard geometry.size != size else { return converted(to: result) }
        let source = converted(to: format.withWholeSamples)
        var resampler = RowResampler(
            from: size, source.format, to: geometry.size, kernel: .box, colorProfile: colorProfile)
        for y in 0..<size.height { resampler.append(source.row(y)) }
        return resampler.finish().converted(to: result)
    }
}
