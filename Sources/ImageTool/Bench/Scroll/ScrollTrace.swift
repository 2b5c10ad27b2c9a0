// SPDX-License-Identifier: Apache-2.0

internal import PictureCommands
internal import Foundation

/// Where content stands from moment to moment while somebody scrolls.
struct ScrollTrace {
    struct Sample: Hashable {
        /// Since the start, in seconds.
        let time: Double
        /// Of the start of the screen from the start of the content, in pixels.
        let offset: Double
    }

    /// Content that stands still for so long is at rest, in seconds.
    static let shortestRest = 0.3

    private static let shareOfRounding = 0.001

    let name: String
    let samples: [Sample]

    /// Reads lines of milliseconds and pixels with a comma between, after a line of names.
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
                throw FileFailure(name, "line \(index + 2) is no time after the last and an offset")
            }
            samples.append(Sample(time: milliseconds / 1000, offset: offset))
        }
        guard !samples.isEmpty else { throw FileFailure(name, "a trace without a line") }
        self.samples = samples
    }

    var duration: Double { samples.last?.time ?? 0 }

    /// The offset at a time, on the straight line between two samples.
    func offset(at time: Double) -> Double {
        let next = samples.partitioningIndex { $0.time > time }
        guard next > 0 else { return samples[0].offset }
        let before = samples[next - 1]
        guard next < samples.count else { return before.offset }
        let after = samples[next]
        let share = (time - before.time) / (after.time - before.time)
        // Times are written with few digits: on the way from one sample to the next, so close to one
        // of them means at it.
        if share < Self.shareOfRounding { return before.offset }
        if share > 1 - Self.shareOfRounding { return after.offset }
        return before.offset + share * (after.offset - before.offset)
    }

    /// When the content has come to rest and until when it stays so; not what comes before the
    /// first movement.
    func rests(until end: Double) -> [Range<Double>] {
        var rests: [Range<Double>] = []
        var start = 0
        for index in 1..<max(samples.count, 1) + 1 {
            guard index == samples.count || samples[index].offset != samples[start].offset else {
                continue
            }
            // It moves on the way from the last sample at rest to the next one.
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

    /// One that comes with the program, by its name.
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
    /// The first place from which on all samples meet a condition, found by halving.
    fileprivate func partitioningIndex(_ isBeyond: (Element) -> Bool) -> Int {
        var (lower, upper) = (startIndex, endIndex)
        while lower < upper {
            let middle = (lower + upper) / 2
            if isBeyond(self[middle]) { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}
