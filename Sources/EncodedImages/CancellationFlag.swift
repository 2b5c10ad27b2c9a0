// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Tells a decode on another thread that nobody waits for it any more.
public final class CancellationFlag: Sendable {
    private let flag = Atomic(false)
    /// Knows it too, such as from another process.
    private let other: (@Sendable () -> Bool)?

    public init() { other = nil }

    /// A flag that is also set as soon as `other` says so; it is asked often.
    public init(or other: @escaping @Sendable () -> Bool) { self.other = other }

    public var isCancelled: Bool { flag.load(ordering: .relaxed) || other?() == true }

    public func cancel() { flag.store(true, ordering: .relaxed) }
}
