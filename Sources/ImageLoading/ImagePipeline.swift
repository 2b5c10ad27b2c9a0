// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
public import Logging
public import Pixels

/// From a file's path to its picture at the size at which it is shown.
///
/// Decoding runs on threads of the pipeline's own, as many as it is told, the most urgent request
/// first; equal requests share one decode; what was made is kept in memory and, if there is a store,
/// on disk. Cancelling the task that waits ends work that nobody else waits for.
///
/// What it does step by step stands in `LoadImage.swift`.
public final class ImagePipeline: Sendable {
    public struct Configuration: Sendable {
        /// Pictures that are decoded or encoded at the same time.
        public var decodeThreadCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        /// Decodes that may wait; one more is refused with ``LoadError/queueFull``.
        public var maximumQueuedDecodeCount = 1024
        /// Bytes of decoded pictures that are kept in memory.
        public var memoryCacheByteLimit = 256 << 20
        /// What a file may ask for.
        public var limits = DecodeLimits()
        /// Where renditions and facts are kept; `nil` to keep none.
        public var store: RenditionStore?

        public init() {}
    }

    let codecs: CodecSet
    let limits: DecodeLimits
    let store: RenditionStore?
    let logger: Logger
    let memory: MemoryCache
    /// Threads that compute.
    let decodes: WorkQueue
    /// Threads that only look something up, so that a hit never waits for a decode.
    let lookups: WorkQueue
    let sharedDecodes: SharedWork<ImageKey, DecodedOriginal>
    let sharedEncodes: SharedWork<RenditionKey, Rendition>
    private let admission = Admission()

    /// - Parameters:
    ///   - codecs: the formats that are known.
    ///   - configuration: how much it may take.
    ///   - logger: where it tells, at `debug` and `trace`, what it does.
    public init(codecs: CodecSet, configuration: Configuration, logger: Logger) {
        self.codecs = codecs
        limits = configuration.limits
        store = configuration.store
        self.logger = logger
        memory = MemoryCache(byteLimit: configuration.memoryCacheByteLimit)
        decodes = WorkQueue(
            threadCount: configuration.decodeThreadCount,
            maximumWaitingCount: configuration.maximumQueuedDecodeCount)
        // Lookups are short and what they lead to is bounded above, so the bound is a wide one.
        lookups = WorkQueue(
            threadCount: max(2, configuration.decodeThreadCount),
            maximumWaitingCount: max(8192, configuration.maximumQueuedDecodeCount))
        sharedDecodes = SharedWork(on: decodes)
        sharedEncodes = SharedWork(on: decodes, continuing: true)
    }

    deinit {
        decodes.stop()
        lookups.stop()
    }

    /// The picture of a file, decoded.
    public func image(for request: ImageRequest) async throws(LoadError) -> PixelBuffer {
        try admission.enter()
        defer { admission.leave() }
        return try await loadImage(request).image
    }

    /// The picture of a file, encoded anew; from the store if it has been made before.
    public func rendition(for request: RenditionRequest) async throws(LoadError) -> Rendition {
        try admission.enter()
        defer { admission.leave() }
        return try await loadRendition(request)
    }

    /// What a listing needs to know of a file; nothing is decoded.
    public func facts(for path: String) async throws(LoadError) -> ImageFacts {
        try admission.enter()
        defer { admission.leave() }
        let original = try await lookups.run(.visible) { () throws(LoadError) in
            try FileIdentity(path: path)
        }
        guard let facts = await loadFacts([original]).first else { throw .cancelled }
        return try facts.get()
    }

    /// The facts of many files, in the order of `originals`.
    public func facts(for originals: [FileIdentity]) async -> [Result<ImageFacts, LoadError>] {
        do throws(LoadError) {
            try admission.enter()
        } catch {
            return originals.map { _ in .failure(error) }
        }
        defer { admission.leave() }
        return await loadFacts(originals)
    }

    /// Refuses new requests with ``LoadError/cancelled``, lets those in flight end and closes the
    /// store.
    public func close() async {
        await admission.close()
        await decodes.close()
        await lookups.close()
        store?.close()
    }
}
