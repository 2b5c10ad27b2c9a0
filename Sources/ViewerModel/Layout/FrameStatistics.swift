// SPDX-License-Identifier: Apache-2.0

/// How evenly frames follow each other while the grid moves, and how complete they are.
package struct FrameStatistics: Hashable, Sendable, CustomStringConvertible {
    /// The number of frames.
    package private(set) var frameCount = 0
    /// The number of frames that the display would have shown in addition.
    package private(set) var droppedCount = 0
    /// The number of cells in all frames.
    package private(set) var cellCount = 0
    /// The number of cells in all frames that showed nothing.
    package private(set) var blankCount = 0
    /// The number of cells in all frames that showed a coarse image or a placeholder.
    package private(set) var coarseCount = 0
    private var last: Double?

    /// The number of frames per second of the display.
    private static let frameRate = 60.0

    /// Creates statistics without frames.
    package init() {}

    /// Adds a frame.
    ///
    /// - Parameters:
    ///   - seconds: the time of the frame.
    ///   - cellCount: the number of visible cells.
    ///   - blankCount: the number of those that show nothing.
    ///   - coarseCount: the number of those that show a coarse image or a placeholder.
    package mutating func add(
        at seconds: Double, cellCount: Int, blankCount: Int, coarseCount: Int
    ) {
        if let last {
            droppedCount += max(0, Int(((seconds - last) * Self.frameRate).rounded()) - 1)
        }
        last = seconds
        frameCount += 1
        self.cellCount += cellCount
        self.blankCount += blankCount
        self.coarseCount += coarseCount
    }

    /// The values with their names.
    package var description: String {
        "frames \(frameCount) dropped \(droppedCount) cells \(cellCount) blank \(blankCount) "
            + "coarse \(coarseCount)"
    }
}
