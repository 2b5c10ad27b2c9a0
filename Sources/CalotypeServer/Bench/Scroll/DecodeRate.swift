// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import ImageLoading

/// The number of images that this machine can load and decode per second, an upper bound for all
/// designs.
struct DecodeRate: Hashable {
    let layout: String
    let processorCount: Int
    /// The measured rate of all processors, in images per second.
    let perSecond: Double
    /// The CPU time of one image, in seconds.
    let processorSeconds: Double

    /// The rate of all processors by CPU time, without other load.
    var bound: Double { Double(processorCount) / max(processorSeconds, 1e-9) }

    /// Decodes the images of a screen at the displayed size repeatedly, on all processors.
    ///
    /// - Parameters:
    ///   - scene: The screen.
    ///   - seconds: The duration of the measurement.
    /// - Returns: The rate.
    /// - Throws: ``FileFailure`` for the first image if none can be decoded.
    static func measure(
        _ scene: ScrollScene, seconds: Double = 1
    ) async throws(FileFailure) -> DecodeRate {
        let width = ImageCommands.processorCount()
        let ledger = ImageLedger()
        let before = ProcessUsage.processorSeconds
        let start = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for first in 0..<width {
                group.addTask {
                    var item = first
                    repeat {
                        _ = ledger.decode(scene.request(item % scene.paths.count))
                        item += width
                    } while start.duration(to: .now) < .seconds(seconds)
                }
            }
        }
        if ledger.decoded.count == 0, let path = scene.paths.first,
            let reason = ledger.failures[path]
        {
            throw FileFailure(path, reason)
        }
        let count = Double(max(ledger.decoded.count, 1))
        let elapsed = start.duration(to: .now) / .seconds(1)
        return DecodeRate(
            layout: scene.name, processorCount: width,
            perSecond: count / elapsed,
            processorSeconds: (ProcessUsage.processorSeconds - before) / count)
    }
}
