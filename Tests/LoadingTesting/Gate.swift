// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Holds a thread until it is opened.
package final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    package func wait() { semaphore.wait() }
    package func open() { semaphore.signal() }
}
