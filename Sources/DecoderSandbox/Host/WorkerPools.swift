// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The pools of one kind of request: a single one whose workers load every library, or one for each
/// library, made at the first request for it.
///
/// Lock: held while a pool is made, not while its workers start.
final class WorkerPools: Sendable {
    private struct State {
        var pools: [String?: WorkerPool] = [:]
        var isClosed = false
    }

    private let make: @Sendable (_ format: String?) -> WorkerPool
    private let state = Mutex(State())

    /// - Parameter make: makes the pool of workers that load the library of a format; none if it is
    ///   empty, all if it is `nil`.
    init(_ make: @escaping @Sendable (_ format: String?) -> WorkerPool) { self.make = make }

    /// Returns the pool for a format.
    func pool(for format: String?) -> WorkerPool {
        let (pool, isClosed) = state.withLock { state in
            let pool = state.pools[format] ?? make(format)
            state.pools[format] = pool
            return (pool, state.isClosed)
        }
        if isClosed { pool.close() }
        return pool
    }

    /// Ends all workers and rejects further requests.
    func close() {
        let pools = state.withLock { state in
            state.isClosed = true
            return state.pools.values
        }
        for pool in pools { pool.close() }
    }
}
