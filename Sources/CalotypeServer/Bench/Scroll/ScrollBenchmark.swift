// SPDX-License-Identifier: Apache-2.0

/// Replays a scroll trace on a simulated screen.
///
/// Each frame is drawn on the calling thread: the design performs its work, visible cells receive
/// images, and each image that is new on the screen is copied once, as into a texture. A frame that
/// is not ready by the time of the next one is missed; the screen keeps the previous one.
///
/// A trace starts once the first screen is sharp, or after ``maximumOpening``; that time is
/// reported separately.
struct ScrollBenchmark {
    /// The maximum time to wait for the first screen, in seconds.
    static let maximumOpening = 5.0

    let scene: ScrollScene
    let trace: ScrollTrace
    /// The maximum duration of the trace, in seconds.
    let seconds: Double
    let clock: FrameClock

    /// Replays the trace once.
    ///
    /// - Parameters:
    ///   - run: The description of the run, with the frame rate.
    ///   - images: The design, which loads the images.
    ///   - ledger: The statistics of `images`.
    /// - Returns: The measurements, without those of the process.
    func play(
        _ run: ScrollRun, _ images: any ScrollImages, _ ledger: ImageLedger
    ) async -> ScrollResult {
        var result = ScrollResult(run)
        show(images, ledger, &result)
        await images.end()
        result.decodedCount = ledger.decoded.count
        result.decodedByteCount = ledger.decoded.byteCount
        result.unshownCount = ledger.unshown.count
        result.unshownByteCount = ledger.unshown.byteCount
        result.failures = ledger.failures
        return result
    }

    private func show(
        _ images: any ScrollImages, _ ledger: ImageLedger, _ result: inout ScrollResult
    ) {
        let end = min(trace.duration, seconds)
        let rate = Double(result.run.rate)
        var rests = trace.rests(until: end).map { RestWatch($0) }
        var screen = CellScreen(ledger)
        result.openingSeconds = open(&screen, images, rate)
        let first = screen.revealedCount
        let start = clock.now()
        var frame = 0
        while Double(frame) < end * rate {
            let time = Double(frame) / rate
            clock.wait(start + .seconds(time))
            let next = ScrollFrame(
                scene, offset: trace.offset(at: time), velocity: velocity(at: time))
            images.update(next)
            screen.draw(next.items, images)
            let now = (clock.now() - start) / .seconds(1)
            for index in rests.indices { rests[index].record(screen, from: time, until: now) }
            result.cellFrameCount += screen.items.count
            result.popInCount += screen.emptyCount
            result.unsharpCount += screen.unsharpCount
            result.peakImageByteCount = max(result.peakImageByteCount, ledger.liveByteCount())
            let following = max(frame + 1, Int((now * rate).rounded(.up)))
            result.missedFrameCount += following - frame - 1
            frame = following
        }
        result.frameCount = frame
        result.revealedCount = screen.revealedCount - first
        for rest in rests { rest.finish(&result) }
    }

    /// Displays the first screen until it is sharp.
    ///
    /// - Returns: The time that this took, in seconds.
    private func open(
        _ screen: inout CellScreen, _ images: any ScrollImages, _ rate: Double
    ) -> Double {
        let start = clock.now()
        let frame = ScrollFrame(scene, offset: trace.offset(at: 0), velocity: 0)
        var number = 0.0
        while true {
            images.update(frame)
            screen.draw(frame.items, images)
            let time = (clock.now() - start) / .seconds(1)
            if screen.isSharp || time >= Self.maximumOpening { return time }
            number = max(number + 1, (time * rate).rounded(.up))
            clock.wait(start + .seconds(number / rate))
        }
    }

    /// The velocity over the last 50 ms, in pixels per second; 0 for a jump by over two screens.
    private func velocity(at time: Double) -> Double {
        let span = 0.05
        let change = trace.offset(at: time) - trace.offset(at: time - span)
        return abs(change) > 2 * scene.screenLength ? 0 : change / span
    }
}
