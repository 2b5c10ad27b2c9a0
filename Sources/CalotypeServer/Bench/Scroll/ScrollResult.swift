// SPDX-License-Identifier: Apache-2.0

/// A combination of screen, rate, design, store and trace to measure.
struct ScrollRun: Hashable, Codable {
    let layout: String
    /// In frames per second.
    let rate: Int
    let design: ScrollDesign
    let store: ScrollStore
    let trace: String
}

/// Whether the store contains renditions at the displayed size before a run.
enum ScrollStore: String, CaseIterable, Codable {
    case cold, warm
}

/// The measurements of a run.
struct ScrollResult: Hashable, Codable {
    let run: ScrollRun
    /// The time until the first screen was sharp, before the trace started.
    var openingSeconds = 0.0
    var frameCount = 0
    /// Frames that were not drawn by their deadline.
    var missedFrameCount = 0
    /// Visible cells, summed over all frames; those without an image, and those with an unsharp
    /// one.
    var cellFrameCount = 0
    var popInCount = 0
    var unsharpCount = 0
    /// Cells that became visible.
    var revealedCount = 0
    /// For each cell that was visible when the content came to rest, the seconds until it was
    /// sharp, at most the duration of the rest.
    var sharpTimes: [Double] = []
    /// Cells that were not sharp by the end of a rest.
    var neverSharpCount = 0
    var decodedCount = 0
    var decodedByteCount = 0
    var unshownCount = 0
    var unshownByteCount = 0
    var peakImageByteCount = 0
    var peakResidentByteCount = 0
    var processorSeconds = 0.0
    /// The errors of images that could not be loaded, by path.
    var failures: [String: String] = [:]

    init(_ run: ScrollRun) { self.run = run }
}

extension ScrollResult {
    /// The sum of several results; for peaks and opening times, the maximum.
    init(_ results: [ScrollResult], trace: String) {
        let first = results[0].run
        self.init(
            ScrollRun(
                layout: first.layout, rate: first.rate, design: first.design, store: first.store,
                trace: trace))
        for result in results {
            openingSeconds = max(openingSeconds, result.openingSeconds)
            frameCount += result.frameCount
            missedFrameCount += result.missedFrameCount
            cellFrameCount += result.cellFrameCount
            popInCount += result.popInCount
            unsharpCount += result.unsharpCount
            revealedCount += result.revealedCount
            sharpTimes += result.sharpTimes
            neverSharpCount += result.neverSharpCount
            decodedCount += result.decodedCount
            decodedByteCount += result.decodedByteCount
            unshownCount += result.unshownCount
            unshownByteCount += result.unshownByteCount
            peakImageByteCount = max(peakImageByteCount, result.peakImageByteCount)
            peakResidentByteCount = max(peakResidentByteCount, result.peakResidentByteCount)
            processorSeconds += result.processorSeconds
            failures.merge(result.failures) { $1 }
        }
    }

    var missedShare: Double { Double(missedFrameCount) / Double(max(frameCount, 1)) }
    var popInShare: Double { Double(popInCount) / Double(max(cellFrameCount, 1)) }
    var unsharpShare: Double { Double(unsharpCount) / Double(max(cellFrameCount, 1)) }
    var unshownShare: Double { Double(unshownByteCount) / Double(max(decodedByteCount, 1)) }

    /// The quantile of the times until cells at rest were sharp, in seconds; `share` is from 0 to
    /// 1.
    func sharpTime(_ share: Double) -> Double? {
        let times = sharpTimes.sorted()
        guard !times.isEmpty else { return nil }
        return times[max(0, Int((share * Double(times.count)).rounded(.up)) - 1)]
    }
}
