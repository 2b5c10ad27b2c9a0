// SPDX-License-Identifier: Apache-2.0

import AssetCatalogs
import AssetLoading
import EncodedImages
import Foundation
import ImageCodecs
import ImageLoading
import ImageTesting
import Pixels
import Testing

@Suite("Assets in a memory cache")
struct AssetCacheTests {
    /// A catalog with an image that is stored as a file, and one that is stored as pixels.
    private func catalog(in folder: URL) throws -> CompiledCatalog {
        let png = try ImageDestination(format: "png", codecs: builtInCodecs)
        for (name, side) in [("Large", 100), ("Small", 16)] {
            let set = folder.appending(path: "A.xcassets/\(name).imageset")
            try FileManager.default.createDirectory(at: set, withIntermediateDirectories: true)
            let image = TestImage.noise(PixelSize(width: side, height: side), .rgba8)
            try png.write(image, to: set.appending(path: "a.png").path)
            try Data(#"{"images": [{"filename": "a.png"}]}"#.utf8)
                .write(to: set.appending(path: "Contents.json"))
        }
        let compiler = CatalogCompiler(
            try AssetCatalog(folder: folder.appending(path: "A.xcassets").path),
            codecs: builtInCodecs)
        let path = folder.appending(path: "A.assets").path
        let file = try compiler.file(compiler.sources.map { try compiler.encode($0) })
        try ImageDestination.write(file.bytes, to: path)
        return try CompiledCatalog(mapping: path)
    }

    @Test("a decoded image is found again, counts in the budget, and can be evicted")
    func decoded() throws {
        try withTemporaryFolder { folder in
            let catalog = try catalog(in: folder)
            let budget = MemoryBudget(byteLimit: 1 << 20)
            let cache = MemoryCache(byteLimit: 1 << 20, budget: budget)
            let assets = AssetCache(catalog, name: "A", cache: cache, codecs: builtInCodecs)
            let query = try catalog.query(AssetTraits())
            let image = try #require(try assets.image("Large", for: query))
            #expect(cache.statistics.imageCount == 1)
            #expect(budget.byteCount == image.byteCount)
            let again = try #require(try assets.image("Large", for: query))
            #expect(cache.statistics.hitCount == 1)
            #expect(PixelComparison(image, again).maximumDifference == 0)
            cache.removeAll()
            #expect(budget.byteCount == 0)
            #expect(try assets.image("Large", for: query)?.size == image.size)
            #expect(try assets.image("Missing", for: query) == nil)
        }
    }

    @Test("pixels of the mapping take no memory of the cache")
    func mapped() throws {
        try withTemporaryFolder { folder in
            let catalog = try catalog(in: folder)
            let cache = MemoryCache(byteLimit: 1 << 20)
            let assets = AssetCache(catalog, name: "A", cache: cache, codecs: builtInCodecs)
            let image = try assets.image("Small", for: catalog.query(AssetTraits()))
            #expect(image?.size == PixelSize(width: 16, height: 16))
            #expect(cache.statistics.imageCount == 0)
            #expect(cache.statistics.missCount == 0)
        }
    }
}
