// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics

/// The counters and timers that the pipeline reports to swift-metrics.
struct PipelineMetrics: Sendable {
    private let memoryHits = Counter(label: "calotype.image.memory.hits")
    private let storeHits = Counter(label: "calotype.rendition.store.hits")
    private let sharedHits = Counter(label: "calotype.rendition.shared.hits")
    private let decodes = Timer(label: "calotype.image.decode", preferredDisplayUnit: .seconds)
    private let encodes = Timer(label: "calotype.rendition.encode", preferredDisplayUnit: .seconds)

    func countMemoryHit() { memoryHits.increment() }
    func countStoreHit() { storeHits.increment() }
    func countSharedHit() { sharedHits.increment() }

    /// Records the duration of a decode, including resampling.
    func recordDecode(_ duration: Duration) { decodes.recordNanoseconds(nanoseconds(duration)) }
    func recordEncode(_ duration: Duration) { encodes.recordNanoseconds(nanoseconds(duration)) }

    private func nanoseconds(_ duration: Duration) -> Int64 {
        Int64(duration / .nanoseconds(1))
    }
}
