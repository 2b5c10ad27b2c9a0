// SPDX-License-Identifier: Apache-2.0

public import HTTPCaching
internal import Logging
public import EncodedImages
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension ImagePipeline {
    /// The threads, limits, caches and loaders of a pipeline.
    public struct Configuration: Sendable {
        /// The number of images that are decoded concurrently, and as many that are processed or
        /// encoded; by default the number of processors.
        public var decodeThreadCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        /// The number of files that are read concurrently.
        public var readThreadCount = 4
        /// The maximum number of decodes that wait; one more fails with `LoadError/queueFull`.
        public var maximumQueuedDecodeCount = 1024
        /// The maximum number of bytes of decoded images that are kept in memory.
        ///
        /// At most one image is kept for 4 KiB of it, since an image also has entries in tables. Planes of
        /// decodes, from which further sizes are made, take at most a quarter of it in addition.
        public var memoryCacheByteLimit = 256 << 20
        /// The time after which an image in memory expires; `nil` for never.
        public var memoryLifetime: Duration?
        /// The budget of everything that holds pixels: decodes in flight, images in memory, frames.
        ///
        /// Several pipelines may share one.
        public var memoryBudget = MemoryBudget(byteLimit: 1 << 30)
        /// The limits that each original must meet.
        public var limits = DecodeLimits()
        /// The maximum number of pixels of all frames together, before and after resizing, of a
        /// rendition that stays animated; of a larger animation the first frame is shown.
        public var animatedRenditionPixelCount = 500_000_000
        /// The store of renditions and facts; `nil` to store none.
        public var store: (any RenditionStoring)?
        /// A store that several pipelines share, behind ``store``; `nil` for none.
        public var sharedStore: (any SharedRenditionStoring)?
        /// What is stored on disk.
        public var storePolicy = StorePolicy.all
        /// The lossless format of stored images of views.
        ///
        /// They are stored only if a codec writes the format.
        public var storedFormat = "qoi"
        /// The loader for originals on the network; `nil` to load none from there.
        public var web: HTTPLoader?

        /// Creates the default configuration, without a store and without access to the network.
        public init() {}
    }
}

extension PipelineResources {
    /// Creates the queues and caches of a configuration.
    init(codecs: CodecSet, configuration: ImagePipeline.Configuration, logger: Logger) {
        let queues = WorkQueues(
            decodeThreadCount: configuration.decodeThreadCount,
            readThreadCount: configuration.readThreadCount,
            maximumWaitingCount: configuration.maximumQueuedDecodeCount)
        self.init(
            codecs: codecs, limits: configuration.limits, queues: queues,
            files: FileIdentities(lookups: queues.lookups), budget: configuration.memoryBudget,
            memory: MemoryCache(
                byteLimit: configuration.memoryCacheByteLimit,
                countLimit: (configuration.memoryCacheByteLimit + 4095) / 4096,
                lifetime: configuration.memoryLifetime, budget: configuration.memoryBudget),
            reduced: ReducedImages(
                // Planes do not expire.
                byteLimit: configuration.memoryLifetime == nil
                    ? configuration.memoryCacheByteLimit / 4 : 0,
                budget: configuration.memoryBudget),
            store: configuration.store, sharedStore: configuration.sharedStore,
            policy: configuration.storePolicy, logger: logger)
    }
}
