// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The motion of a scroll offset: steps of a wheel are smoothed, and a fling slows down.
///
/// The offset depends on the elapsed time alone, not on the number of frames.
package struct ScrollMotion: Hashable, Sendable {
    /// The current offset.
    package private(set) var offset = 0.0
    /// The maximum offset.
    package var limit = 0.0 {
        didSet {
            offset = clamped(offset)
            target = clamped(target)
        }
    }
    private var target = 0.0
    /// The time constant of the approach to the target, in seconds.
    private var timeConstant = Self.wheelTimeConstant

    private static let wheelTimeConstant = 0.06
    private static let flingTimeConstant = 0.325
    /// The distance to the target at which the motion ends.
    private static let leastDistance = 0.5

    /// Creates a motion at rest at offset 0.
    package init() {}

    /// Whether the offset changes with time.
    package var isMoving: Bool { offset != target }

    /// The velocity in pixels per second.
    package var velocity: Double { (target - offset) / timeConstant }

    /// Returns whether content of a length passes in less than some seconds.
    package func passes(_ length: Double, within seconds: Double) -> Bool {
        abs(velocity) * seconds > length
    }

    /// Moves the target by a distance, to which the offset then moves.
    package mutating func scroll(by distance: Double) {
        target = clamped(target + distance)
        timeConstant = Self.wheelTimeConstant
    }

    /// Moves at once by a distance, as a finger does.
    package mutating func drag(by distance: Double) { jump(to: offset + distance) }

    /// Continues with a velocity that decreases to 0.
    package mutating func fling(_ velocity: Double) {
        timeConstant = Self.flingTimeConstant
        target = clamped(offset + velocity * timeConstant)
    }

    /// Moves at once to an offset.
    package mutating func jump(to offset: Double) {
        self.offset = clamped(offset)
        target = self.offset
    }

    /// Moves smoothly to an offset.
    package mutating func move(to offset: Double) {
        target = clamped(offset)
        timeConstant = Self.wheelTimeConstant
    }

    /// Advances the motion.
    ///
    /// - Parameter seconds: the time since the last frame.
    package mutating func advance(by seconds: Double) {
        offset = target + (offset - target) * exp(-max(0, seconds) / timeConstant)
        if abs(offset - target) < Self.leastDistance { offset = target }
    }

    private func clamped(_ offset: Double) -> Double { min(max(0, offset), max(0, limit)) }
}
