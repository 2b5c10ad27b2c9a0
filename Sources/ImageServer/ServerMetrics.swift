// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics

/// What is counted and timed of answers.
struct ServerMetrics: Sendable {
    private let duration = Timer(
        label: "calotype.http.request", preferredDisplayUnit: .seconds)
    /// By the first digit of the status.
    private let responses = (0..<6).map {
        Counter(label: "calotype.http.responses", dimensions: [("status", "\($0)xx")])
    }

    func record(_ status: Int, _ duration: Duration) {
        responses[min(max(status / 100, 0), 5)].increment()
        self.duration.recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
