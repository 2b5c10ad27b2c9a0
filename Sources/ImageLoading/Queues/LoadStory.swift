// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One thing that was done for a picture.
public struct LoadStep: Hashable, Sendable {
    public enum Stage: String, Hashable, Sendable, CaseIterable {
        /// Whether it was in memory.
        case memory
        /// Whether it was in the store.
        case store
        /// Others that wait for the same load.
        case shared
        /// Its bytes came, from a file or elsewhere.
        case load
        case decode
        case resample
        case process
        case encode
    }

    public let stage: Stage
    /// How long it took, and how long it had waited for its turn.
    public let duration: Duration
    public let wait: Duration
    /// What came of it, for people.
    public let detail: String

    public init(
        _ stage: Stage, _ detail: String, duration: Duration = .zero, wait: Duration = .zero
    ) {
        self.stage = stage
        self.detail = detail
        self.duration = duration
        self.wait = wait
    }
}

/// What was done for a picture, told to whoever asks for one.
public final class LoadStory: Sendable {
    private let told = Mutex<[LoadStep]>([])

    public init() {}

    /// What has been done so far, in the order in which it ended.
    public var steps: [LoadStep] { told.withLock { $0 } }

    func add(_ step: LoadStep) { told.withLock { $0.append(step) } }

    func add(_ story: LoadStory) {
        let steps = story.steps
        told.withLock { $0 += steps }
    }
}
