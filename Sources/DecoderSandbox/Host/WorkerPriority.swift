// SPDX-License-Identifier: Apache-2.0

internal import CSandbox
internal import Synchronization

/// The scheduling priority of workers, which falls when a request takes long.
///
/// An image that takes 20 ms of processor time or more then leaves the processors to images that take
/// less, to requests that find their result in a cache, and to the threads of the host.
final class WorkerPriority: Sendable {
    /// The nice value of the host, with which workers start.
    private let usualNiceValue: Int32
    /// Whether the host may raise the priority of a worker again.
    private let canRestore: Atomic<Bool>

    /// The increment of the nice value: a worker with it gets a quarter of a contended processor.
    ///
    /// More would let slow images reach their deadline on a busy server.
    private static let increment: Int32 = 5

    init() {
        usualNiceValue = calotype_nice_value()
        canRestore = Atomic(calotype_can_restore_nice_value(usualNiceValue))
    }

    /// The processor time of a request after which the priority of its worker falls, in seconds.
    ///
    /// A worker whose priority cannot be raised again is replaced after the request, at the cost of a
    /// start.
    var secondsBeforeLowering: Double { canRestore.load(ordering: .relaxed) ? 0.02 : 0.5 }

    /// Lowers the priority of a worker.
    ///
    /// - Returns: whether the system permitted it.
    func lower(_ process: Int32) -> Bool {
        calotype_set_nice_value(process, min(19, usualNiceValue + Self.increment))
    }

    /// Raises the priority of a worker to that of the host.
    ///
    /// - Returns: whether the system permitted it; it requires `CAP_SYS_NICE` or a sufficient
    ///   `RLIMIT_NICE`.
    func restore(_ process: Int32) -> Bool {
        let isRestored = calotype_set_nice_value(process, usualNiceValue)
        if !isRestored { canRestore.store(false, ordering: .relaxed) }
        return isRestored
    }
}
