// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import LoadScheduling
internal import Synchronization

/// The pictures whose tiles were asked for last.
final class TileImages: Sendable {
    static let tileSide = 256
    /// So many pictures are open at a time, each with a few numbers for every row of tiles.
    private static let maximumCount = 64

    private struct State {
        /// Made when it is first needed: most servers are never asked for a tile.
        var queue: TileQueue?
        var images: [FileIdentity: TiledImage] = [:]
        /// The last used is last.
        var order: [FileIdentity] = []
        var isClosed = false
    }

    private let codecs: CodecSet
    private let limits: DecodeLimits
    private let store: any TileStore
    private let cache: TileCache
    private let state = Mutex(State())

    /// - Parameters:
    ///   - codecs: what reads pictures, and writes tiles.
    ///   - limits: what a picture may ask for.
    ///   - store: what keeps tiles; `nil` to keep those of the pictures used last in memory.
    ///   - byteLimit: what decoded tiles may take together, and as much again those kept in memory.
    ///   - budget: the account that pixels are charged to.
    init(
        _ codecs: CodecSet, _ limits: DecodeLimits, store: (any TileStore)?, byteLimit: Int,
        _ budget: MemoryBudget
    ) {
        self.codecs = codecs
        self.limits = limits
        self.store = store ?? MemoryTileStore(byteLimit: byteLimit)
        cache = TileCache(byteLimit: byteLimit, budget: budget)
    }

    /// The tiles of a picture; reads its header.
    ///
    /// - Throws: ``LoadError``.
    func image(_ identity: FileIdentity) throws(LoadError) -> TiledImage {
        if let image = use(identity) { return image }
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
        // Tiles are kept under the name of a version, so they must be made of that one. What changes
        // from here on is noticed by the source.
        guard try FileIdentity(path: identity.path) == identity else {
            throw .fileChanged(path: identity.path)
        }
        var configuration = TiledImage.Configuration()
        configuration.tileSide = Self.tileSide
        configuration.endsInOnePixel = true
        // The tiles of a level that is decoded at once have room beside those of another.
        configuration.directPixelCount = min(configuration.directPixelCount, cache.byteLimit / 8)
        let image = try TiledImage(
            source, name: "\(identity.path) \(identity.version)", codecs: codecs,
            store: store, queue: queue, cache: cache,
            configuration: configuration)
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

    /// Forgets the tiles of a picture.
    ///
    /// - Throws: ``LoadError``.
    func remove(_ identity: FileIdentity) throws(LoadError) {
        // Those on disk are found by a name that the picture's size is part of.
        try image(identity).removeTiles()
        state.withLock { state in
            state.images[identity] = nil
            state.order.removeAll { $0 == identity }
        }
    }

    /// Lets go of decoded tiles where memory is short.
    func respond(to pressure: MemoryPressureLevel) { cache.respond(to: pressure) }

    /// Ends the work; nothing is answered any more.
    func close() async {
        let queue = state.withLock { state in
            state.isClosed = true
            return state.queue
        }
        await queue?.close()
    }

    private func use(_ identity: FileIdentity) -> TiledImage? {
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
