// SPDX-License-Identifier: Apache-2.0

/// Plays scroll traces on a model of a screen.
///
/// The screen asks for a frame at its rate. A frame is drawn on the calling thread: what the design
/// has to do there is done, cells that come into view get pictures, and a picture that is new on the
/// screen is copied once. A frame that is not ready when the next one begins is missed, and the
/// screen goes on showing the old one.
///
/// A trace begins once the first screen is sharp, as a person would wait for it; how long that took
/// is a figure of its own.
struct ScrollLaboratory {
    /// The first screen is waited for no longer than this, in seconds.
    static let longestOpening = 5.0

    let scene: ScrollScene
    let trace: ScrollTrace
    /// The part of the trace that is played, in seconds.
    let seconds: Double
    let clock: FrameClock

    /// Plays the trace once.
    ///
    /// - Parameters:
    ///   - run: what the result is called, and the rate.
    ///   - pictures: brings the pictures.
    ///   - ledger: counts what `pictures` decodes.
    /// - Returns: what the screen showed, but for what the process took.
    func play(
        _ run: ScrollRun, _ pictures: any ScrollPictures, _ ledger: PictureLedger
    ) async -> ScrollResult {
        var result = ScrollResult(run)
        show(pictures, ledger, &result)
        await pictures.end()
        result.decodedCount = ledger.decoded.count
        result.decodedByteCount = ledger.decoded.byteCount
        result.unshownCount = ledger.unshown.count
        result.unshownByteCount = ledger.unshown.byteCount
        result.failures = ledger.failures
        return result
    }

    private func show(
        _ pictures: any ScrollPictures, _ ledger: PictureLedger, _ result: inout ScrollResult
    ) {
        let end = min(trace.duration, seconds)
        let rate = Double(result.run.rate)
        var rests = trace.rests(until: end).map { RestWatch($0) }
        var screen = CellScreen(ledger)
        result.openingSeconds = open(&screen, pictures, rate)
        let first = screen.revealedCount
        let start = clock.now()
        var frame = 0
        while Double(frame) < end * rate {
            let time = Double(frame) / rate
            clock.wait(start + .seconds(time))
            let next = ScrollFrame(
                scene, offset: trace.offset(at: time), velocity: velocity(at: time))
            pictures.update(next)
            screen.draw(next.items, pictures)
            let now = (clock.now() - start) / .seconds(1)
            for index in rests.indices { rests[index].note(screen, from: time, until: now) }
            result.cellFrameCount += screen.items.count
            result.popInCount += screen.emptyCount
            result.unsharpCount += screen.unsharpCount
            result.peakPictureByteCount = max(result.peakPictureByteCount, ledger.liveByteCount())
            let following = max(frame + 1, Int((now * rate).rounded(.up)))
            result.missedFrameCount += following - frame - 1
            frame = following
        }
        result.frameCount = frame
        result.revealedCount = screen.revealedCount - first
        for rest in rests { rest.finish(&result) }
    }

    /// Shows the first screen until it is sharp.
    ///
    /// - Returns: how long that took, in seconds.
    private func open(
        _ screen: inout CellScreen, _ pictures: any ScrollPictures, _ rate: Double
    ) -> Double {
        let start = clock.now()
        let frame = ScrollFrame(scene, offset: trace.offset(at: 0), velocity: 0)
        var number = 0.0
        while true {
            pictures.update(frame)
            screen.draw(frame.items, pictures)
            let time = (clock.now() - start) / .seconds(1)
            if screen.isSharp || time >= Self.longestOpening { return time }
            number = max(number + 1, (time * rate).rounded(.up))
            clock.wait(start + .seconds(number / rate))
        }
    }

    /// How fast the content moved lately, as a view knows it; a jump is no movement.
    private func velocity(at time: Double) -> Double {
        let span = 0.05
        let change = trace.offset(at: time) - trace.offset(at: time - span)
        return abs(change) > 2 * scene.screenLength ? 0 : change / span
    }
}
