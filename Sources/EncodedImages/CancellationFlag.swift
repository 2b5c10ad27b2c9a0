// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A flag that cancels a decode on another thread.
public final class CancellationFlag: Sendable {
    private let flag = Atomic(false)
    /// A further source of cancellation, such as another process.
    private let other: (@Sendable () -> Bool)?

    /// A flag that ``cancel()`` sets.
    public init() { other = nil }

    /// A flag that ``cancel()`` sets, and that is also set while `other` returns `true`.
    ///
    /// - Parameter other: called for every row that is decoded, on any thread.
    public init(or other: @escaping @Sendable () -> Bool) { self.other = other }

    /// Whether the result is no longer needed.
    public var isCancelled: Bool { flag.load(ordering: .relaxed) || other?() == true }

    /// Sets the flag.
    public func cancel() { flag.store(true, ordering: .relaxed) }
}
