// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import LoadScheduling
internal import Synchronization

/// What tells the tiles of one pyramid from those of others.
public struct TileSetKey: Hashable, Sendable {
    /// The picture, by a name that is as unique as its bytes.
    @ComparedByBytes public var name: String
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
    /// - Throws: `LoadError.storeFailed(reason:)`.
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
    /// - Throws: `LoadError.storeFailed(reason:)`.
    func write(_ file: [UInt8], as tile: TileAddress) throws(LoadError)

    /// Keeps what was written.
    ///
    /// - Throws: `LoadError.storeFailed(reason:)`.
    func finish() throws(LoadError) -> any StoredTiles
}

/// Keeps tiles in memory, for pictures that are looked at once, and for tests.
///
/// The pyramids that were not used for longest go first; the newest stays, however large it is.
public final class MemoryTileStore: TileStore {
    private struct Tiles: StoredTiles {
        var files: [TileAddress: [UInt8]] = [:]
        var byteCount = 0

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

        func finish() throws(LoadError) -> any StoredTiles {
            store.keep(tiles, key)
            return tiles
        }
    }

    private struct TileSet {
        let key: TileSetKey
        let tiles: Tiles
    }

    private let byteLimit: Int
    /// The one used last is last.
    private let sets = Mutex<[TileSet]>([])

    /// - Parameter byteLimit: what the files may take together.
    public init(byteLimit: Int = .max) { self.byteLimit = byteLimit }

    /// The bytes of all files.
    public var byteCount: Int { sets.withLock { $0.reduce(0) { $0 + $1.tiles.byteCount } } }

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

    public func makeTiles(for key: TileSetKey) throws(LoadError) -> any TileWriter {
        Writer(self, key)
    }

    public func removeTiles(for key: TileSetKey) {
        sets.withLock { $0.removeAll { $0.key == key } }
    }
}

/// A tile as a file.
public struct EncodedTile: Sendable, Hashable {
    public let bytes: [UInt8]
    public let mediaType: String
}
