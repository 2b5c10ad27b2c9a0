// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import ImageTesting
import Pixels
import Testing

@testable import ImageLoading

@Suite("The memory cache") struct MemoryCacheTests {
    /// One row of grey takes 64 bytes.
    private let picture = TestPicture.noise(PixelSize(width: 64, height: 1), .gray8)

    private func keys(_ count: Int) throws -> [ImageKey] {
        let folder = try TestFolder()
        let original = try FileIdentity(path: try folder.write("a.fake"))
        return (1...count).map {
            ImageKey(original: .file(original), options: DecodeOptions(maximumSide: $0))
        }
    }

    @Test("drops what was not used for longest when it is full")
    func leastRecentlyUsed() throws {
        let keys = try keys(6)
        let cache = MemoryCache(byteLimit: 5 * 64)
        for key in keys.prefix(5) {
            cache.insert(LoadedImage(picture, key: key, originalSize: picture.size))
        }
        #expect(cache.byteCount == 5 * 64)
        #expect(cache.image(for: keys[0]) != nil)
        cache.insert(LoadedImage(picture, key: keys[5], originalSize: picture.size))
        #expect(cache.byteCount == 5 * 64)
        #expect(keys.indices.filter { cache.image(for: keys[$0]) != nil } == [0, 2, 3, 4, 5])
    }

    @Test("counts a picture once, however often it is put in")
    func replacing() throws {
        let keys = try keys(1)
        let cache = MemoryCache(byteLimit: 1_000)
        for _ in 0..<3 {
            cache.insert(LoadedImage(picture, key: keys[0], originalSize: picture.size))
        }
        #expect(cache.byteCount == 64)
    }

    @Test("does not give up all small pictures for a large one")
    func largest() throws {
        let keys = try keys(2)
        let cache = MemoryCache(byteLimit: 4 * 64)
        cache.insert(LoadedImage(picture, key: keys[0], originalSize: picture.size))
        let large = TestPicture.noise(PixelSize(width: 64, height: 2), .gray8)
        cache.insert(LoadedImage(large, key: keys[1], originalSize: large.size))
        #expect(cache.image(for: keys[0]) != nil)
        #expect(cache.image(for: keys[1]) == nil)
    }
}
