// SPDX-License-Identifier: Apache-2.0

/// Ranks the ways to divide a block of BC7 into subsets by how near each subset is to a line.
///
/// Lanes are partitions here: 16 of the 64 at a time.
struct BC7Partitions {
    fileprivate typealias Lanes = BC7Fit.Lanes

    /// For each group of 16 partitions and each texel, which partitions have it in a subset.
    private struct Members {
        /// By group, subset and texel; the first subset is left out, as it has the other texels.
        let masks: [Lanes]
        /// The number of texels, by group and subset.
        let counts: [Lanes]

        init(_ subsetCount: Int) {
            var masks: [Lanes] = []
            var counts: [Lanes] = []
            for group in 0..<4 {
                for subset in 0..<subsetCount {
                    var count = Lanes(repeating: 0)
                    for place in 0..<16 {
                        var mask = Lanes(repeating: 0)
                        for lane in 0..<16 {
                            let owner = BPTCPartitions.subset(
                                of: place, subsetCount, group * 16 + lane)
                            if owner == subset { mask[lane] = 1 }
                        }
                        if subset > 0 { masks.append(mask) }
                        count += mask
                    }
                    counts.append(count)
                }
            }
            self.masks = masks
            self.counts = counts
        }
    }

    private static let two = Members(2)
    private static let three = Members(3)

    /// The estimates of all partitions, 16 at a time.
    struct Residues {
        fileprivate var groups = InlineArray<4, Lanes>(repeating: Lanes(repeating: 0))

        /// Returns the partition with the least estimate, the first of equal ones, and removes it.
        mutating func removeLeast() -> (partition: Int, residue: Float) {
            var (least, place) = (Float.infinity, 0)
            for group in 0..<4 {
                let values = groups[group]
                guard values.min() < least else { continue }
                for lane in 0..<16 where values[lane] < least {
                    (least, place) = (values[lane], group * 16 + lane)
                }
            }
            groups[place / 16][place % 16] = .infinity
            return (place, least)
        }
    }

    /// Sums over the texels of a subset: of channels, then of products of two.
    private typealias Sums = InlineArray<14, Lanes>

    /// Estimates how far the texels are from a line for each subset.
    ///
    /// - Parameters:
    ///   - channels: the samples.
    ///   - subsetCount: 2 or 3.
    ///   - channelCount: 3 or 4.
    /// - Returns: for each partition, no more than the least sum of the squared distances.
    static func residues(
        _ channels: borrowing InlineArray<4, BC7Fit.Lanes>, subsetCount: Int, channelCount: Int
    ) -> Residues {
        let members = subsetCount == 2 ? two : three
        // Offsets from the mean keep sums of products small.
        var terms = Sums(repeating: Lanes(repeating: 0))
        for channel in 0..<channelCount {
            terms[channel] = channels[channel] - channels[channel].sum() / 16
        }
        var termCount = channelCount
        for first in 0..<channelCount {
            for second in first..<channelCount {
                terms[termCount] = terms[first] * terms[second]
                termCount += 1
            }
        }
        var totals = InlineArray<14, Float>(repeating: 0)
        for term in 0..<termCount { totals[term] = terms[term].sum() }
        var result = Residues()
        var sums = Sums(repeating: Lanes(repeating: 0))
        var rest = sums
        for group in 0..<4 {
            for term in 0..<termCount { rest[term] = Lanes(repeating: totals[term]) }
            var residue = Lanes(repeating: 0)
            for subset in 1..<subsetCount {
                let start = (group * (subsetCount - 1) + subset - 1) * 16
                for term in 0..<termCount {
                    let values = terms[term]
                    var sum = Lanes(repeating: 0)
                    for place in 0..<16 { sum += members.masks[start + place] * values[place] }
                    sums[term] = sum
                    rest[term] -= sum
                }
                residue += Self.residue(
                    sums, members.counts[group * subsetCount + subset], channelCount)
            }
            residue += Self.residue(rest, members.counts[group * subsetCount], channelCount)
            result.groups[group] = residue
        }
        return result
    }

    /// The trace of the scatter matrix without its Frobenius norm, which is at least its largest
    /// eigenvalue.
    private static func residue(
        _ sums: borrowing Sums, _ count: Lanes, _ channelCount: Int
    ) -> Lanes {
        var (trace, norm) = (Lanes(repeating: 0), Lanes(repeating: 0))
        var term = channelCount
        for first in 0..<channelCount {
            for second in first..<channelCount {
                let value = sums[term] - sums[first] * sums[second] / count
                if first == second { trace += value }
                norm += value * value * (first == second ? 1 : 2)
                term += 1
            }
        }
        return trace - norm.squareRoot()
    }
}
