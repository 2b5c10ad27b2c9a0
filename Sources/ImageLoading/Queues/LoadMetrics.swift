// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One step of a load.
public struct LoadStep: Hashable, Sendable {
    /// The stages of a load.
    public enum Stage: String, Hashable, Sendable, CaseIterable {
        /// A hit in the memory cache.
        case memory
        /// A hit in the rendition store.
        case store
        /// The load was shared with other requests.
        case shared
        /// The bytes of the original were loaded from a file, the network or a custom loader.
        case load
        /// The image was decoded.
        case decode
        /// The image was resampled from a larger one in memory.
        case resample
        /// A processor was applied.
        case process
        /// The image was encoded.
        case encode
    }

    /// The stage that the step belongs to.
    public let stage: Stage
    /// The time that the step took.
    public let duration: Duration
    /// The time that the step waited for a thread.
    public let wait: Duration
    /// The result in words.
    public let detail: String

    /// A step, by default one that took no time.
    public init(
        _ stage: Stage, _ detail: String, duration: Duration = .zero, wait: Duration = .zero
    ) {
        self.stage = stage
        self.detail = detail
        self.duration = duration
        self.wait = wait
    }
}

/// The steps of a load, collected for a caller that passes one with its request.
public final class LoadMetrics: Sendable {
    private let told = Mutex<[LoadStep]>([])

    /// Metrics without steps.
    public init() {}

    /// The completed steps, in the order of their ends.
    public var steps: [LoadStep] { told.withLock { $0 } }

    func add(_ step: LoadStep) { told.withLock { $0.append(step) } }

    func add(_ story: LoadMetrics) {
        let steps = story.steps
        told.withLock { $0 += steps }
    }
}
