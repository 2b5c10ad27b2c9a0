// SPDX-License-Identifier: Apache-2.0

public import Pixels

extension PixelBuffer {
    /// Resamples an image row by row with ``RowResampler``.
    public func resampled(
        to size: PixelSize, region: SampleRegion? = nil, kernel: ResamplingKernel = .lanczos3,
        approximation: RowResampler.Approximation = .none, orientation: Orientation = .upright
    ) -> PixelBuffer {
        var resampler = RowResampler(
            from: self.size, format, region: region, to: size, kernel: kernel,
            approximation: approximation, orientation: orientation)
        for y in 0..<self.size.height { resampler.append(row(y)) }
        return resampler.finish()
    }

    /// Resamples an image by the definition, in double precision and without approximation.
    ///
    /// Each axis weights the samples within the kernel's radius, which is stretched for reductions;
    /// weights are divided by their sum.
    public func referenceResampled(
        to size: PixelSize, region: SampleRegion? = nil, kernel: ResamplingKernel
    ) -> PixelBuffer {
        let region = region ?? SampleRegion(self.size)
        let columns = Self.taps(
            kernel, self.size.width, region.x, region.width, size.width)
        let rows = Self.taps(kernel, self.size.height, region.y, region.height, size.height)
        let channelCount = format.channelCount
        var result: [UInt8] = []
        for vertical in rows {
            for horizontal in columns {
                var pixel: [Double] = []
                for channel in 0..<channelCount {
                    var sum = 0.0
                    for (y, rowWeight) in vertical {
                        for (x, columnWeight) in horizontal {
                            let sample = row(y)[x * channelCount + channel]
                            sum += rowWeight * columnWeight * Double(sample)
                        }
                    }
                    pixel.append(min(max(sum, 0), 255).rounded(.toNearestOrEven))
                }
                if format == .rgba8 { pixel = pixel.map { min($0, pixel[3]) } }
                result += pixel.map { UInt8($0) }
            }
        }
        return PixelBuffer(packed: result, size, format)
    }

    private static func taps(
        _ kernel: ResamplingKernel, _ count: Int, _ start: Double, _ extent: Double, _ result: Int
    ) -> [[(Int, Double)]] {
        let scale = extent / Double(result)
        return (0..<result).map { index in
            let center = start + (Double(index) + 0.5) * scale
            let all = (0..<count).map {
                ($0, kernel.weight(at: (Double($0) - center + 0.5) / max(scale, 1)))
            }
            let sum = all.reduce(0) { $0 + $1.1 }
            return all.filter { $0.1 != 0 }.map { ($0.0, $0.1 / sum) }
        }
    }
}
