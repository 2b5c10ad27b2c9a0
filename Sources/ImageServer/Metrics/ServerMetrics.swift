// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics

/// The counter of responses and the timer of requests.
struct ServerMetrics: Sendable {
    private let duration = Timer(
        label: "calotype.http.request", preferredDisplayUnit: .seconds)
    /// The counters by the first digit of the status.
    private let responses = (0..<6).map {
        Counter(label: "calotype.http.responses", dimensions: [("status", "\($0)xx")])
    }

    /// Records a response and the time since its request.
    func record(_ status: Int, _ duration: Duration) {
        responses[min(max(status / 100, 0), 5)].increment()
        self.duration.recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
