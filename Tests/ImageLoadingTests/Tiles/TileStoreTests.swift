// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

@Suite("A tile store", .timeLimit(.minutes(5))) struct TileStoreTests {
    private let folder: TestFolder
    private let key = TileSetKey(
        name: "a picture", pyramid: TilePyramid(PixelSize(width: 300, height: 200), tileSide: 100),
        encoding: "png")

    init() throws { folder = try TestFolder() }

    private var path: String {
        get throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.storeDirectory)
            return "\(folder.storeDirectory)/\(try #require(names.first))"
        }
    }

    private func file(_ tile: TileAddress) -> [UInt8] {
        Array("\(tile)".utf8) + Array(repeating: UInt8(tile.x), count: tile.y * 1000)
    }

    private func write(
        _ store: any TileStore, problem: String? = nil
    ) throws -> any StoredTiles {
        let writer = try store.makeTiles(for: key)
        for tile in key.pyramid.tiles { try writer.write(file(tile), as: tile) }
        return try writer.finish(problem: problem)
    }

    @Test(
        "gives back what it took, on disk and in memory", arguments: [false, true],
        [nil, "truncated after 7 bytes"])
    func roundTrip(_ isOnDisk: Bool, _ problem: String?) throws {
        let store: any TileStore =
            isOnDisk ? try FolderTileStore(directory: folder.storeDirectory) : MemoryTileStore()
        #expect(store.tiles(for: key) == nil)
        let written = try write(store, problem: problem)
        let again: any TileStore =
            isOnDisk ? try FolderTileStore(directory: folder.storeDirectory) : store
        let tiles = try #require(again.tiles(for: key))
        #expect(tiles.problem == problem)
        #expect(written.problem == problem)
        for tile in key.pyramid.tiles {
            #expect(tiles.file(of: tile) == file(tile))
            #expect(written.file(of: tile) == file(tile))
        }
        #expect(tiles.file(of: TileAddress(level: 9, x: 0, y: 0)) == nil)
        var other = key
        other.encoding = "jpeg"
        #expect(again.tiles(for: other) == nil)
        again.removeTiles(for: key)
        #expect(again.tiles(for: key) == nil)
        // Who reads already goes on to do so.
        #expect(tiles.file(of: key.pyramid.tiles[0]) == file(key.pyramid.tiles[0]))
    }

    @Test("in memory evicts the least recently used pyramids, never the newest")
    func memoryRoom() throws {
        let byteCount = key.pyramid.tiles.reduce(0) { $0 + file($1).count }
        func write(_ name: String, _ store: MemoryTileStore) throws {
            var key = key
            key.name = name
            let writer = try store.makeTiles(for: key)
            for tile in key.pyramid.tiles { try writer.write(file(tile), as: tile) }
            _ = try writer.finish(problem: nil)
        }
        func names(_ store: MemoryTileStore) -> [String] {
            ["a", "b", "c"].filter { name in
                var key = key
                key.name = name
                return store.tiles(for: key) != nil
            }
        }
        let store = MemoryTileStore(byteLimit: 2 * byteCount)
        try write("a", store)
        try write("b", store)
        var first = key
        first.name = "a"
        #expect(store.tiles(for: first) != nil)
        try write("c", store)
        #expect(names(store) == ["a", "c"])
        #expect(store.byteCount == 2 * byteCount)

        let small = MemoryTileStore(byteLimit: 1)
        try write("a", small)
        try write("b", small)
        #expect(names(small) == ["b"])
    }

    @Test("evicts the least recently used pyramids") func room() throws {
        // The tiles, and some bytes for each of them and for the key.
        let byteCount = key.pyramid.tiles.reduce(1_000) { $0 + file($1).count + 48 }
        let store = try FolderTileStore(
            directory: folder.storeDirectory, byteLimit: byteCount * 2)
        var keys = (0..<3).map { number in
            var key = key
            key.name = "picture \(number)"
            return key
        }
        func write(_ key: TileSetKey, yearsAgo: Double) throws {
            let writer = try store.makeTiles(for: key)
            for tile in key.pyramid.tiles { try writer.write(file(tile), as: tile) }
            _ = try writer.finish(problem: nil)
            // The newest of the files is this one.
            let paths = try FileManager.default.contentsOfDirectory(atPath: folder.storeDirectory)
                .map { "\(folder.storeDirectory)/\($0)" }
            let dates = try paths.map {
                try FileManager.default.attributesOfItem(atPath: $0)[.modificationDate] as? Date
                    ?? .distantPast
            }
            let newest = try #require(zip(paths, dates).max { $0.1 < $1.1 }?.0)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -3e7 * yearsAgo)],
                ofItemAtPath: newest)
        }
        for (number, key) in keys.enumerated() { try write(key, yearsAgo: Double(3 - number)) }
        // Asked for, the oldest becomes the newest.
        #expect(store.tiles(for: keys[0]) != nil)
        keys.append(key)
        try write(key, yearsAgo: 0)
        #expect(store.tiles(for: keys[0]) != nil)
        #expect(store.tiles(for: keys[1]) == nil)
        #expect(store.tiles(for: keys[3]) != nil)
    }

    @Test("has no pyramid that was not completed") func unfinished() throws {
        let store = try FolderTileStore(directory: folder.storeDirectory)
        do {
            let writer = try store.makeTiles(for: key)
            try writer.write([1, 2, 3], as: TileAddress(level: 0, x: 0, y: 0))
            #expect(store.tiles(for: key) == nil)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.storeDirectory)
        #expect(names.isEmpty)
    }

    @Test("has no pyramid whose file is truncated or damaged in its index") func damagedIndex()
        throws
    {
        let store = try FolderTileStore(directory: folder.storeDirectory)
        _ = try write(store)
        let path = try path
        let whole = Array(try Data(contentsOf: URL(filePath: path)))
        for count in stride(from: 0, to: whole.count, by: 7) {
            try Data(whole.prefix(count)).write(to: URL(filePath: path))
            #expect(store.tiles(for: key) == nil, "\(count) of \(whole.count) bytes")
        }
        let indexByteCount = key.pyramid.tiles.count * 48 + 32
        for place in stride(from: whole.count - indexByteCount, to: whole.count, by: 3) {
            var changed = whole
            changed[place] ^= 0x40
            try Data(changed).write(to: URL(filePath: path))
            #expect(store.tiles(for: key) == nil, "byte \(place) of \(whole.count)")
        }
        try Data(whole).write(to: URL(filePath: path))
        #expect(store.tiles(for: key) != nil)
    }

    @Test("yields a damaged tile again after creating it anew") func damagedTile() async throws {
        var maker = TileMaker()
        maker.store = try FolderTileStore(directory: folder.storeDirectory)
        let file = FormulaCodec.file(PixelSize(width: 100, height: 100))
        let image = try maker.image(file)
        try await image.makeTiles()
        #expect(maker.codec.decodes.begun == 1)
        let tile = TileAddress(level: 0, x: 0, y: 0)
        let expected = try await image.tile(tile)
        image.cache.removeAll()
        let path = try path
        var bytes = Array(try Data(contentsOf: URL(filePath: path)))
        for place in 0..<2000 { bytes[place] ^= 0xFF }
        try Data(bytes).write(to: URL(filePath: path))
        let comparison = PixelComparison(try await image.tile(tile), expected)
        #expect(comparison.maximumDifference == 0)
        #expect(maker.codec.decodes.begun == 2)
        // Another process that opens the image finds the tiles.
        let again = try maker.image(file)
        _ = try await again.tile(tile)
        #expect(maker.codec.decodes.begun == 2)
        await maker.queue.close()
    }

    @Test("that cannot be written is reported") func unwritable() async throws {
        var maker = TileMaker()
        maker.store = FailingStore()
        let image = try maker.image(FormulaCodec.file(PixelSize(width: 100, height: 100)))
        await #expect(throws: LoadError.storeFailed(reason: "full")) {
            try await image.tile(TileAddress(level: 0, x: 0, y: 0))
        }
        #expect(throws: LoadError.self) {
            try FolderTileStore(directory: "/proc/no such folder/tiles")
        }
        await maker.queue.close()
    }
}

/// A disk that is full.
private struct FailingStore: TileStore {
    private final class Writer: TileWriter {
        func write(_ file: [UInt8], as tile: TileAddress) throws(LoadError) {
            throw .storeFailed(reason: "full")
        }

        func finish(problem: String?) throws(LoadError) -> any StoredTiles {
            throw .storeFailed(reason: "full")
        }
    }

    func tiles(for key: TileSetKey) -> (any StoredTiles)? { nil }
    func makeTiles(for key: TileSetKey) throws(LoadError) -> any TileWriter { Writer() }
    func removeTiles(for key: TileSetKey) {}
}
