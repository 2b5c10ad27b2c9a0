// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// A source of the memory status of the system.
public protocol MemoryStatusSource: Sendable {
    /// Waits until the status may have changed, for some seconds at most, and reads it.
    ///
    /// - Returns: `nil` once stopped.
    func next() -> MemoryStatusFiles?

    /// Ends the current wait and all later ones.
    func stop()
}

/// Observes the memory pressure on a thread of its own, and reports every change.
///
/// It starts at ``MemoryPressureLevel/normal`` and ends with its last reference.
public final class MemoryPressure: Sendable {
    private let source: any MemoryStatusSource

    /// - Parameters:
    ///   - source: the source of the status.
    ///   - onChange: called on the watching thread with each new level.
    public init(
        source: any MemoryStatusSource = LinuxMemoryFiles(),
        onChange: @escaping @Sendable (MemoryPressureLevel) -> Void
    ) {
        self.source = source
        startThread {
            var level = MemoryPressureLevel.normal
            var earlier: MemoryStatus?
            while let files = source.next() {
                let status = MemoryStatus(files)
                let newLevel = status.level(after: earlier)
                earlier = status
                if newLevel != level { onChange(newLevel) }
                level = newLevel
            }
        }
    }

    deinit { source.stop() }

    /// Ends the observation; a call of `onChange` that has begun continues.
    public func stop() { source.stop() }
}
