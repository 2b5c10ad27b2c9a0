// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands

/// Recorded scroll offsets over time.
struct ScrollTrace {
    struct Sample: Hashable {
        /// The time since the start, in seconds.
        let time: Double
        /// The distance of the viewport from the start of the content, in pixels.
        let offset: Double
    }

    /// The minimum time without movement that counts as rest, in seconds.
    static let shortestRest = 0.3

    /// The fraction of an interval around a sample that counts as the time of the sample.
    private static let roundingTolerance = 0.001

    let name: String
    let samples: [Sample]

    /// Parses CSV with a header line and lines of milliseconds and pixels.
    ///
    /// - Throws: ``FileFailure`` with the number of the first invalid line, or if there is no
    ///   sample.
    init(_ name: String, csv: some Collection<UInt8>) throws(FileFailure) {
        self.name = name
        var samples: [Sample] = []
        for (index, line) in csv.split(separator: UInt8(ascii: "\n")).dropFirst().enumerated() {
            let parts = line.split(separator: UInt8(ascii: ","))
                .map { Double(String(decoding: $0, as: UTF8.self)) }
            guard parts.count == 2, let milliseconds = parts[0], let offset = parts[1],
                milliseconds.isFinite, offset.isFinite,
                milliseconds / 1000 > samples.last?.time ?? -1
            else {
                throw FileFailure(
                    name, "invalid line \(index + 2): use increasing milliseconds and an offset")
            }
            samples.append(Sample(time: milliseconds / 1000, offset: offset))
        }
        guard !samples.isEmpty else { throw FileFailure(name, "the trace has no samples") }
        self.samples = samples
    }

    var duration: Double { samples.last?.time ?? 0 }

    /// The offset at a time, with linear interpolation between samples.
    func offset(at time: Double) -> Double {
        let next = samples.partitioningIndex { $0.time > time }
        guard next > 0 else { return samples[0].offset }
        let before = samples[next - 1]
        guard next < samples.count else { return before.offset }
        let after = samples[next]
        let share = (time - before.time) / (after.time - before.time)
        // Times in files are rounded.
        if share < Self.roundingTolerance { return before.offset }
        if share > 1 - Self.roundingTolerance { return after.offset }
        return before.offset + share * (after.offset - before.offset)
    }

    /// The time ranges in which the content is at rest after a movement.
    func rests(until end: Double) -> [Range<Double>] {
        var rests: [Range<Double>] = []
        var start = 0
        for index in 1..<max(samples.count, 1) + 1 {
            guard index == samples.count || samples[index].offset != samples[start].offset else {
                continue
            }
            // The movement starts at the last sample with the same offset.
            let (from, until) = (samples[start].time, min(samples[index - 1].time, end))
            if start > 0, until - from >= Self.shortestRest { rests.append(from..<until) }
            start = index
            if index == samples.count { break }
        }
        return rests
    }

    static let builtInNames = [
        "drag", "fling-slow", "fling", "fling-fast", "reversal", "jump", "jitter",
    ]

    /// Returns a built-in trace; `nil` for an unknown name.
    static func builtIn(_ name: String) throws(FileFailure) -> ScrollTrace? {
        let csv: [UInt8]? =
            switch name {
            case "drag": PackageResources.drag_csv
            case "fling-slow": PackageResources.fling_slow_csv
            case "fling": PackageResources.fling_csv
            case "fling-fast": PackageResources.fling_fast_csv
            case "reversal": PackageResources.reversal_csv
            case "jump": PackageResources.jump_csv
            case "jitter": PackageResources.jitter_csv
            default: nil
            }
        guard let csv else { return nil }
        return try ScrollTrace(name, csv: csv)
    }
}

extension [ScrollTrace.Sample] {
    /// The first index whose sample meets a monotonic condition, by binary search.
    fileprivate func partitioningIndex(_ isBeyond: (Element) -> Bool) -> Int {
        var (lower, upper) = (startIndex, endIndex)
        while lower < upper {
            let middle = (lower + upper) / 2
            if isBeyond(self[middle]) { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}
