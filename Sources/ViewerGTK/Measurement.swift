// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import Glibc
internal import EncodedImages
internal import ViewerModel

/// Prints when images appear, and how evenly frames follow each other.
///
/// Each line of standard output is the time of the monotonic clock in seconds and an event.
@MainActor
final class Measurement {
    /// The time in which the grid is scrolled to its end; `nil` to leave it to the user.
    private let scrollSeconds: Double?
    private var scrollStart: Double?
    private var lastFrame: Double?
    private var statistics = FrameStatistics()
    private var lastEvent = ""

    init(scrollSeconds: Double?) { self.scrollSeconds = scrollSeconds }

    /// Scrolls the grid evenly, once its first cells are complete.
    func scroll(_ viewer: inout Viewer, at seconds: Double) {
        guard let scrollSeconds, scrollStart != nil, viewer.mode == .grid else { return }
        // As a wheel does, so that the content has a velocity.
        let elapsed = min(0.1, seconds - (lastFrame ?? seconds))
        viewer.motion.scroll(by: viewer.motion.limit * elapsed / scrollSeconds)
        lastFrame = seconds
    }

    /// Notes what a frame contains; returns whether another follows.
    func note(
        _ viewer: Viewer, _ grid: GridCells, _ shown: ShownImages, at seconds: Double
    ) -> Bool {
        if viewer.mode == .single {
            guard let image = shown.current, image.loaded != nil else { return false }
            let isSharp = viewer.placement?.isEnlarged == true && image.tiles?.isComplete == true
            print(isSharp ? "tiles \(image.name)" : "image \(image.name)")
            return false
        }
        let names = viewer.grid.visible(at: viewer.motion.offset).map { viewer.list[$0] }
        let cells = names.map { grid[$0] }
        let blank = cells.count { $0?.texture == nil && $0?.failure == nil }
        let coarse = cells.count { $0?.isComplete != true } - blank
        let isComplete = !names.isEmpty && blank == 0 && coarse == 0
        if isComplete { print("grid \(names.count) of \(viewer.list.count)") }
        guard let scrollSeconds else { return false }
        if let scrollStart {
            statistics.add(
                at: seconds, cellCount: names.count, blankCount: blank, coarseCount: coarse)
            let isLate = seconds > scrollStart + 2 * scrollSeconds
            if isLate || viewer.motion.offset == viewer.motion.limit {
                print("\(statistics)")
                calotype_window_close()
            }
        } else if isComplete, names.count < viewer.list.count {
            scrollStart = seconds
        }
        return true
    }

    private func print(_ event: String) {
        guard event != lastEvent else { return }
        lastEvent = event
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        let milliseconds = now.tv_nsec / 1_000_000
        let digits = String(1000 + milliseconds).dropFirst()
        Swift.print("\(now.tv_sec).\(digits) \(event)")
        fflush(nil)
    }
}
#endif
