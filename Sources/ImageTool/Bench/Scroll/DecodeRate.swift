// SPDX-License-Identifier: Apache-2.0

internal import PictureCommands
internal import Foundation
internal import ImageLoading

/// How many pictures this machine can load and decode in a second: the bound for every design.
struct DecodeRate: Hashable {
    let layout: String
    let processorCount: Int
    /// With all processors, as far as others left them.
    let perSecond: Double
    /// Of one processor, for a picture, in seconds.
    let processorSeconds: Double

    /// What all processors could do if nobody else had them.
    var bound: Double { Double(processorCount) / max(processorSeconds, 1e-9) }

    /// Decodes the pictures of a screen at the size shown, again and again, on all processors.
    ///
    /// - Parameters:
    ///   - scene: the screen.
    ///   - seconds: for how long.
    /// - Returns: how many there were.
    /// - Throws: ``FileFailure`` of the first picture if there were none.
    static func measure(
        _ scene: ScrollScene, seconds: Double = 1
    ) async throws(FileFailure) -> DecodeRate {
        let width = PictureCommands.processorCount()
        let ledger = PictureLedger()
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
