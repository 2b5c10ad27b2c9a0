// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import LoadScheduling
public import Pixels

/// A picture of any size as tiles, made when they are asked for, in bounded memory.
///
/// Coarse levels, which are small, are decoded straight from the picture, so that something is there
/// soon; a format that holds smaller versions of itself, such as a TIFF pyramid or JPEG 2000, is
/// read no further than that. All other tiles are made in one pass over the picture when the first
/// of them is asked for, and kept in a ``TileStore``.
///
/// What makes, caches and shows tiles is the caller's: queue, cache and store may be shared by many
/// pictures, and ``Configuration/fadeDuration`` is for whoever draws.
public final class TiledImage: Sendable {
    public struct Configuration: Hashable, Sendable {
        /// The columns and rows of a tile.
        public var tileSide = 256
        /// Whether levels go on to a single pixel, as Deep Zoom wants it.
        public var endsInOnePixel = false
        /// Levels of at most so many pixels are decoded from the picture, each at once.
        public var directPixelCount = 4 << 20
        /// The format of opaque tiles that are kept.
        public var opaqueFormat = "jpeg"
        /// The format of tiles that are kept of a picture with alpha.
        public var alphaFormat = "png"
        /// How tiles are written that are kept.
        public var encoding = EncodeOptions()
        /// Whether a picture that ends early gives tiles as far as it goes.
        public var acceptsTruncated = false
        /// How long a view should take to show a tile in place of a coarser one.
        public var fadeDuration = Duration.milliseconds(250)

        public init() { encoding.quality = 85 }
    }

    public let name: String
    public let pyramid: TilePyramid
    public let configuration: Configuration
    public let cache: TileCache
    public let queue: TileQueue
    private let store: any TileStore
    private let source: ImageSource
    private let codecs: CodecSet
    private let encoders: TileEncoders
    private let reads = SharedLoads<TileAddress, PixelBuffer?, NoUpdate>()
    private let levels = SharedLoads<Int, PixelBuffer, NoUpdate>()
    let pyramids = SharedLoads<TileSetKey, any StoredTiles, NoUpdate>()

    /// - Parameters:
    ///   - source: the picture; its limits must allow its size.
    ///   - name: a name that is as unique as the picture's bytes, by which tiles are kept, and which
    ///     errors tell.
    ///   - codecs: what reads and writes tiles.
    ///   - store: what keeps tiles.
    ///   - queue: the threads that the work is done on.
    ///   - cache: what keeps decoded tiles.
    ///   - configuration: sizes and formats.
    /// - Throws: `LoadError.encodingFailed(path:_:)` if a format of tiles cannot be written.
    public init(
        _ source: ImageSource, name: String, codecs: CodecSet,
        store: any TileStore = MemoryTileStore(), queue: TileQueue, cache: TileCache = TileCache(),
        configuration: Configuration = Configuration()
    ) throws(LoadError) {
        self.source = source
        self.name = name
        self.codecs = codecs
        self.store = store
        self.queue = queue
        self.cache = cache
        self.configuration = configuration
        pyramid = TilePyramid(
            source.pixelSize, tileSide: configuration.tileSide,
            endsInOnePixel: configuration.endsInOnePixel)
        do throws(CodecError) {
            encoders = TileEncoders(
                opaque: try ImageDestination(
                    format: configuration.opaqueFormat, codecs: codecs,
                    options: configuration.encoding),
                alpha: try ImageDestination(
                    format: configuration.alphaFormat, codecs: codecs,
                    options: configuration.encoding),
                colorConverter: codecs.colorConverter)
        } catch {
            throw .encodingFailed(path: name, error)
        }
    }

    /// A tile, made if need be; equal requests share the work, and one that is cancelled leaves it.
    ///
    /// - Parameters:
    ///   - tile: one of ``pyramid``.
    ///   - priority: how urgent it is.
    /// - Returns: the pixels, in sRGB.
    /// - Throws: `LoadError`.
    public func tile(
        _ tile: TileAddress, priority: LoadPriority = .visible
    ) async throws(LoadError) -> PixelBuffer {
        precondition(pyramid.contains(tile), "no \(tile) in \(pyramid.size)")
        if let image = cachedTile(tile) { return image }
        if isDirect(tile.level) {
            let level = try await levels.value(
                for: tile.level, .init(urgency: LoadUrgency.fixed(priority))
            ) { context throws(LoadError) in
                try await self.decodeLevel(tile.level, context.urgency)
            }
            // It may have gone from the cache already.
            return cachedTile(tile) ?? level.cut(pyramid.rect(of: tile))
        }
        return try await readBack(tile, priority) { tiles throws(LoadError) in
            try await self.reads.value(for: tile, on: self.queue.reading, priority) {
                _ throws(LoadError) in try self.read(tile, of: tiles)
            }
        }
    }

    /// A tile as a file, for whoever draws elsewhere; made if need be, as ``tile(_:priority:)`` does.
    ///
    /// - Parameters:
    ///   - tile: one of ``pyramid``.
    ///   - priority: how urgent it is.
    /// - Returns: a whole file in one of the formats of ``configuration``.
    /// - Throws: `LoadError`.
    public func encodedTile(
        _ tile: TileAddress, priority: LoadPriority = .visible
    ) async throws(LoadError) -> EncodedTile {
        precondition(pyramid.contains(tile), "no \(tile) in \(pyramid.size)")
        if isDirect(tile.level) {
            let image = try await self.tile(tile, priority: priority)
            return try await queue.reading.run(priority) { () throws(LoadError) in
                do throws(CodecError) {
                    return try self.encoders.file(image)
                } catch {
                    throw .encodingFailed(path: self.name, error)
                }
            }
        }
        return encoders.file(
            try await readBack(tile, priority) { tiles throws(LoadError) in
                try await self.queue.reading.run(priority) { () throws(LoadError) in
                    tiles.file(of: tile)
                }
            })
    }

    /// Makes all tiles that have to be kept, unless they are.
    ///
    /// Work on them ends when nobody waits for any tile any more; a viewer whose tiles come and go
    /// holds on to it by this call, in a task that it cancels when the picture is closed.
    ///
    /// - Parameter priority: how urgent it is.
    /// - Throws: `LoadError`.
    public func makeTiles(priority: LoadPriority = .prefetch) async throws(LoadError) {
        guard !isDirect(0) else { return }
        _ = try await storedTiles(priority)
    }

    /// Forgets all tiles; those that are asked for afterwards are made again.
    public func removeTiles() {
        cache.removeAll(of: name)
        store.removeTiles(for: key)
    }

    /// A tile if it is in memory.
    public func cachedTile(_ tile: TileAddress) -> PixelBuffer? {
        cache.image(TileCache.Key(picture: name, tile: tile))
    }

    /// What to draw until a tile is there.
    public struct Placeholder: Sendable {
        public let tile: TileAddress
        public let image: PixelBuffer
        /// The part of the image to draw where the tile will be, in the image's pixels.
        public let region: SampleRegion
    }

    /// The nearest coarser tile that is in memory, and the part of it that shows what `tile` will.
    ///
    /// - Returns: `nil` if there is none.
    public func placeholder(for tile: TileAddress) -> Placeholder? {
        for level in (tile.level..<pyramid.levelCount).dropFirst() {
            let (coarser, region) = pyramid.ancestor(of: tile, atLevel: level)
            guard let image = cachedTile(coarser) else { continue }
            return Placeholder(tile: coarser, image: image, region: region)
        }
        return nil
    }

    /// Whether a level is decoded from the picture rather than kept in tiles.
    public func isDirect(_ level: Int) -> Bool {
        pyramid.size(ofLevel: level).area <= configuration.directPixelCount
    }

    var key: TileSetKey {
        let options = configuration.encoding
        return TileSetKey(
            name: name, pyramid: pyramid,
            encoding: "\(encoders.opaque.format.name) \(encoders.alpha.format.name) "
                + "\(options.quality) \(options.chromaSubsampling.rawValue) \(options.isLossless)")
    }
}

extension TiledImage {
    /// Decodes a level once there is room for it, and puts all of its tiles into the cache.
    private func decodeLevel(
        _ level: Int, _ urgency: LoadUrgency
    ) async throws(LoadError) -> PixelBuffer {
        // A box of means, so that a level looks like those that are made of one another.
        var options = DecodeOptions(box: pyramid.size(ofLevel: level), mode: .stretch)
        options.kernel = .box
        options.acceptsTruncated = configuration.acceptsTruncated
        let room = try await cache.budget?.reserve(source.resultByteCount(options), urgency)
        return try await queue.reading.run(urgency) {
            [options] cancellation throws(LoadError) in
            defer { room?.release() }
            let image: PixelBuffer
            do throws(CodecError) {
                image = try self.source.image(options, cancellation: cancellation)
            } catch {
                throw LoadError(decoding: self.name, error)
            }
            // The file may have been changed since its header was read.
            guard image.size == self.pyramid.size(ofLevel: level), image.format.planeCount == 1
            else { throw .unreadable(path: self.name, reason: "the file changed") }
            let (columns, rows) = self.pyramid.tileCounts(ofLevel: level)
            for y in 0..<rows {
                for x in 0..<columns {
                    let tile = TileAddress(level: level, x: x, y: y)
                    self.cache.insert(
                        image.cut(self.pyramid.rect(of: tile)),
                        TileCache.Key(picture: self.name, tile: tile))
                }
            }
            return image
        }
    }

    private func storedTiles(_ priority: LoadPriority) async throws(LoadError) -> any StoredTiles {
        let key = key
        return try await pyramids.value(for: key, on: queue.making, priority) {
            flag throws(LoadError) in
            if let tiles = self.store.tiles(for: key) { return tiles }
            return try self.makePyramid(key, flag)
        }
    }

    /// What `read` finds of a tile; tiles that cannot be read are made again, once.
    private func readBack<Value: Sendable>(
        _ tile: TileAddress, _ priority: LoadPriority,
        _ read: (any StoredTiles) async throws(LoadError) -> Value?
    ) async throws(LoadError) -> Value {
        for _ in 0..<2 {
            if let value = try await read(try await storedTiles(priority)) { return value }
            try await queue.reading.run(priority) { () throws(LoadError) in
                self.store.removeTiles(for: self.key)
            }
        }
        throw .storeFailed(reason: "\(name): \(tile) cannot be read back")
    }

    private func makePyramid(
        _ key: TileSetKey, _ cancellation: CancellationFlag
    ) throws(LoadError) -> any StoredTiles {
        let writer = try store.makeTiles(for: key)
        let maker = PyramidMaker(
            pyramid, source.header.orientation, encoders, limits: source.limits, to: writer)
        var options = DecodeOptions()
        options.acceptsTruncated = configuration.acceptsTruncated
        do throws(CodecError) {
            try source.decodeRows(options, into: maker, cancellation: cancellation)
        } catch {
            throw maker.storeFailure ?? LoadError(decoding: name, error)
        }
        return try writer.finish()
    }

    /// - Returns: `nil` if the store does not have what it had.
    private func read(
        _ tile: TileAddress, of tiles: any StoredTiles
    ) throws(LoadError) -> PixelBuffer? {
        guard let file = tiles.file(of: tile),
            let image = try? ImageSource(EncodedBytes(file), codecs: codecs.decodedHere).image(),
            image.size == pyramid.rect(of: tile).size
        else { return nil }
        cache.insert(image, TileCache.Key(picture: name, tile: tile))
        return image
    }
}

extension SharedLoads where Update == NoUpdate {
    /// Joins the load of `key` or begins it, all of it on a queue.
    fileprivate func value(
        for key: Key, on queue: WorkQueue, _ priority: LoadPriority,
        _ work: @escaping @Sendable (CancellationFlag) throws(LoadError) -> Value
    ) async throws(LoadError) -> Value {
        try await value(for: key, Consumer(urgency: LoadUrgency.fixed(priority))) {
            context throws(LoadError) in
            try await queue.run(context.urgency, work)
        }
    }
}
