// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling

/// The queues of a pipeline, one for each kind of blocking or computing work.
///
/// Their threads end with the last reference.
final class WorkQueues: Sendable {
    /// Short lookups of files and in the store, so that a hit never waits for a decode.
    let lookups: WorkQueue
    /// Reads of whole files.
    let loads: WorkQueue
    let decodes: WorkQueue
    /// Processors and resampling of decoded images.
    let processes: WorkQueue
    let encodes: WorkQueue

    /// - Parameters:
    ///   - decodeThreadCount: the threads that decode, and as many that process or encode; one more decodes
    ///     while others decode what is less urgent.
    ///   - readThreadCount: the threads that read files.
    ///   - maximumWaitingCount: the maximum number of pieces of work that wait in each queue.
    init(decodeThreadCount: Int, readThreadCount: Int, maximumWaitingCount: Int) {
        let width = decodeThreadCount
        // Lookups are short, and the work that follows them is bounded above.
        lookups = WorkQueue(
            width: max(2, width), maximumWaitingCount: max(8192, maximumWaitingCount))
        loads = WorkQueue(width: readThreadCount, maximumWaitingCount: maximumWaitingCount)
        // The images of a sheet or ahead of a view may be slow.
        decodes = WorkQueue(
            width: width, spareWidth: 1, maximumWaitingCount: maximumWaitingCount)
        processes = WorkQueue(width: width, maximumWaitingCount: maximumWaitingCount)
        encodes = WorkQueue(width: width, maximumWaitingCount: maximumWaitingCount)
    }

    deinit {
        for queue in all { queue.stop() }
    }

    private var all: [WorkQueue] { [lookups, loads, decodes, processes, encodes] }

    /// Whether one of the queues accepts no more work.
    var isFull: Bool { all.contains(where: \.isFull) }

    /// The number of pieces of work that all queues have accepted: the thread hops of all loads.
    var submittedCount: Int { all.reduce(0) { $0 + $1.submittedCount } }

    /// Rejects new work and waits until the accepted work is done and the threads have ended.
    func close() async {
        for queue in all { await queue.close() }
    }
}
