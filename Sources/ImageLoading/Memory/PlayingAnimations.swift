// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// An animation that is being played and holds frames that can be decoded again.
protocol PlayedAnimation: AnyObject, Sendable {
    /// Adapts the number of frames that are held ahead to the memory pressure.
    func respond(to level: MemoryPressureLevel)
    /// Drops the frames that are not shown yet.
    func dropAhead()
}

/// The animations that are being played, so that they release frames when memory is short.
///
/// A lock: every operation is short. Animations take theirs while it is held, never the reverse.
final class PlayingAnimations: Sendable {
    private struct State {
        var level = MemoryPressureLevel.normal
        var all: [ObjectIdentifier: any PlayedAnimation] = [:]
    }

    private let state = Mutex(State())

    /// The number of animations that are being played.
    var count: Int { state.withLock { $0.all.count } }

    /// Adds an animation, and passes it the current memory pressure.
    func add(_ animation: any PlayedAnimation) {
        state.withLock { state in
            state.all[ObjectIdentifier(animation)] = animation
            animation.respond(to: state.level)
        }
    }

    func remove(_ animation: any PlayedAnimation) {
        state.withLock { $0.all[ObjectIdentifier(animation)] = nil }
    }

    func respond(to level: MemoryPressureLevel) {
        let all = state.withLock { state in
            state.level = level
            return Array(state.all.values)
        }
        for animation in all { animation.respond(to: level) }
    }

    func dropAhead() {
        let all = state.withLock { Array($0.all.values) }
        for animation in all { animation.dropAhead() }
    }
}
