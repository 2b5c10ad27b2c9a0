// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import LoadScheduling
public import Pixels
private import Synchronization

/// An image of any size as tiles, created on demand in bounded memory.
///
/// Small coarse levels are decoded directly from the image, so that a first tile is available soon.
/// Of formats with embedded smaller versions, such as pyramidal TIFF or JPEG 2000, only those are
/// read. All other tiles are created in one pass over the image when the first of them is
/// requested, and stored in a ``TileStore``.
///
/// Queue, cache and store belong to the caller and can be shared by many images.
public final class TiledImage: Sendable {
    /// The sizes and formats of tiles.
    public struct Configuration: Hashable, Sendable {
        /// The width and height of a tile in pixels.
        public var tileSide = 256
        /// Whether the last level is a single pixel, as in Deep Zoom.
        public var endsInOnePixel = false
        /// The maximum number of pixels of a level that is decoded directly from the image.
        public var directPixelCount = 4 << 20
        /// The format of stored tiles without alpha.
        public var opaqueFormat = "jpeg"
        /// The format of stored tiles with alpha.
        public var alphaFormat = "png"
        /// The options for encoding stored tiles.
        public var encoding = EncodeOptions()
        /// Whether a truncated image yields tiles as far as it can be decoded.
        public var acceptsTruncated = true
        /// Whether tiles are decoded from the image with an index of it, where its format has one,
        /// instead of stored.
        ///
        /// See `ImageIndex`. The first tile is available as soon as the index is made,
        /// which takes a fraction of the time of all tiles; each tile of level *n* then takes the time
        /// of decoding 4ⁿ tiles.
        public var usesIndex = false

        /// Creates a configuration with the default values.
        public init() { encoding.quality = 85 }
    }

    /// The name of the image in stores and errors.
    public let name: String
    /// The geometry of the tiles.
    public let pyramid: TilePyramid
    /// The sizes and formats of tiles.
    public let configuration: Configuration
    /// The cache of decoded tiles.
    public let cache: TileCache
    /// The worker threads.
    public let queue: TileQueue
    private let store: any TileStore
    let source: ImageSource
    private let storedIndex: StoredIndex?
    private let codecs: CodecSet
    private let encoders: TileEncoders
    /// Reads tiles of the pyramid that the image may store; `nil` if it has another format or colour
    /// space than tiles.
    private let storedTiles: StoredTileReads?
    private let reads = SharedLoads<TileAddress, DecodedTile?, NoProgress>()
    private let levels = SharedLoads<Int, DecodedTile, NoProgress>()
    let pyramids = SharedLoads<TileSetKey, any StoredTiles, NoProgress>()
    private let indices = SharedLoads<String, IndexState, NoProgress>()
    private let indexState = Mutex<IndexState>(.unknown)

    /// Whether tiles are decoded with an index.
    enum IndexState {
        case unknown
        case none
        /// The image with its index.
        case made(ImageSource)
    }

    /// Creates a tiled image; no pixels are decoded yet.
    ///
    /// - Parameters:
    ///   - source: the image; its limits must allow its size.
    ///   - name: a name that is unique for the bytes of the image, used in the store and in errors.
    ///   - codecs: the codecs that read and write tiles.
    ///   - store: the store of encoded tiles.
    ///   - queue: the worker threads.
    ///   - cache: the cache of decoded tiles.
    ///   - configuration: sizes and formats.
    ///   - storedIndex: the place of the index, if the configuration requires one; `nil` keeps it in
    ///     memory only.
    /// - Throws: `LoadError.encodingFailed(path:_:)` if a format of tiles cannot be encoded.
    public init(
        _ source: ImageSource, name: String, codecs: CodecSet,
        store: any TileStore = MemoryTileStore(), queue: TileQueue, cache: TileCache = TileCache(),
        configuration: Configuration = Configuration(), storedIndex: StoredIndex? = nil
    ) throws(LoadError) {
        self.source = source
        self.storedIndex = storedIndex
        self.name = name
        self.codecs = codecs
        self.store = store
        self.queue = queue
        self.cache = cache
        self.configuration = configuration
        pyramid = TilePyramid(
            source.pixelSize, tileSide: configuration.tileSide,
            endsInOnePixel: configuration.endsInOnePixel)
        let header = source.header
        let storesTiles =
            configuration.opaqueFormat == "jpeg"
            && header.jpegTileSize
                == PixelSize(width: configuration.tileSide, height: configuration.tileSide)
            && header.orientation == .upright && header.colorProfile.isSRGB
        storedTiles =
            storesTiles ? StoredTileReads(source, name: name, on: queue.reading) : nil
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

    /// Returns a tile and creates it where needed; concurrent requests for a tile are coalesced.
    ///
    /// - Parameters:
    ///   - tile: a tile of ``pyramid``.
    ///   - priority: the priority of the request.
    /// - Returns: the pixels, in sRGB.
    /// - Throws: `LoadError`.
    public func tile(
        _ tile: TileAddress, priority: LoadPriority = .visible
    ) async throws(LoadError) -> PixelBuffer {
        try await decodedTile(tile, priority).image
    }

    private func decodedTile(
        _ tile: TileAddress, _ priority: LoadPriority
    ) async throws(LoadError) -> DecodedTile {
        precondition(pyramid.contains(tile), "no \(tile) in \(pyramid.size)")
        let key = TileCache.Key(image: name, tile: tile)
        if let tile = cache.tile(key) { return tile }
        if isDirect(tile.level) {
            let level = try await levels.value(
                for: tile.level, .init(urgency: PriorityHandle.fixed(priority))
            ) { context throws(LoadError) in
                try await self.decodeLevel(tile.level, context.urgency)
            }
            // It may have been evicted already.
            return cache.tile(key) ?? level.cut(pyramid.rect(of: tile))
        }
        if case .made(let source) = try await makeIndex(priority) {
            return try await decodeTile(tile, of: source, priority)
        }
        return try await readBack(tile, priority) { tiles throws(LoadError) in
            try await self.reads.value(for: tile, on: self.queue.reading, priority) {
                _ throws(LoadError) in try self.read(tile, of: tiles)
            }
        }
    }

    /// Returns an encoded tile, for example for a client; creates it like ``tile(_:priority:)``.
    ///
    /// A tile that the image stores in this form, as pyramidal TIFF may, is returned as it is, with the
    /// quality with which it was stored.
    ///
    /// - Parameters:
    ///   - tile: a tile of ``pyramid``.
    ///   - priority: the priority of the request.
    /// - Returns: a file in one of the formats of ``configuration``.
    /// - Throws: `LoadError`.
    public func encodedTile(
        _ tile: TileAddress, priority: LoadPriority = .visible
    ) async throws(LoadError) -> EncodedTile {
        precondition(pyramid.contains(tile), "no \(tile) in \(pyramid.size)")
        if let storedTiles, let file = try await storedTile(tile, of: storedTiles, priority) {
            return file
        }
        var isDecoded = isDirect(tile.level)
        if !isDecoded, case .made = try await makeIndex(priority) { isDecoded = true }
        if isDecoded {
            let tile = try await decodedTile(tile, priority)
            return try await queue.reading.run(priority) { () throws(LoadError) in
                do throws(CodecError) {
                    var file = try self.encoders.file(tile.image)
                    file.problem = tile.problem
                    return file
                } catch {
                    throw .encodingFailed(path: self.name, error)
                }
            }
        }
        return try await readBack(tile, priority) { tiles throws(LoadError) in
            try await self.queue.reading.run(priority) { () throws(LoadError) in
                guard let bytes = tiles.file(of: tile) else { return nil }
                var file = self.encoders.file(bytes)
                file.problem = tiles.problem
                return file
            }
        }
    }

    /// Creates and stores all tiles that are not decoded directly, unless they are stored; makes only
    /// the index if tiles are decoded with it.
    ///
    /// The work is cancelled when no request waits for a tile. A viewer keeps it running by this
    /// call, in a task that it cancels when the image is closed.
    ///
    /// - Parameter priority: the priority of the work.
    /// - Throws: `LoadError`.
    public func makeTiles(priority: LoadPriority = .prefetch) async throws(LoadError) {
        guard !isDirect(0) else { return }
        if case .made = try await makeIndex(priority) { return }
        _ = try await madeTiles(priority)
    }

    /// Removes all tiles from cache and store; later requests create them again.
    public func removeTiles() {
        cache.removeAll(of: name)
        store.removeTiles(for: key)
    }

    /// Returns a tile from the cache, `nil` if it is not cached.
    public func cachedTile(_ tile: TileAddress) -> PixelBuffer? {
        cache.tile(TileCache.Key(image: name, tile: tile))?.image
    }

    /// A part of a coarser tile to draw until a tile is available.
    public struct Placeholder: Sendable {
        /// The position of the coarser tile.
        public let tile: TileAddress
        /// The pixels of the coarser tile.
        public let image: PixelBuffer
        /// The part of ``image`` that covers the requested tile, in its pixels.
        public let region: SampleRegion
    }

    /// Returns the finest cached tile of a coarser level that covers a tile.
    ///
    /// - Returns: the placeholder, `nil` if no coarser tile is cached.
    public func placeholder(for tile: TileAddress) -> Placeholder? {
        for level in (tile.level..<pyramid.levelCount).dropFirst() {
            let (coarser, region) = pyramid.ancestor(of: tile, atLevel: level)
            guard let image = cachedTile(coarser) else { continue }
            return Placeholder(tile: coarser, image: image, region: region)
        }
        return nil
    }

    /// Returns whether a level is decoded directly from the image instead of stored.
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
    /// Decodes a level once the budget allows it, and caches all of its tiles.
    private func decodeLevel(
        _ level: Int, _ urgency: PriorityHandle
    ) async throws(LoadError) -> DecodedTile {
        // A box filter, so that the level looks like the stored ones.
        var options = DecodeOptions(box: pyramid.size(ofLevel: level), mode: .stretch)
        options.kernel = .box
        options.acceptsTruncated = configuration.acceptsTruncated
        let room = try await cache.budget?.reserve(source.resultByteCount(options), urgency)
        return try await queue.reading.run(urgency) {
            [options] cancellation throws(LoadError) in
            defer { room?.release() }
            let decoded: DecodedTile
            do throws(CodecError) {
                let level = try self.source.decodedImage(options, cancellation: cancellation)
                decoded = DecodedTile(level.image, level.report.problem?.description)
            } catch {
                throw LoadError(decoding: self.name, error)
            }
            // The file may have been changed since its header was read.
            guard decoded.image.size == self.pyramid.size(ofLevel: level),
                decoded.image.format.planeCount == 1
            else { throw .unreadable(path: self.name, reason: "the file changed") }
            let (columns, rows) = self.pyramid.tileCounts(ofLevel: level)
            for y in 0..<rows {
                for x in 0..<columns {
                    let tile = TileAddress(level: level, x: x, y: y)
                    self.cache.insert(
                        decoded.cut(self.pyramid.rect(of: tile)),
                        TileCache.Key(image: self.name, tile: tile))
                }
            }
            return decoded
        }
    }

    /// Returns a tile that the image stores; `nil` if it stores none or it is damaged.
    private func storedTile(
        _ tile: TileAddress, of stored: StoredTileReads, _ priority: LoadPriority
    ) async throws(LoadError) -> EncodedTile? {
        let (rect, level) = (pyramid.rect(of: tile), pyramid.size(ofLevel: tile.level))
        let whole = StoredTile(rect, ofLevel: level)
        if let file = try await stored.file(of: whole, priority) { return encoders.file(file) }
        // Some programs round the sides of levels down, so that edges lack a column or a row.
        for (columns, rows) in [(1, 1), (1, 0), (0, 1)] {
            let size = PixelSize(width: level.width - columns, height: level.height - rows)
            let part = StoredTile(rect.intersection(PixelRect(size)), ofLevel: size)
            guard part.rect != rect, !part.rect.isEmpty,
                let file = try await stored.file(of: part, priority)
            else { continue }
            return try await queue.reading.run(priority) { () throws(LoadError) in
                let source = try? ImageSource(
                    EncodedBytes(file), codecs: self.codecs, limits: self.source.limits)
                guard let image = try? source?.image(), image.size == part.rect.size else {
                    return nil
                }
                return try? self.encoders.file(image.padded(to: rect.size))
            }
        }
        return nil
    }

    /// Reads the index of the image or makes it, once, if the configuration requires it.
    func makeIndex(_ priority: LoadPriority) async throws(LoadError) -> IndexState {
        guard configuration.usesIndex else { return .none }
        let state = indexState.withLock { $0 }
        guard case .unknown = state else { return state }
        return try await indices.value(
            for: name, .init(urgency: PriorityHandle.fixed(priority))
        ) { context throws(LoadError) in
            var source = self.source
            if source.index == nil, let storedIndex = self.storedIndex {
                // Not behind pyramids, which take long.
                source.index = try await self.queue.reading.run(context.urgency) {
                    _ throws(LoadError) in storedIndex.read()
                }
            }
            if source.index == nil {
                source.index = try await self.queue.making.run(context.urgency) {
                    flag throws(LoadError) in try self.madeIndex(flag)
                }
            }
            let state = source.index == nil ? IndexState.none : .made(source)
            self.indexState.withLock { $0 = state }
            return state
        }
    }

    private func madeIndex(_ cancellation: CancellationFlag) throws(LoadError) -> ImageIndex? {
        do throws(CodecError) {
            let index = try source.makeIndex(cancellation: cancellation)
            if let index { storedIndex?.write(index, source.pixelSize) }
            return index
        } catch {
            throw LoadError(decoding: name, error)
        }
    }

    /// Decodes the region of a tile with the index, and reduces it as the stored tiles are.
    private func decodeTile(
        _ tile: TileAddress, of source: ImageSource, _ priority: LoadPriority
    ) async throws(LoadError) -> DecodedTile {
        var options = DecodeOptions()
        options.region = pyramid.imageRect(of: tile)
        options.convertsToSRGB = false
        options.acceptsTruncated = configuration.acceptsTruncated
        let decoded = try await reads.value(
            for: tile, .init(urgency: PriorityHandle.fixed(priority))
        ) { [options] context throws(LoadError) in
            let byteCount = source.resultByteCount(options)
            let room = try await self.cache.budget?.reserve(byteCount, context.urgency)
            return try await self.queue.reading.run(context.urgency) {
                cancellation throws(LoadError) in
                defer { room?.release() }
                do throws(CodecError) {
                    let region = try source.decodedImage(options, cancellation: cancellation)
                    let decoded = DecodedTile(
                        try self.encoders.converted(region.image.halved(tile.level)),
                        region.report.problem?.description)
                    self.cache.insert(decoded, TileCache.Key(image: self.name, tile: tile))
                    return decoded
                } catch {
                    throw LoadError(decoding: self.name, error)
                }
            }
        }
        guard let decoded, decoded.image.size == pyramid.rect(of: tile).size else {
            throw .unreadable(path: name, reason: "the file changed")
        }
        return decoded
    }

    private func madeTiles(_ priority: LoadPriority) async throws(LoadError) -> any StoredTiles {
        let key = key
        return try await pyramids.value(for: key, on: queue.making, priority) {
            flag throws(LoadError) in
            if let tiles = self.store.tiles(for: key) { return tiles }
            return try self.makePyramid(key, flag)
        }
    }

    /// Reads a tile by `read`; tiles that cannot be read are created again, once.
    private func readBack<Value: Sendable>(
        _ tile: TileAddress, _ priority: LoadPriority,
        _ read: (any StoredTiles) async throws(LoadError) -> Value?
    ) async throws(LoadError) -> Value {
        for _ in 0..<2 {
            if let value = try await read(try await madeTiles(priority)) { return value }
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
        let report: DecodeReport
        do throws(CodecError) {
            report = try source.decodeRows(options, into: maker, cancellation: cancellation)
        } catch {
            throw maker.storeFailure ?? LoadError(decoding: name, error)
        }
        return try writer.finish(problem: report.problem?.description)
    }

    /// Reads a tile from the store.
    ///
    /// - Returns: the result of `read`, `nil` if the store has lost the tile.
    private func read(
        _ tile: TileAddress, of tiles: any StoredTiles
    ) throws(LoadError) -> DecodedTile? {
        guard let file = tiles.file(of: tile),
            let image = try? ImageSource(EncodedBytes(file), codecs: codecs.decodedInProcess)
                .image(),
            image.size == pyramid.rect(of: tile).size
        else { return nil }
        let decoded = DecodedTile(image, tiles.problem)
        cache.insert(decoded, TileCache.Key(picture: name, tile: tile))
        return decoded
    }
}

extension SharedLoads where Update == NoProgress {
    /// Joins the load for a key, or starts it on a queue.
    fileprivate func value(
        for key: Key, on queue: WorkQueue, _ priority: LoadPriority,
        _ work: @escaping @Sendable (CancellationFlag) throws(LoadError) -> Value
    ) async throws(LoadError) -> Value {
        try await value(for: key, Consumer(urgency: PriorityHandle.fixed(priority))) {
            context throws(LoadError) in
            try await queue.run(context.urgency, work)
        }
    }
}
