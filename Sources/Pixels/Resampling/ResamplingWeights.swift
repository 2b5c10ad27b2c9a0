// SPDX-License-Identifier: Apache-2.0

/// The source samples and weights of every result sample along one axis.
struct ResamplingWeights: Sendable {
    /// The maximum number of source samples that contribute to one result sample.
    let tapCount: Int
    /// ``tapCount`` rounded up to whole vectors of 4; the weights after a sample's taps are 0.
    let tapStride: Int
    /// The first source sample of each result sample.
    let first: [Int]
    /// The number of source samples of each result sample, at least 1.
    let count: [Int]
    /// ``tapStride`` weights for each result sample; their sum is 1.
    let weights: [Float]
    /// The source samples that contribute to any result sample.
    let used: Range<Int>

    /// - Parameters:
    ///   - kernel: the reconstruction filter.
    ///   - sourceCount: the number of source samples; borders are not extended.
    ///   - start: the start of the region, in source samples.
    ///   - extent: the length of the region, in source samples.
    ///   - resultCount: the number of result samples.
    ///   - meanCount: the number of pixels that each source sample is the mean of. Kernels with
    ///     negative lobes are sharpened to compensate for the softening by the mean.
    init(
        _ kernel: ResamplingKernel, sourceCount: Int,
        start: Double, extent: Double, resultCount: Int, meanCount: Int = 1
    ) {
        var builder = TapBuilder(
            kernel, sourceCount: sourceCount, start: start, scale: extent / Double(resultCount),
            meanCount: meanCount)
        builder.appendTaps(resultCount: resultCount)
        tapCount = builder.count.max() ?? 1
        tapStride = (tapCount + 3) / 4 * 4
        first = builder.first
        count = builder.count
        weights = builder.paddedWeights(stride: tapStride)
        used = (first.min() ?? 0)..<(zip(first, count).map(+).max() ?? sourceCount)
    }
}

/// Computes the taps of one axis in double precision.
private struct TapBuilder {
    private(set) var first: [Int] = []
    private(set) var count: [Int] = []
    /// The weights of all result samples, one after the other.
    private var taps: [Double] = []
    /// The index in ``taps`` of the first weight of each result sample.
    private var tapStarts: [Int] = []
    private let kernel: ResamplingKernel
    private let sourceCount: Int
    private let start: Double
    private let scale: Double
    /// The width of the kernel's unit, in source samples.
    private let stretch: Double
    private let sharpening: Double
    /// Half the width of the kernel, in source samples.
    private let support: Double

    init(
        _ kernel: ResamplingKernel, sourceCount: Int, start: Double, scale: Double, meanCount: Int
    ) {
        self.kernel = kernel
        self.sourceCount = sourceCount
        self.start = start
        self.scale = scale
        stretch = max(scale, 1)
        // The mean of n pixels adds (1 − 1/n²)/24 of the second derivative, in its own width;
        // subtracting that leaves an error of the fourth order.
        sharpening = kernel.radius > 1 ? (1 - 1 / Double(meanCount * meanCount)) / 24 : 0
        support = kernel.radius * stretch + (sharpening > 0 ? 1 : 0)
    }

    /// Appends the taps of all result samples.
    mutating func appendTaps(resultCount: Int) {
        // Weights are periodic, except where a border truncates the kernel.
        let period =
            (1..<max(resultCount, 1)).first {
                let length = Double($0) * scale
                return abs(length - length.rounded()) < 1e-10
            } ?? resultCount
        let shift = Int((Double(period) * scale).rounded())
        var firstComplete = resultCount
        for index in 0..<resultCount {
            let center = start + (Double(index) + 0.5) * scale
            let isComplete =
                center - support >= 0.5 && center + support <= Double(sourceCount) - 0.5
            if isComplete { firstComplete = min(index, firstComplete) }
            let twin = index - period
            if isComplete, twin >= firstComplete {
                appendCopy(of: twin, shift: shift)
            } else {
                appendTaps(center: center)
            }
        }
    }

    /// Appends the weights of an earlier result sample, for source samples `shift` further on.
    private mutating func appendCopy(of twin: Int, shift: Int) {
        tapStarts.append(taps.count)
        first.append(first[twin] + shift)
        count.append(count[twin])
        for tap in 0..<count[twin] { taps.append(taps[tapStarts[twin] + tap]) }
    }

    /// Appends the normalized weights of a result sample, without zeros at either end.
    private mutating func appendTaps(center: Double) {
        let begin = taps.count
        tapStarts.append(begin)
        var low = min(max(Int((center - support - 0.5).rounded(.down)), 0), sourceCount - 1)
        let high = max(min(Int((center + support + 0.5).rounded(.up)), sourceCount), low + 1)
        var sum = 0.0
        var before = sharpening > 0 ? kernelWeight(low - 1, center: center) : 0
        var here = kernelWeight(low, center: center)
        for sample in low..<high {
            let after = kernelWeight(sample + 1, center: center)
            let weight = here - sharpening * (before - 2 * here + after)
            (before, here) = (here, after)
            if weight == 0, taps.count == begin, sample < high - 1 {
                low += 1
            } else {
                taps.append(weight)
                sum += weight
            }
        }
        while taps.count > begin + 1, taps[taps.count - 1] == 0 { taps.removeLast() }
        // A kernel narrower than a pixel can fall between two samples: one weight, which is 0.
        for tap in begin..<taps.count { taps[tap] = sum == 0 ? 1 : taps[tap] / sum }
        first.append(low)
        count.append(taps.count - begin)
    }

    private func kernelWeight(_ sample: Int, center: Double) -> Double {
        kernel.weight(at: (Double(sample) - center + 0.5) / stretch)
    }

    /// Returns the weights in single precision, `stride` for each result sample.
    func paddedWeights(stride: Int) -> [Float] {
        var weights = [Float](repeating: 0, count: stride * first.count)
        for index in first.indices {
            for tap in 0..<count[index] {
                weights[index * stride + tap] = Float(taps[tapStarts[index] + tap])
            }
        }
        return weights
    }
}
