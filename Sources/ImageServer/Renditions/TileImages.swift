// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import LoadScheduling
internal import Pixels
internal import Synchronization

/// The images whose tiles were requested last, opened for reading tiles.
///
/// Lock: held for a table lookup.
final class TileImages: Sendable {
    /// The width and height of tiles in pixels.
    static let tileSide = 256
    /// The maximum number of open images, each with a small index of its rows of tiles.
    private static let maximumCount = 64
    /// The number of pixels above which tiles are decoded with an index, in formats that have one.
    private static let indexedPixelCount = 8 << 20

    private struct State {
        /// Created on the first use: most servers serve no tiles.
        var queue: TileQueue?
        var images: [FileIdentity: TiledImage] = [:]
        /// The least recently used image first.
        var order: [FileIdentity] = []
        var isClosed = false
    }

    private let codecs: CodecSet
    private let limits: DecodeLimits
    private let store: any TileStore
    private let cache: TileCache
    private let renditions: (any RenditionStoring)?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - pipeline: provides the codecs for images and tiles, the limits for decoding, the store of
    ///     indexes and the memory budget that decoded pixels are charged to.
    ///   - store: the store of encoded tiles; `nil` for one in memory.
    ///   - byteLimit: the size in bytes of the cache of decoded tiles, and of a store in memory.
    init(_ pipeline: ImagePipeline, store: (any TileStore)?, byteLimit: Int) {
        codecs = pipeline.codecs
        limits = pipeline.limits
        renditions = pipeline.store
        self.store = store ?? MemoryTileStore(byteLimit: byteLimit)
        cache = TileCache(byteLimit: byteLimit, budget: pipeline.budget)
    }

    /// Returns the tiles of an image; reads its header on first use.
    ///
    /// - Throws: ``LoadError``.
    func image(_ identity: FileIdentity) throws(LoadError) -> TiledImage {
        if let image = openImage(identity) { return image }
        let queue = try openQueue()
        let source: ImageSource
        do throws(CodecError) {
            source = try ImageSource(
                EncodedBytes(opening: identity.path, limits: limits), codecs: codecs,
                limits: limits)
        } catch .fileChanged {
            throw .fileChanged(path: identity.path)
        } catch {
            throw .decodingFailed(path: identity.path, error)
        }
        // Stored tiles are named by the version, so that they must be made from it. The source detects
        // later changes.
        guard try FileIdentity(path: identity.path) == identity else {
            throw .fileChanged(path: identity.path)
        }
        var configuration = TiledImage.Configuration()
        configuration.tileSide = Self.tileSide
        configuration.endsInOnePixel = true
        // The tiles of a level that is decoded at once must fit beside those of another.
        configuration.directPixelCount = min(configuration.directPixelCount, cache.byteLimit / 8)
        configuration.usesIndex = source.pixelSize.area > Self.indexedPixelCount
        let image = try TiledImage(
            source, name: "\(identity.path) \(identity.version)", codecs: codecs,
            store: store, queue: queue, cache: cache,
            configuration: configuration,
            storedIndex: renditions.map { StoredIndex(of: identity, in: $0) })
        return state.withLock { state in
            if let known = state.images[identity] { return known }
            state.images[identity] = image
            state.order.append(identity)
            if state.order.count > Self.maximumCount {
                state.images[state.order.removeFirst()] = nil
            }
            return image
        }
    }

    /// Removes the tiles of an image from memory and from the store.
    ///
    /// - Throws: ``LoadError``.
    func remove(_ identity: FileIdentity) throws(LoadError) {
        // The names of stored tiles contain the size of the image.
        try image(identity).removeTiles()
        state.withLock { state in
            state.images[identity] = nil
            state.order.removeAll { $0 == identity }
        }
    }

    /// Evicts decoded tiles under memory pressure.
    func respond(to pressure: MemoryPressureLevel) { cache.respond(to: pressure) }

    /// Cancels pending work; later calls throw ``ImageLoading/LoadError/cancelled``.
    func close() async {
        let queue = state.withLock { state in
            state.isClosed = true
            return state.queue
        }
        await queue?.close()
    }

    /// Returns the tiles of an image that is open.
    func openImage(_ identity: FileIdentity) -> TiledImage? {
        state.withLock { state in
            guard let image = state.images[identity] else { return nil }
            if let index = state.order.lastIndex(of: identity) {
                state.order.append(state.order.remove(at: index))
            }
            return image
        }
    }

    private func openQueue() throws(LoadError) -> TileQueue {
        let queue = state.withLock { state -> TileQueue? in
            guard !state.isClosed else { return nil }
            let queue = state.queue ?? TileQueue(maximumWaitingCount: 512)
            state.queue = queue
            return queue
        }
        guard let queue else { throw .cancelled }
        return queue
    }
}
