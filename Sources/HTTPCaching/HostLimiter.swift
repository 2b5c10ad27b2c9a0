// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Synchronization

/// Lets so many requests to each server run at a time.
final class HostLimiter: Sendable {
    private struct Host {
        let semaphore: AsyncSemaphore
        /// Those inside and those who wait; with the last the entry goes.
        var userCount = 0
    }

    private let countPerHost: Int
    private let hosts = Mutex<[String: Host]>([:])

    init(countPerHost: Int) { self.countPerHost = countPerHost }

    /// Waits to be let in; ``leave(_:)`` must follow.
    ///
    /// - Throws: `LoadError.cancelled`; then there is nothing to leave.
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
