// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What tells the tiles of one pyramid from those of others.
public struct TileSetKey: Hashable, Sendable {
    /// The picture, by a name that is as unique as its bytes.
    public var name: String
    public var pyramid: TilePyramid
    /// How tiles are written: formats and quality.
    public var encoding: String

    public init(name: String, pyramid: TilePyramid, encoding: String) {
        self.name = name
        self.pyramid = pyramid
        self.encoding = encoding
    }
}

/// Keeps the tiles of pyramids, each pyramid whole or not at all.
///
/// Calls block; ``TiledImage`` makes them on threads of its own.
public protocol TileStore: Sendable {
    /// The tiles of a pyramid, if all of them are there.
    func tiles(for key: TileSetKey) -> (any StoredTiles)?

    /// Begins to keep a pyramid, in place of one that is there.
    ///
    /// - Throws: ``LoadError/storeFailed(reason:)``.
    func makeTiles(for key: TileSetKey) throws(LoadError) -> any TileWriter

    /// Forgets a pyramid.
    func removeTiles(for key: TileSetKey)
}

/// The tiles of one pyramid.
public protocol StoredTiles: Sendable {
    /// A tile as a file.
    ///
    /// - Returns: `nil` if it cannot be read any more.
    func file(of tile: TileAddress) -> [UInt8]?
}

/// Takes the tiles of one pyramid; if it is let go before its end, nothing is kept.
public protocol TileWriter: AnyObject {
    /// Takes a tile as a file; each comes once, in any order.
    ///
    /// - Throws: ``LoadError/storeFailed(reason:)``.
    func write(_ file: [UInt8], as tile: TileAddress) throws(LoadError)

    /// Keeps what was written.
    ///
    /// - Throws: ``LoadError/storeFailed(reason:)``.
    func finish() throws(LoadError) -> any StoredTiles
}

/// Keeps tiles in memory, for pictures that are looked at once, and for tests.
public final class MemoryTileStore: TileStore {
    private struct Tiles: StoredTiles {
        var files: [TileAddress: [UInt8]] = [:]

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
        }

        func finish() throws(LoadError) -> any StoredTiles {
            store.sets.withLock { $0[key] = tiles }
            return tiles
        }
    }

    private let sets = Mutex<[TileSetKey: Tiles]>([:])

    public init() {}

    /// The bytes of all files.
    public var byteCount: Int {
        sets.withLock { sets in
            sets.values.reduce(0) { $0 + $1.files.values.reduce(0) { $0 + $1.count } }
        }
    }

    public func tiles(for key: TileSetKey) -> (any StoredTiles)? { sets.withLock { $0[key] } }

    public func makeTiles(for key: TileSetKey) throws(LoadError) -> any TileWriter {
        Writer(self, key)
    }

    public func removeTiles(for key: TileSetKey) { sets.withLock { $0[key] = nil } }
}

/// A tile as a file.
public struct EncodedTile: Sendable, Hashable {
    public let bytes: [UInt8]
    public let mediaType: String
}
