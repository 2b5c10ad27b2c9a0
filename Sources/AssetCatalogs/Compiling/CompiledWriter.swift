// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Bytes that a compiled file stores once, with what is needed to make pixels of them.
struct StoredBlob: Hashable, Sendable {
    var kind: CompiledBlob.Kind
    var size = PixelSize(width: 0, height: 0)
    var format = PixelFormat.rgba8
    var detail = 0
    var bytes: [UInt8]

    /// The records of a blob at an offset.
    fileprivate func record(at offset: Int) -> [UInt8] {
        let format =
            kind == .file || kind == .image ? nil : CompiledBlob.formats.firstIndex(of: format)
        var record: [UInt8] = []
        record.appendLittleEndian32(
            kind.rawValue | (format.map { $0 + 1 } ?? 0) << 8, size.width, size.height, detail)
        record.append(offset, byteCount: 8, .littleEndian)
        record.append(bytes.count, byteCount: 8, .littleEndian)
        return record
    }
}

/// The blobs of a slot.
struct StoredSlot: Codable, Sendable {
    /// The file of the slot; `nil` if only rasters of it are stored, or for a colour.
    var file: StoredBlob?
    /// The rasters of vectors, by their scale.
    var rasters: [StoredRaster] = []
}

/// Vectors that were drawn for a scale.
struct StoredRaster: Codable, Hashable, Sendable {
    var scale: Int
    var blob: StoredBlob
}

/// Writes the tables and blobs of a compiled file.
///
/// Strings, traits and blobs are numbered in the order of their first use, so that the same assets give
/// the same bytes.
struct CompiledWriter {
    private var strings: [ComparedByBytes: Int] = [:]
    private var traits: [AssetTraits: Int] = [:]
    private var extras: [[UInt8]: Int] = [:]
    private var details: [[UInt8]: Int] = [:]
    private var colors: [[UInt8]: Int] = [:]
    private var blobs: [StoredBlob: Int] = [:]
    private var blobOrder: [StoredBlob] = []
    private var tables = [[UInt8]](repeating: [], count: CompiledLayout.Table.allCases.count)

    /// Adds an asset; assets are added in the order of ``Asset/Key/precedes(_:)``.
    ///
    /// - Parameters:
    ///   - asset: the asset.
    ///   - slots: the slots to store, in their order.
    /// - Returns: for each slot, the number of bytes of blobs that were not stored before.
    /// - Throws: ``AssetCatalogError/limitExceeded(path:reason:)``.
    mutating func add(
        _ asset: Asset, _ slots: [(slot: AssetSlot, stored: StoredSlot)]
    ) throws(AssetCatalogError) -> [Int] {
        var extensionName: String?
        if case .other(let name) = asset.key.kind { extensionName = name }
        let flags = asset.key.kind.code | (asset.preservesVectors ? 1 << 8 : 0)
        append(
            .assets,
            try string(asset.key.name, asset), flags, try string(extensionName, asset),
            try string(asset.renderingMode?.rawValue, asset),
            try string(asset.compressionType, asset), count(.slots), slots.count, 0)
        var byteCounts: [Int] = []
        for (slot, stored) in slots {
            let first = blobOrder.count
            try add(slot, stored, asset)
            byteCounts.append(blobOrder[first...].reduce(0) { $0 + $1.bytes.count })
        }
        return byteCounts
    }

    /// The bytes of the file.
    func file(_ keys: [Asset.Key]) -> [UInt8] {
        let hash = NameHash(keys)
        var tables = tables
        for bucket in hash.buckets { tables[.buckets].appendLittleEndian32(bucket) }
        for place in hash.places { tables[.places].appendLittleEndian32(place) }
        tables[.blobs] = [UInt8](
            repeating: 0, count: blobOrder.count * CompiledLayout.Table.blobs.stride)
        let layout = CompiledLayout(
            counts: CompiledLayout.Table.allCases.map { tables[$0].count / $0.stride },
            seed: hash.seed)
        tables[.blobs] = []
        // Pixels first: the others need no alignment.
        let pixels = blobOrder.indices.filter { blobOrder[$0].kind == .pixels }
        let others = blobOrder.indices.filter { blobOrder[$0].kind != .pixels }
        var offsets = [Int](repeating: 0, count: blobOrder.count)
        var offset = layout.blobStart
        for index in pixels + others {
            offsets[index] = offset
            // Rows are padded, so that pixels end aligned.
            offset += blobOrder[index].bytes.count
        }
        for (blob, offset) in zip(blobOrder, offsets) { tables[.blobs] += blob.record(at: offset) }
        var file = layout.header(byteCount: offset)
        file.reserveCapacity(offset)
        for table in tables { Self.append(table, to: &file) }
        for index in pixels + others { file += blobOrder[index].bytes }
        return file
    }

    private static func append(_ bytes: [UInt8], to file: inout [UInt8]) {
        file += bytes
        let padding = CompiledLayout.aligned(bytes.count) - bytes.count
        file += [UInt8](repeating: 0, count: padding)
    }

    private mutating func add(
        _ slot: AssetSlot, _ stored: StoredSlot, _ asset: Asset
    ) throws(AssetCatalogError) {
        let none = CompiledLayout.none
        var content = (code: 1, name: none, value: none)
        switch slot.content {
        case .empty: return
        case .file(let name):
            content = (1, try string(name, asset), stored.file.map { add($0) } ?? none)
        case .color(let color): content = (2, none, try add(color, asset))
        case .systemColor(let name): content = (3, try string(name, asset), none)
        }
        append(
            .slots, try add(slot.traits, asset), content.code, content.name, content.value,
            try addExtra(slot, stored, asset))
    }

    /// Adds what few slots have.
    private mutating func addExtra(
        _ slot: AssetSlot, _ stored: StoredSlot, _ asset: Asset
    ) throws(AssetCatalogError) -> Int {
        let firstRaster = stored.rasters.isEmpty ? 0 : count(.rasters)
        for raster in stored.rasters {
            let blob = add(raster.blob)
            append(.rasters, raster.scale, blob)
        }
        let details = try addDetails(slot, asset)
        let none = CompiledLayout.none
        guard slot.size != nil || details != none || !stored.rasters.isEmpty else { return none }
        var record: [UInt8] = []
        record.appendLittleEndian32(
            try string(slot.size, asset), details, firstRaster, stored.rasters.count)
        return addRecord(record, to: .extras, \.extras)
    }

    private func count(_ table: CompiledLayout.Table) -> Int { tables[table].count / table.stride }

    private mutating func append(_ table: CompiledLayout.Table, _ fields: Int...) {
        for field in fields { tables[table].appendLittleEndian32(field) }
    }

    private mutating func string(_ text: String?, _ asset: Asset) throws(AssetCatalogError) -> Int {
        guard let text else { return CompiledLayout.none }
        let key = ComparedByBytes(text)
        if let index = strings[key] { return index }
        guard text.utf8.count <= CompiledLayout.maximumStringByteCount else {
            throw .limitExceeded(
                path: asset.path,
                reason: "a text of \(CompiledLayout.maximumStringByteCount) bytes")
        }
        tables[.strings] += Array(text.utf8)
        append(.stringEnds, tables[.strings].count)
        strings[key] = strings.count
        return strings.count - 1
    }

    private mutating func add(_ blob: StoredBlob) -> Int {
        if let index = blobs[blob] { return index }
        blobOrder.append(blob)
        blobs[blob] = blobs.count
        return blobs.count - 1
    }

    private mutating func add(
        _ traits: AssetTraits, _ asset: Asset
    ) throws(AssetCatalogError) -> Int {
        if let index = self.traits[traits] { return index }
        for path in AssetTraits.texts {
            append(.traits, try string(traits[keyPath: path], asset))
        }
        append(.traits, traits.memory ?? CompiledLayout.none, traits.scale ?? CompiledLayout.none)
        self.traits[traits] = self.traits.count
        return self.traits.count - 1
    }

    private mutating func addDetails(
        _ slot: AssetSlot, _ asset: Asset
    ) throws(AssetCatalogError) -> Int {
        guard slot.alignmentInsets != nil || slot.slicing != nil else { return CompiledLayout.none }
        let slicing = slot.slicing
        let flags =
            (slot.alignmentInsets == nil ? 0 : 1) | (slicing?.centerWidth == nil ? 0 : 2)
            | (slicing?.centerHeight == nil ? 0 : 4)
        var record: [UInt8] = []
        record.appendLittleEndian32(
            flags, try string(slicing?.mode, asset), try string(slicing?.centerMode, asset), 0)
        for insets in [slot.alignmentInsets, slicing?.capInsets] {
            for value in [insets?.top, insets?.left, insets?.bottom, insets?.right] {
                record.append(value ?? 0)
            }
        }
        record.append(slicing?.centerWidth ?? 0)
        record.append(slicing?.centerHeight ?? 0)
        return addRecord(record, to: .details, \.details)
    }

    private mutating func add(
        _ color: AssetColor, _ asset: Asset
    ) throws(AssetCatalogError) -> Int {
        var record: [UInt8] = []
        record.appendLittleEndian32(try string(color.space, asset), color.components.count)
        for place in 0..<3 {
            record.append(place < color.components.count ? color.components[place] : 0)
        }
        record.append(color.alpha)
        return addRecord(record, to: .colors, \.colors)
    }

    private mutating func addRecord(
        _ record: [UInt8], to table: CompiledLayout.Table,
        _ known: WritableKeyPath<CompiledWriter, [[UInt8]: Int]>
    ) -> Int {
        let count = self[keyPath: known].count
        if let index = self[keyPath: known][record] { return index }
        tables[table] += record
        self[keyPath: known][record] = count
        return count
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ value: Double) {
        append(Int(Int64(bitPattern: value.bitPattern)), byteCount: 8, .littleEndian)
    }
}

extension [[UInt8]] {
    fileprivate subscript(table: CompiledLayout.Table) -> [UInt8] {
        get { self[table.rawValue] }
        set { self[table.rawValue] = newValue }
        _modify { yield &self[table.rawValue] }
    }
}

extension Asset.Key {
    /// The order of assets in a compiled file: by kind, then by the bytes of the name.
    func precedes(_ other: Asset.Key) -> Bool {
        if kind.code != other.kind.code { return kind.code < other.kind.code }
        if case .other(let name) = kind, case .other(let otherName) = other.kind, name != otherName
        {
            return name.utf8.lexicographicallyPrecedes(otherName.utf8)
        }
        return name.utf8.lexicographicallyPrecedes(other.name.utf8)
    }
}
