// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Logging

/// What the parts of a pipeline share: codecs, limits, queues, memory and the store.
struct PipelineResources: Sendable {
    let codecs: CodecSet
    let limits: DecodeLimits
    let queues: WorkQueues
    let files: FileIdentities
    let budget: MemoryBudget
    let memory: MemoryCache
    /// The planes of files whose sizes are reproducible.
    let reduced: ReducedImages
    /// The animations that are being played.
    let playing = PlayingAnimations()
    /// The store of renditions and facts, if there is one.
    let store: (any RenditionStoring)?
    /// The store that other pipelines use too, if there is one.
    let sharedStore: (any SharedRenditionStoring)?
    let policy: StorePolicy
    let logger: Logger
    let metrics = PipelineMetrics()
    let clock = ContinuousClock()
}
