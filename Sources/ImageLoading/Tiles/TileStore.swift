// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import LoadScheduling
internal import Synchronization

/// The key of a set of tiles in a store.
public struct TileSetKey: Hashable, Sendable {
    /// The name of the image, unique for its bytes.
    @ComparedByBytes public var name: String
    /// The geometry of the tiles.
    public var pyramid: TilePyramid
    /// The formats and the quality of the tiles.
    public var encoding: String

    /// Creates a key.
    public init(name: String, pyramid: TilePyramid, encoding: String) {
        self.name = name
        self.pyramid = pyramid
        self.encoding = encoding
    }
}

/// A store for the tiles of pyramids; each pyramid is stored completely or not at all.
///
/// All calls block; ``TiledImage`` makes them on the threads of a ``TileQueue``.
public protocol TileStore: Sendable {
    /// Returns the tiles of a pyramid, `nil` if it is not stored.
    func tiles(for key: TileSetKey) -> (any StoredTiles)?

    /// Starts to write a pyramid, which replaces a stored one when it is complete.
    ///
    /// - Throws: `LoadError.storeFailed(reason:)`.
    func makeTiles(for key: TileSetKey) throws(LoadError) -> any TileWriter

    /// Removes a pyramid.
    func removeTiles(for key: TileSetKey)
}

/// The stored tiles of one pyramid.
public protocol StoredTiles: Sendable {
    /// The error because of which pixels are missing, as text; `nil` if the image is complete.
    var problem: String? { get }

    /// Reads an encoded tile.
    ///
    /// - Returns: the tile, `nil` if it cannot be read.
    func file(of tile: TileAddress) -> [UInt8]?
}

/// Writes the tiles of one pyramid; if it is released before ``finish(problem:)``, nothing is stored.
public protocol TileWriter: AnyObject {
    /// Writes an encoded tile; each tile once, in any order.
    ///
    /// - Throws: `LoadError.storeFailed(reason:)`.
    func write(_ file: [UInt8], as tile: TileAddress) throws(LoadError)

    /// Completes the pyramid and stores it.
    ///
    /// - Parameter problem: see ``StoredTiles/problem``.
    /// - Returns: the stored tiles.
    /// - Throws: `LoadError.storeFailed(reason:)`.
    func finish(problem: String?) throws(LoadError) -> any StoredTiles
}

/// A tile store in memory, for images that are viewed once, and for tests.
///
/// The least recently used pyramids are evicted first; the newest stays whatever its size.
public final class MemoryTileStore: TileStore {
    private struct Tiles: StoredTiles {
        var files: [TileAddress: [UInt8]] = [:]
        var byteCount = 0
        var problem: String?

        func file(of tile: TileAddress) -> [UInt8]? { files[tile] }
    }

    private final class Writer: TileWriter {
        private let store: MemoryTileStore
        private let key: TileSetKey
        private var tiles = Tiles()

        init(_ store: MemoryTileStore, _ key: TileSetKey) {
            self.store = store
            self.key = key
        }

        func write(_ file: [UInt8], as tile: TileAddress) throws(LoadError) {
            tiles.files[tile] = file
            tiles.byteCount += file.count
        }

        func finish(problem: String?) throws(LoadError) -> any StoredTiles {
            tiles.problem = problem
            store.keep(tiles, key)
            return tiles
        }
    }

    private struct TileSet {
        let key: TileSetKey
        let tiles: Tiles
    }

    private let byteLimit: Int
    /// The pyramids, the most recently used last.
    private let sets = Mutex<[TileSet]>([])

    /// Creates a store.
    ///
    /// - Parameter byteLimit: the maximum size of all tiles in bytes.
    public init(byteLimit: Int = .max) { self.byteLimit = byteLimit }

    /// The size of all tiles in bytes.
    public var byteCount: Int { sets.withLock { $0.reduce(0) { $0 + $1.tiles.byteCount } } }

    /// Returns the tiles of a pyramid, `nil` if it is not stored.
    public func tiles(for key: TileSetKey) -> (any StoredTiles)? {
        sets.withLock { sets in
            guard let index = sets.firstIndex(where: { $0.key == key }) else { return nil }
            let found = sets.remove(at: index)
            sets.append(found)
            return found.tiles
        }
    }

    private func keep(_ tiles: Tiles, _ key: TileSetKey) {
        sets.withLock { sets in
            sets.removeAll { $0.key == key }
            sets.append(TileSet(key: key, tiles: tiles))
            var byteCount = sets.reduce(0) { $0 + $1.tiles.byteCount }
            while byteCount > byteLimit, sets.count > 1 {
                byteCount -= sets.removeFirst().tiles.byteCount
            }
        }
    }

    /// Starts to write a pyramid.
    public func makeTiles(for key: TileSetKey) throws(LoadError) -> any TileWriter {
        Writer(self, key)
    }

    /// Removes a pyramid.
    public func removeTiles(for key: TileSetKey) {
        sets.withLock { $0.removeAll { $0.key == key } }
    }
}

/// An encoded tile.
public struct EncodedTile: Sendable, Hashable {
    /// The bytes of the file.
    public let bytes: [UInt8]
    /// The media type, such as `image/jpeg`.
    public let mediaType: String
    /// The error because of which pixels are missing, as text; see
    /// ``TiledImage/Configuration-swift.struct/acceptsTruncated``.
    public var problem: String?
}
