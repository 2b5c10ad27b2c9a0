// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// The named assets of a compiled file `Assets.assets`, which is mapped into memory.
///
/// The file is replaced as a whole when it is compiled again; open catalogs keep the previous one. If
/// another process writes to the mapped file nevertheless, results may contain wrong or missing pixels,
/// and ``checkUnchanged()`` throws.
///
/// Opening reads the header, and tables of up to 1 MiB ahead, so that the first lookup of each name takes no
/// longer than later ones. Each record is checked when it is used, so that every function throws for a
/// damaged file.
public struct CompiledCatalog: Sendable {
    /// The path of the file.
    public let path: String
    private let bytes: EncodedBytes
    private let limits: DecodeLimits
    private let reader: CompiledReader

    /// Maps a file.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - limits: the limits on the file's size, on images and on the memory of all descriptions.
    /// - Throws: ``AssetCatalogError``.
    public init(
        mapping path: String, limits: DecodeLimits = DecodeLimits()
    ) throws(AssetCatalogError) {
        do {
            try self.init(
                EncodedBytes(mapping: path, limits: limits), path: path, limits: limits)
        } catch let error as AssetCatalogError {
            throw error
        } catch {
            throw .unreadable(path: path, reason: "\(error)")
        }
    }

    /// Opens the bytes of a file.
    ///
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - path: the path for errors.
    ///   - limits: the limits on images and on the memory of all descriptions.
    /// - Throws: ``AssetCatalogError``.
    public init(
        _ bytes: EncodedBytes, path: String, limits: DecodeLimits = DecodeLimits()
    ) throws(AssetCatalogError) {
        self.path = path
        self.limits = limits
        self.bytes = bytes
        do throws(CompiledDamage) {
            reader = CompiledReader(
                layout: try bytes.withBytes { file throws(CompiledDamage) in
                    try CompiledLayout(file)
                })
        } catch {
            throw .malformed(path: path, reason: error.reason)
        }
        if reader.layout.blobStart <= Self.maximumReadAhead {
            bytes.readAhead(0..<reader.layout.blobStart)
        }
    }

    /// The size of the tables up to which they are read ahead: it takes 0.1 ms, and fits into a cache of the
    /// processor.
    private static let maximumReadAhead = 1 << 20

    /// Whether bytes begin like a compiled file.
    public static func isCompiled(_ bytes: EncodedBytes) -> Bool {
        bytes.withBytes { file in
            file.count >= CompiledLayout.magic.count
                && CompiledLayout.magic.indices.allSatisfy { file[$0] == CompiledLayout.magic[$0] }
        }
    }

    /// Checks that the file has not been changed or truncated since it was opened.
    ///
    /// - Throws: ``AssetCatalogError/unreadable(path:reason:)``.
    public func checkUnchanged() throws(AssetCatalogError) {
        do throws(CodecError) {
            try bytes.checkUnchanged()
        } catch {
            throw .unreadable(path: path, reason: "\(error)")
        }
    }

    /// The number of assets.
    public var count: Int { reader.layout.count(.assets) }

    /// Reads all assets, sorted by kind and name.
    ///
    /// They equal those of the folder, without slots that are empty or were removed by thinning. The
    /// path of an asset is its name.
    ///
    /// - Throws: ``AssetCatalogError``, ``AssetCatalogError/limitExceeded(path:reason:)`` before memory is
    ///   allocated.
    public func assets() throws(AssetCatalogError) -> [Asset] {
        do throws(CodecError) {
            try limits.check(.memoryByteCount, reader.layout.describedByteCount)
        } catch {
            throw .limitExceeded(path: path, reason: "\(error)")
        }
        return try read { file throws(CompiledDamage) in
            var descriptions = CompiledDescriptions(reader)
            // Records of two assets may not share slots: a hostile file could repeat them all.
            var slotCount = 0
            var assets: [Asset] = []
            for index in 0..<count {
                slotCount += try reader.slots(file, of: index).count
                guard slotCount <= reader.layout.count(.slots) else {
                    throw CompiledDamage(reason: "assets share slots")
                }
                assets.append(try descriptions.readAsset(file, index))
            }
            return assets
        }
    }

    /// Prepares lookups for a device.
    ///
    /// - Parameter traits: the traits of the device.
    /// - Returns: the distance of each combination of traits in the file.
    /// - Throws: ``AssetCatalogError/malformed(path:reason:)``.
    public func query(_ traits: AssetTraits) throws(AssetCatalogError) -> CompiledQuery {
        try read { file throws(CompiledDamage) in
            var descriptions = CompiledDescriptions(reader)
            var distances: [UInt64] = []
            for index in 0..<reader.layout.count(.traits) {
                let distance = try descriptions.readTraits(file, index).distance(from: traits)
                distances.append(distance ?? .max)
            }
            return CompiledQuery(distances: distances, scale: traits.scale ?? 1)
        }
    }

    /// Returns the variant that suits a device best; allocates no memory.
    ///
    /// - Parameters:
    ///   - kind: the kind of the asset.
    ///   - name: the name of the asset.
    ///   - query: the device, prepared by this catalog.
    /// - Returns: the slot; `nil` if there is no such asset, or no slot suits the device.
    /// - Throws: ``AssetCatalogError/malformed(path:reason:)``.
    public func slot(
        _ kind: Asset.Kind, _ name: String, for query: CompiledQuery
    ) throws(AssetCatalogError) -> CompiledSlot? {
        try read { file throws(CompiledDamage) in
            guard let asset = try reader.asset(file, kind, name) else { return nil }
            var best: (distance: UInt64, slot: Int)?
            for slot in try reader.slots(file, of: asset) {
                let traits = file.field(try reader.layout.offset(.slots, slot), 0)
                guard traits < query.distances.count else {
                    throw CompiledDamage(reason: "no record \(traits) of the table traits")
                }
                let distance = query.distances[traits]
                if distance < (best?.distance ?? .max) { best = (distance, slot) }
            }
            return best.map { CompiledSlot(index: $0.slot, scale: query.scale) }
        }
    }

    /// Reads the description of a slot, equal to that of the folder.
    ///
    /// - Throws: ``AssetCatalogError/malformed(path:reason:)``.
    public func details(of slot: CompiledSlot) throws(AssetCatalogError) -> AssetSlot {
        try read { file throws(CompiledDamage) in
            var descriptions = CompiledDescriptions(reader)
            return try descriptions.readSlot(file, slot.index)
        }
    }

    /// Returns the image of a slot.
    ///
    /// Raw pixels are not copied: the result refers to the mapping. Vectors are represented by the raster
    /// for the scale of the query; without one, their natural size is drawn by the codec.
    ///
    /// - Parameters:
    ///   - slot: a slot of this catalog.
    ///   - codecs: the codecs for images that are stored as files.
    /// - Returns: the pixels.
    /// - Throws: ``AssetCatalogError``.
    public func image(
        of slot: CompiledSlot, codecs: CodecSet
    ) throws(AssetCatalogError) -> PixelBuffer {
        let blob = try blob(of: slot, prefersRaster: true)
        switch blob.kind {
        case .pixels:
            guard
                let image = bytes.pixels(
                    at: blob.range.lowerBound, size: blob.size, format: blob.format)
            else { throw .malformed(path: path, reason: "pixels outside the file") }
            return image
        case .mask, .palette:
            return try read { file throws(CompiledDamage) in try blob.expanded(file) }
        case .image, .file:
            let file = EncodedBytes(try copy(of: blob))
            do throws(CodecError) {
                return try ImageSource(file, codecs: codecs, limits: limits).image()
            } catch {
                throw .image(path: path, reason: error)
            }
        }
    }

    /// Returns the file of a slot: data, vectors, or the file of an image if it is stored as one.
    ///
    /// - Returns: `nil` if the slot has no file, or if only its pixels are stored.
    /// - Throws: ``AssetCatalogError/malformed(path:reason:)``.
    public func data(of slot: CompiledSlot) throws(AssetCatalogError) -> [UInt8]? {
        let index = try read { file throws(CompiledDamage) in
            try reader.blobs(file, of: slot.index, scale: slot.scale).file
        }
        guard let index else { return nil }
        let blob = try read { file throws(CompiledDamage) in try reader.readBlob(file, index) }
        guard blob.kind == .file || blob.kind == .image else { return nil }
        return try copy(of: blob)
    }

    /// Returns how the image or file of a slot is stored; `nil` for colours.
    ///
    /// - Throws: ``AssetCatalogError/malformed(path:reason:)``.
    public func storage(of slot: CompiledSlot) throws(AssetCatalogError) -> CompiledStorage? {
        let found = try read { file throws(CompiledDamage) in
            try reader.blobs(file, of: slot.index, scale: slot.scale)
        }
        guard found.raster ?? found.file != nil else { return nil }
        let blob = try blob(of: slot, prefersRaster: found.file == nil)
        return CompiledStorage(
            compression: "\(blob.kind)", pixelSize: blob.size.isEmpty ? nil : blob.size,
            byteCount: blob.range.count)
    }

    /// Whether the pixels of a slot are displayed from the mapping of the file.
    package func isMapped(_ slot: CompiledSlot) throws(AssetCatalogError) -> Bool {
        let isPixels = try blob(of: slot, prefersRaster: true).kind == .pixels
        return isPixels && bytes.descriptor != nil
    }

    /// Returns the scales for which vectors of a slot were drawn.
    ///
    /// - Throws: ``AssetCatalogError/malformed(path:reason:)``.
    public func rasterScales(of slot: CompiledSlot) throws(AssetCatalogError) -> [Int] {
        try read { file throws(CompiledDamage) in
            try reader.rasterScales(file, of: slot.index)
        }
    }

    /// Returns the slots of an asset, in their order.
    ///
    /// - Throws: ``AssetCatalogError/malformed(path:reason:)``.
    public func slots(of key: Asset.Key) throws(AssetCatalogError) -> [CompiledSlot] {
        try read { file throws(CompiledDamage) in
            guard let asset = try reader.asset(file, key.kind, key.name) else { return [] }
            return try reader.slots(file, of: asset).map { CompiledSlot(index: $0, scale: 1) }
        }
    }

    /// Returns the slot at an index of an asset of ``assets()``.
    ///
    /// - Parameters:
    ///   - index: an index of the slots of the asset.
    ///   - asset: an index of ``assets()``.
    /// - Returns: the slot.
    /// - Throws: ``AssetCatalogError/malformed(path:reason:)``.
    public func slot(
        _ index: Int, ofAsset asset: Int
    ) throws(AssetCatalogError) -> CompiledSlot {
        try read { file throws(CompiledDamage) in
            CompiledSlot(index: try reader.slots(file, of: asset).lowerBound + index, scale: 1)
        }
    }

    private func blob(
        of slot: CompiledSlot, prefersRaster: Bool
    ) throws(AssetCatalogError) -> CompiledBlob {
        try read { file throws(CompiledDamage) in
            let found = try reader.blobs(file, of: slot.index, scale: slot.scale)
            let index = prefersRaster ? found.raster ?? found.file : found.file
            guard let index else { throw CompiledDamage(reason: "the slot has no image") }
            return try reader.readBlob(file, index)
        }
    }

    private func copy(of blob: CompiledBlob) throws(AssetCatalogError) -> [UInt8] {
        let copy = bytes.copy(of: blob.range)
        try checkWhole()
        return copy
    }

    /// Calls `body` with the file; results and errors of missing bytes are replaced by an error.
    private func read<Result>(
        _ body: (Span<UInt8>) throws(CompiledDamage) -> Result
    ) throws(AssetCatalogError) -> Result {
        let result: Result
        do throws(CompiledDamage) {
            result = try bytes.withBytes(body)
        } catch {
            try checkWhole()
            throw .malformed(path: path, reason: error.reason)
        }
        try checkWhole()
        return result
    }

    private func checkWhole() throws(AssetCatalogError) {
        guard !bytes.wasTruncated else {
            throw .unreadable(path: path, reason: "\(CodecError.fileChanged)")
        }
    }
}

/// The traits of a device, prepared for lookups in one ``CompiledCatalog``.
public struct CompiledQuery: Sendable {
    /// The distance of each combination of traits; the maximum if it does not suit the device.
    let distances: [UInt64]
    /// The scale of the device.
    let scale: Int
}

/// A slot in a ``CompiledCatalog``.
public struct CompiledSlot: Hashable, Sendable {
    let index: Int
    /// The scale for which vectors are drawn.
    let scale: Int

    /// A text that no other slot of the catalog has.
    package var identity: String { "\(index)@\(scale)" }

    /// Returns the same slot, with vectors drawn for another scale.
    public func scaled(to scale: Int) -> CompiledSlot {
        CompiledSlot(index: index, scale: scale)
    }
}

/// How a compiled file stores the content of a slot.
public struct CompiledStorage: Hashable, Sendable {
    /// `pixels`, `mask`, `palette`, `image` (a file that a codec decodes) or `file`.
    public let compression: String
    /// The size of the image in pixels; `nil` for data and vectors.
    public let pixelSize: PixelSize?
    /// The number of stored bytes.
    public let byteCount: Int

    /// Whether it is an image that needs no codec.
    package var isWithoutCodec: Bool { ["pixels", "mask", "palette"].contains(compression) }
}
