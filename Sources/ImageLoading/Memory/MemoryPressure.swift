// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Says how memory stands, again and again.
public protocol MemoryStatusSource: Sendable {
    /// Waits until something may have changed, for some seconds at most, and reads.
    ///
    /// - Returns: `nil` once stopped.
    func next() -> MemoryStatusFiles?

    /// Ends the waiting, for good.
    func stop()
}

/// Watches how short memory is, on a thread of its own, and tells of every change.
///
/// It begins at ``MemoryPressureLevel/normal`` and ends with its last reference.
public final class MemoryPressure: Sendable {
    private let source: any MemoryStatusSource

    /// - Parameters:
    ///   - source: where it looks.
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

    /// Ends the watching; a call of `onChange` that has begun goes on.
    public func stop() { source.stop() }
}
