// SPDX-License-Identifier: Apache-2.0

public import AssetCatalogs
public import EncodedImages
public import ImageLoading
public import Pixels

/// The images of a compiled catalog, whose decoded pixels are in the memory cache of a pipeline.
///
/// The budget of that cache counts them, and it evicts them like other images. Pixels that are displayed
/// from the mapping of the file take no memory of the process and are not in the cache.
public struct AssetCache: Sendable {
    /// The catalog.
    public let catalog: CompiledCatalog
    private let cache: MemoryCache
    private let codecs: CodecSet
    private let original: String

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - catalog: the catalog.
    ///   - name: a name for the catalog, distinct from those of other catalogs in the same cache.
    ///   - cache: the memory cache, such as that of a pipeline.
    ///   - codecs: the codecs for images that are stored as files.
    public init(
        _ catalog: CompiledCatalog, name: String, cache: MemoryCache, codecs: CodecSet
    ) {
        self.catalog = catalog
        self.cache = cache
        self.codecs = codecs
        original = name
    }

    /// Returns the image that suits a device best, from memory if it was decoded before.
    ///
    /// - Parameters:
    ///   - name: the name of an image set.
    ///   - query: the device, prepared by the catalog.
    /// - Returns: `nil` if there is no such set, or no slot suits the device.
    /// - Throws: `AssetCatalogError`.
    public func image(
        _ name: String, for query: CompiledQuery
    ) throws(AssetCatalogError) -> PixelBuffer? {
        guard let slot = try catalog.slot(.image, name, for: query) else { return nil }
        if try catalog.isMapped(slot) { return try catalog.image(of: slot, codecs: codecs) }
        let key = ImageKey(original: .named("assets:\(original)#\(slot.identity)"))
        if let found = cache.image(for: key) { return found.image }
        let start = ContinuousClock.now
        let image = try catalog.image(of: slot, codecs: codecs)
        cache.insert(
            LoadedImage(
                image, key: key, originalSize: image.size, cost: ContinuousClock.now - start))
        return image
    }
}
