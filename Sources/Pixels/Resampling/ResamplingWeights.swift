// SPDX-License-Identifier: Apache-2.0

/// For one axis, which source samples make each result sample, and how much each counts.
struct ResamplingWeights: Sendable {
    /// The most source samples that any result sample needs.
    let tapCount: Int
    /// ``tapCount`` rounded up to whole vectors of 4; the weights beyond a sample's taps are 0.
    let tapStride: Int
    /// The first source sample of each result sample.
    let first: [Int]
    /// How many source samples each result sample needs, at least 1.
    let count: [Int]
    /// ``tapStride`` weights a result sample, their sum 1.
    let weights: [Float]

    /// Source samples that no result sample needs are outside of this range.
    let used: Range<Int>

    /// - Parameters:
    ///   - kernel: what weighs by distance.
    ///   - sourceCount: the samples there are; none beyond them is invented at the borders.
    ///   - start: where the part that is kept begins, in source samples.
    ///   - extent: how long that part is, in source samples.
    ///   - resultCount: the samples that are made of it.
    ///   - meanCount: how many pixels each source sample is the mean of. A mean is softer than the
    ///     pixels were; a kernel with negative lobes is made sharper by as much.
    init(
        _ kernel: ResamplingKernel, sourceCount: Int,
        start: Double, extent: Double, resultCount: Int, meanCount: Int = 1
    ) {
        let scale = extent / Double(resultCount)
        let stretch = max(scale, 1)
        // The mean of n pixels adds (1 − 1/n²)/24 of the second derivative, in its own width; taking
        // that off again leaves an error of the fourth order.
        let sharpening =
            kernel.radius > 1 ? (1 - 1 / Double(meanCount * meanCount)) / 24 : 0
        let support = kernel.radius * stretch + (sharpening > 0 ? 1 : 0)
        var first: [Int] = []
        var count: [Int] = []
        // The weights of all result samples, one after the other.
        var taps: [Double] = []
        // By result sample: where its weights begin.
        var begins: [Int] = []
        // So many result samples further on the weights come again, but where a border cuts them.
        let period =
            (1..<max(resultCount, 1)).first {
                let length = Double($0) * scale
                return abs(length - length.rounded()) < 1e-10
            } ?? resultCount
        var firstUncut = resultCount
        for index in 0..<resultCount {
            let center = start + (Double(index) + 0.5) * scale
            let begin = taps.count
            begins.append(begin)
            let isUncut =
                center - support >= 0.5 && center + support <= Double(sourceCount) - 0.5
            if isUncut { firstUncut = min(index, firstUncut) }
            let twin = index - period
            if isUncut, twin >= firstUncut {
                first.append(first[twin] + Int((Double(period) * scale).rounded()))
                count.append(count[twin])
                for tap in 0..<count[twin] { taps.append(taps[begins[twin] + tap]) }
                continue
            }
            var low = min(max(Int((center - support - 0.5).rounded(.down)), 0), sourceCount - 1)
            let high = max(min(Int((center + support + 0.5).rounded(.up)), sourceCount), low + 1)
            var sum = 0.0
            func kernelWeight(_ sample: Int) -> Double {
                kernel.weight(at: (Double(sample) - center + 0.5) / stretch)
            }
            var before = sharpening > 0 ? kernelWeight(low - 1) : 0
            var here = kernelWeight(low)
            for sample in low..<high {
                let after = kernelWeight(sample + 1)
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
            // A kernel narrower than a pixel can fall between two, onto a single weight of 0.
            for tap in begin..<taps.count { taps[tap] = sum == 0 ? 1 : taps[tap] / sum }
            first.append(low)
            count.append(taps.count - begin)
        }
        let tapCount = count.max() ?? 1
        let tapStride = (tapCount + 3) / 4 * 4
        var weights = [Float](repeating: 0, count: tapStride * resultCount)
        for index in 0..<resultCount {
            for tap in 0..<count[index] {
                weights[index * tapStride + tap] = Float(taps[begins[index] + tap])
            }
        }
        self.tapCount = tapCount
        self.tapStride = tapStride
        self.first = first
        self.count = count
        self.weights = weights
        let end = zip(first, count).map(+).max() ?? sourceCount
        used = (first.min() ?? 0)..<end
    }
}
