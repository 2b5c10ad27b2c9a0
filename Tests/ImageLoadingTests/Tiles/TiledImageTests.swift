// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageCodecs
import ImageTesting
import LoadingTesting
import LoadScheduling
import Pixels
import Testing

@testable import ImageLoading

@Suite("A tiled image", .timeLimit(.minutes(10))) struct TiledImageTests {
    private static let sizes = [
        (1, 1), (1, 130), (129, 1), (64, 64), (65, 64), (64, 129), (200, 131), (127, 255),
    ].map { PixelSize(width: $0.0, height: $0.1) }

    @Test("has in every tile the means of its pixels", arguments: sizes, [1, 3, 4])
    func tiles(_ size: PixelSize, _ channelCount: Int) async throws {
        try await compare(FormulaCodec.file(size, channelCount: channelCount))
    }

    @Test("stands upright, however it is stored", arguments: Orientation.allCases, sizes)
    func orientations(_ orientation: Orientation, _ size: PixelSize) async throws {
        try await compare(FormulaCodec.file(size, orientation: orientation))
    }

    @Test("goes on to one pixel if it is to", arguments: Orientation.allCases)
    func onePixel(_ orientation: Orientation) async throws {
        var maker = TileMaker()
        maker.configuration.endsInOnePixel = true
        let size = PixelSize(width: 131, height: 70)
        try await compare(FormulaCodec.file(size, orientation: orientation), maker)
    }

    private func compare(_ file: EncodedBytes, _ maker: TileMaker = TileMaker()) async throws {
        let picture = try maker.image(file)
        let levels = try maker.levels(file, count: picture.pyramid.levelCount)
        for tile in picture.pyramid.tiles {
            let image = try await picture.tile(tile)
            let expected = levels[tile.level].cut(picture.pyramid.rect(of: tile))
            // PNG holds colours apart from alpha, and loses some of those that are premultiplied.
            let tolerance = image.format == .rgba8 ? 1 : 0
            let comparison = PixelComparison(
                image.converted(to: expected.format), expected)
            #expect(comparison.maximumDifference <= tolerance, "\(tile): \(comparison)")
        }
        // One decode for the levels, and one for all tiles.
        #expect(maker.codec.decodes.begun == 2)
        await maker.queue.close()
    }

    @Test(
        "has the same levels as Pillow",
        .enabled(if: PeerTool.python != nil, "CALOTYPE_PYTHON is not set"),
        arguments: [PixelFormat.gray8, .rgb8])
    func pillow(_ format: PixelFormat) async throws {
        let image = TestImage.noise(PixelSize(width: 517, height: 301), format)
        let file = try ImageDestination(format: "png", codecs: builtInCodecs).encode(image)
        let maker = TileMaker()
        let picture = try maker.image(EncodedBytes(file))
        let folder = try TestFolder()
        let path = folder.url.appending(path: "picture.png")
        try Data(file).write(to: path)
        for level in 0..<picture.pyramid.levelCount {
            let expected = try #require(try PeerTool.picture("halve.py", [path.path, "\(level)"]))
            for tile in picture.pyramid.tiles where tile.level == level {
                let part = expected.cut(picture.pyramid.rect(of: tile))
                let comparison = PixelComparison(try await picture.tile(tile), part)
                #expect(comparison.maximumDifference == 0, "\(tile): \(comparison)")
            }
        }
        await maker.queue.close()
    }

    @Test(
        "is created from files of every format",
        arguments: ["jpeg", "png", "webp", "tiff", "avif", "jp2", "jxl", "bmp"])
    func formats(_ format: String) async throws {
        let image = TestImage.photograph(PixelSize(width: 300, height: 201))
        let file = try ImageDestination(format: format, codecs: builtInCodecs).encode(image)
        let maker = TileMaker()
        let picture = try maker.image(EncodedBytes(file))
        let levels = try maker.levels(EncodedBytes(file), count: picture.pyramid.levelCount)
        for tile in picture.pyramid.tiles {
            let expected = levels[tile.level].cut(picture.pyramid.rect(of: tile))
            let comparison = PixelComparison(try await picture.tile(tile), expected)
            #expect(comparison.maximumDifference == 0, "\(tile): \(comparison)")
        }
        await maker.queue.close()
    }

    @Test(
        "decodes coarse levels directly from the image, all tiles at once",
        arguments: ["png", "jpeg", "jp2", "tiff"])
    func directLevels(_ format: String) async throws {
        var maker = TileMaker()
        maker.configuration.directPixelCount = 100 * 75
        let image = TestImage.photograph(PixelSize(width: 400, height: 300))
        var options = EncodeOptions()
        options.isPyramid = true
        options.quality = 95
        let file = EncodedBytes(
            try ImageDestination(format: format, codecs: builtInCodecs, options: options)
                .encode(image))
        let picture = try maker.image(file)
        #expect(
            (0..<picture.pyramid.levelCount).map(picture.isDirect) == [false, false, true, true])
        let levels = try maker.levels(file, count: picture.pyramid.levelCount)
        let first = TileAddress(level: 2, x: 1, y: 0)
        let comparison = PixelComparison(
            try await picture.tile(first), levels[2].cut(picture.pyramid.rect(of: first)))
        // Wavelets, and the smaller versions that a TIFF holds, keep more of the noise than means.
        let tolerance = ["png": 2, "jpeg": 5, "jp2": 16, "tiff": 12][format] ?? 0
        #expect(comparison.maximumDifference <= tolerance, "\(comparison)")
        #expect(picture.cachedTile(TileAddress(level: 2, x: 0, y: 1)) != nil)
        #expect((maker.store as? MemoryTileStore)?.byteCount == 0)
        await maker.queue.close()
    }

    @Test("decodes tiles with an index instead of storing them, if the format has one")
    func index() async throws {
        for (format, isIndexed) in [("jpeg", true), ("png", false)] {
            var maker = TileMaker()
            maker.configuration.usesIndex = true
            maker.configuration.directPixelCount = 1000
            let image = TestImage.photograph(PixelSize(width: 701, height: 439))
            let file = try ImageDestination(format: format, codecs: builtInCodecs).encode(image)
            let picture = try maker.image(EncodedBytes(file))
            let levels = try maker.levels(EncodedBytes(file), count: picture.pyramid.levelCount)
            for tile in picture.pyramid.tiles where !picture.isDirect(tile.level) {
                let expected = levels[tile.level].cut(picture.pyramid.rect(of: tile))
                let comparison = PixelComparison(try await picture.tile(tile), expected)
                #expect(comparison.maximumDifference == 0, "\(tile): \(comparison)")
            }
            let first = try await picture.encodedTile(TileAddress(level: 0, x: 0, y: 0))
            #expect(!first.bytes.isEmpty)
            #expect(((maker.store as? MemoryTileStore)?.byteCount == 0) == isIndexed)
            await maker.queue.close()
        }
    }

    @Test("reads stored tiles that are requested together, each its own")
    func storedTiles() async throws {
        var maker = TileMaker(tileSide: 256)
        maker.configuration.opaqueFormat = "jpeg"
        var options = EncodeOptions()
        options.isPyramid = true
        let size = PixelSize(width: 1536, height: 1280)
        let file = EncodedBytes(
            try ImageDestination(format: "tiff", codecs: builtInCodecs, options: options)
                .encode(TestImage.photograph(size)))
        let image = try maker.image(file)
        let source = try ImageSource(file, codecs: builtInCodecs)
        let tiles = image.pyramid.tiles.filter { $0.level == 0 }
        let tasks = tiles.map { tile in Task { try await image.encodedTile(tile) } }
        #expect(tiles.count == 30)
        for (tile, task) in zip(tiles, tasks) {
            let stored = StoredTile(image.pyramid.rect(of: tile), ofLevel: size)
            #expect(try await task.value.bytes == source.jpegTile(stored))
        }
        await maker.queue.close()
        await #expect(throws: LoadError.cancelled) { try await image.encodedTile(tiles[0]) }
    }

    @Test(
        "repeats the last pixels of stored tiles at the edges of levels whose sides are rounded down",
        arguments: [(1, 0), (0, 1), (1, 1)])
    func roundedLevels(_ columns: Int, _ rows: Int) async throws {
        var maker = TileMaker(tileSide: 256)
        maker.configuration.opaqueFormat = "jpeg"
        var options = EncodeOptions()
        options.isPyramid = true
        options.quality = 95
        let size = PixelSize(width: 1201, height: 901)
        var file = try ImageDestination(format: "tiff", codecs: builtInCodecs, options: options)
            .encode(TestImage.photograph(size))
        // ImageWidth and ImageLength of the second level, which are rounded up: SHORT, 601 and 451.
        let width = file.firstRange(of: [0, 1, 3, 0, 1, 0, 0, 0, 0x59, 2, 0, 0])?.lowerBound
        let height = file.firstRange(of: [1, 1, 3, 0, 1, 0, 0, 0, 0xC3, 1, 0, 0])?.lowerBound
        file[try #require(width) + 8] -= UInt8(columns)
        file[try #require(height) + 8] -= UInt8(rows)
        let picture = try maker.image(EncodedBytes(file))
        let levels = try maker.levels(EncodedBytes(file), count: 2)
        for tile in picture.pyramid.tiles where tile.level == 1 {
            let encoded = try await picture.encodedTile(tile)
            let image = try ImageSource(EncodedBytes(encoded.bytes), codecs: builtInCodecs).image()
            let expected = levels[1].cut(picture.pyramid.rect(of: tile))
            #expect(image.size == expected.size)
            let comparison = PixelComparison(image, expected)
            #expect(comparison.meanDifference < 4, "\(tile): \(comparison)")
        }
        #expect((maker.store as? MemoryTileStore)?.byteCount == 0)
        await maker.queue.close()
    }

    @Test("reads its index from the store instead of making it again")
    func storedIndex() async throws {
        let folder = try TestFolder()
        let store = try folder.store()
        let file = try ImageDestination(format: "jpeg", codecs: builtInCodecs)
            .encode(TestImage.photograph(PixelSize(width: 701, height: 439)))
        let path = folder.url.appending(path: "picture.jpg")
        try Data(file).write(to: path)
        let place = StoredIndex(of: try FileIdentity(path: path.path), in: store)
        var maker = TileMaker()
        maker.configuration.usesIndex = true
        let tile = TileAddress(level: 0, x: 3, y: 2)
        let expected = try await maker.image(EncodedBytes(file)).tile(tile)
        for isStored in [false, true] {
            let image = try maker.image(EncodedBytes(file), storedIndex: place)
            #expect((place.read() != nil) == isStored)
            let hitCount = store.statistics.hitCount
            #expect(try await image.tile(tile).packedBytes == expected.packedBytes)
            #expect(store.statistics.hitCount == hitCount + (isStored ? 1 : 0))
        }
        let source = try ImageSource(EncodedBytes(file), codecs: builtInCodecs)
        #expect(try place.read() == source.makeIndex())
        #expect((maker.store as? MemoryTileStore)?.byteCount == 0)
        store.close()
        await maker.queue.close()
    }

    @Test(
        "is decoded in bands like in one piece", arguments: [("jpeg", 1), ("jpeg", 6), ("png", 1)])
    func bands(_ format: String, _ orientation: Int) async throws {
        var maker = TileMaker()
        maker.configuration.usesIndex = true
        var options = EncodeOptions()
        options.metadata.exif = EXIFBlock.photograph(isLittleEndian: true, orientation: orientation)
        let file = EncodedBytes(
            try ImageDestination(format: format, codecs: builtInCodecs, options: options)
                .encode(TestImage.photograph(PixelSize(width: 301, height: 439))))
        let image = try maker.image(file)
        let whole = try ImageSource(file, codecs: builtInCodecs).image()
        #expect(whole.size.width == (orientation == 6 ? 439 : 301))
        for count in [1, 2, 3, 500] {
            #expect(
                try await image.image(bandCount: count).packedBytes == whole.packedBytes)
        }
        let part = PixelRect(x: 37, y: 101, width: 90, height: 133)
        #expect(
            try await image.image(in: part, bandCount: 4).packedBytes
                == whole.cut(part).packedBytes)
        await maker.queue.close()
    }

    @Test("coalesces concurrent requests into one pass") func sharing() async throws {
        let maker = TileMaker(FormulaCodec(isGated: true))
        let image = try maker.image(FormulaCodec.file(PixelSize(width: 200, height: 200)))
        let tiles = image.pyramid.tiles
        let tasks = tiles.map { tile in Task { try await image.tile(tile) } }
        await eventually { image.waitingForPyramid == tiles.count }
        maker.codec.openGate()
        for (tile, task) in zip(tiles, tasks) {
            #expect(try await task.value.size == image.pyramid.rect(of: tile).size)
        }
        #expect(maker.codec.decodes.begun == 1)
        await maker.queue.close()
    }

    @Test("cancels its work with the last consumer") func cancellation() async throws {
        let maker = TileMaker(FormulaCodec(isGated: true))
        let image = try maker.image(FormulaCodec.file(PixelSize(width: 200, height: 200)))
        let holder = Task { try await image.makeTiles() }
        let tile = Task { try await image.tile(TileAddress(level: 0, x: 0, y: 0)) }
        await eventually { image.waitingForPyramid == 2 && maker.codec.decodes.begun == 1 }
        tile.cancel()
        await #expect(throws: LoadError.cancelled) { try await tile.value }
        #expect(image.waitingForPyramid == 1)
        holder.cancel()
        await #expect(throws: LoadError.cancelled) { try await holder.value }
        maker.codec.openGate()
        await eventually { maker.codec.decodes.ended == 1 }
        #expect((maker.store as? MemoryTileStore)?.byteCount == 0)
        // A new request starts again.
        maker.codec.openGate()
        try await image.makeTiles()
        #expect(maker.codec.decodes.begun == 2)
        await maker.queue.close()
    }

    @Test(
        "says what is wrong with a damaged file, and keeps nothing of it", arguments: [0, 1, 150])
    func damage(_ row: Int) async throws {
        let maker = TileMaker()
        let size = PixelSize(width: 100, height: 200)
        let image = try maker.image(FormulaCodec.file(size, damagedRow: row))
        for _ in 0..<2 {
            await #expect(
                throws: LoadError.decodingFailed(
                    path: "picture", .malformed(reason: "damage", offset: 7))
            ) { try await image.tile(TileAddress(level: 0, x: 0, y: 0)) }
        }
        #expect((maker.store as? MemoryTileStore)?.byteCount == 0)
        await maker.queue.close()
    }

    @Test(
        "makes tiles as far as a truncated file goes, if accepted", arguments: [false, true],
        [false, true])
    func truncated(_ isAccepted: Bool, _ isDirect: Bool) async throws {
        var maker = TileMaker(FormulaCodec(error: .truncated(byteCount: 18)))
        maker.configuration.acceptsTruncated = isAccepted
        if isDirect { maker.configuration.directPixelCount = 70 * 100 }
        let file = FormulaCodec.file(PixelSize(width: 70, height: 100), damagedRow: 80)
        let picture = try maker.image(file)
        let tile = TileAddress(level: 0, x: 0, y: 1)
        if isAccepted {
            let image = try await picture.tile(tile)
            #expect(image.row(15)[3] == FormulaCodec.sample(1, 79, 0))
            #expect(image.row(16)[3] == 0)
            // The second one is in the cache.
            for tile in [TileAddress(level: 0, x: 1, y: 0), tile] {
                let file = try await picture.encodedTile(tile)
                #expect(file.problem == "truncated after 18 bytes")
            }
        } else {
            await #expect(
                throws: LoadError.decodingFailed(path: "picture", .truncated(byteCount: 18))
            ) { try await picture.tile(tile) }
        }
        await maker.queue.close()
    }

    @Test("returns the finest cached coarser tile as a placeholder") func placeholder() async throws
    {
        let maker = TileMaker()
        let image = try maker.image(FormulaCodec.file(PixelSize(width: 500, height: 500)))
        let tile = TileAddress(level: 0, x: 5, y: 2)
        #expect(image.placeholder(for: tile) == nil)
        _ = try await image.tile(TileAddress(level: 3, x: 0, y: 0))
        #expect(image.placeholder(for: tile)?.tile.level == 3)
        #expect(
            image.placeholder(for: tile)?.region
                == SampleRegion(x: 40, y: 16, width: 8, height: 8))
        _ = try await image.tile(TileAddress(level: 1, x: 2, y: 1))
        let placeholder = try #require(image.placeholder(for: tile))
        #expect(placeholder.tile == TileAddress(level: 1, x: 2, y: 1))
        #expect(placeholder.region == SampleRegion(x: 32, y: 0, width: 32, height: 32))
        await maker.queue.close()
    }

    @Test("limits the size of its cache") func cache() async throws {
        let maker = TileMaker()
        let image = try maker.image(FormulaCodec.file(PixelSize(width: 640, height: 640)))
        let tileByteCount = 64 * 192
        image.cache.byteLimit = 20 * tileByteCount
        for tile in image.pyramid.tiles {
            _ = try await image.tile(tile)
            #expect(image.cache.byteCount <= image.cache.byteLimit)
            #expect(image.cachedTile(tile) != nil)
        }
        #expect(image.cache.byteCount > 15 * tileByteCount)
        image.cache.byteLimit = tileByteCount
        #expect(image.cache.byteCount <= tileByteCount)
        image.cache.removeAll()
        #expect(image.cache.byteCount == 0)
        await maker.queue.close()
    }

    @Test("that is too wide for the budget is rejected before memory is allocated") func limit()
        async throws
    {
        let maker = TileMaker()
        var limits = DecodeLimits()
        limits.maximumMemoryByteCount = 20_000
        let size = PixelSize(width: 1000, height: 1000)
        let image = try maker.image(FormulaCodec.file(size), limits: limits)
        do throws(LoadError) {
            try await image.makeTiles()
            Issue.record("it was not refused")
        } catch {
            guard case .decodingFailed(_, .limitExceeded(.memoryByteCount, _, 20_000)) = error
            else {
                Issue.record("\(error)")
                return
            }
        }
        await maker.queue.close()
    }
}

extension TiledImage {
    fileprivate var waitingForPyramid: Int { pyramids.consumerCount(key) }
}
