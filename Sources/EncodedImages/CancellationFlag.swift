// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Tells a decode on another thread that nobody waits for it any more.
public final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    public init() {}

    public var isCancelled: Bool { flag.load(ordering: .relaxed) }

    public func cancel() { flag.store(true, ordering: .relaxed) }
}
