// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// Limits the number of concurrent requests to each server.
final class HostLimiter: Sendable {
    private struct Host {
        let semaphore: AsyncSemaphore
        /// The number of running and waiting requests; the last one removes the entry.
        var userCount = 0
    }

    private let countPerHost: Int
    private let hosts = Mutex<[String: Host]>([:])

    init(countPerHost: Int) { self.countPerHost = countPerHost }

    /// Waits for a slot; call ``leave(_:)`` to release it.
    ///
    /// - Throws: `LoadError.cancelled`; then no slot is held.
    func enter(_ authority: String, _ priority: LoadPriority) async throws(LoadError) {
        let semaphore = hosts.withLock { hosts in
            var host =
                hosts[authority] ?? Host(semaphore: AsyncSemaphore(count: countPerHost))
            host.userCount += 1
            hosts[authority] = host
            return host.semaphore
        }
        do throws(LoadError) {
            try await semaphore.enter(priority)
        } catch {
            forget(authority)
            throw error
        }
    }

    func leave(_ authority: String) { forget(authority)?.leave() }

    @discardableResult
    private func forget(_ authority: String) -> AsyncSemaphore? {
        hosts.withLock { hosts in
            guard var host = hosts[authority] else { return nil }
            host.userCount -= 1
            hosts[authority] = host.userCount == 0 ? nil : host
            return host.semaphore
        }
    }
}
