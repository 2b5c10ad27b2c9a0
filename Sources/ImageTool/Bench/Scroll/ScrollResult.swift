// SPDX-License-Identifier: Apache-2.0

/// One trace played on one screen by one design.
struct ScrollRun: Hashable, Codable {
    let layout: String
    /// Frames a second.
    let rate: Int
    let design: ScrollDesign
    let store: ScrollStore
    let trace: String
}

/// Whether pictures were made at the size shown before, and kept on disk.
enum ScrollStore: String, CaseIterable, Codable {
    case cold, warm
}

/// What a screen showed of one run.
struct ScrollResult: Hashable, Codable {
    let run: ScrollRun
    /// The seconds until the first screen was sharp, before the trace began.
    var openingSeconds = 0.0
    var frameCount = 0
    /// Frames that the screen was ready for and nobody had drawn.
    var missedFrameCount = 0
    /// Cells in view, frame by frame, and those of them without a picture or with an unsharp one.
    var cellFrameCount = 0
    var popInCount = 0
    var unsharpCount = 0
    /// Cells that came into view.
    var revealedCount = 0
    /// For each cell in view when the content came to rest, the seconds until it was sharp, or as
    /// long as the rest lasted.
    var sharpTimes: [Double] = []
    /// Cells that were not sharp while a rest lasted.
    var neverSharpCount = 0
    var decodedCount = 0
    var decodedByteCount = 0
    var unshownCount = 0
    var unshownByteCount = 0
    var peakPictureByteCount = 0
    var peakResidentByteCount = 0
    var processorSeconds = 0.0
    /// Why pictures could not be made, by path.
    var failures: [String: String] = [:]

    init(_ run: ScrollRun) { self.run = run }
}

extension ScrollResult {
    /// Several results added up; of peaks, the highest.
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
            peakPictureByteCount = max(peakPictureByteCount, result.peakPictureByteCount)
            peakResidentByteCount = max(peakResidentByteCount, result.peakResidentByteCount)
            processorSeconds += result.processorSeconds
            failures.merge(result.failures) { $1 }
        }
    }

    var missedShare: Double { Double(missedFrameCount) / Double(max(frameCount, 1)) }
    var popInShare: Double { Double(popInCount) / Double(max(cellFrameCount, 1)) }
    var unsharpShare: Double { Double(unsharpCount) / Double(max(cellFrameCount, 1)) }
    var unshownShare: Double { Double(unshownByteCount) / Double(max(decodedByteCount, 1)) }

    /// The seconds within which so large a share of the cells at rest was sharp.
    func sharpTime(_ share: Double) -> Double? {
        let times = sharpTimes.sorted()
        guard !times.isEmpty else { return nil }
        return times[max(0, Int((share * Double(times.count)).rounded(.up)) - 1)]
    }
}
