// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Finds the records of a compiled file, and checks every index and offset where it is used.
///
/// A class, because lookups would copy the layout.
final class CompiledReader: Sendable {
    let layout: CompiledLayout

    init(layout: CompiledLayout) { self.layout = layout }

    /// Returns the index of an asset in O(1); `nil` if there is none of that name.
    func asset(
        _ file: Span<UInt8>, _ kind: Asset.Kind, _ name: String
    ) throws(CompiledDamage) -> Int? {
        let hash = NameHash.hash(kind, name, layout.seed)
        let bucket = NameHash.bucket(hash, layout.count(.buckets))
        let displacement = file.field(try layout.offset(.buckets, bucket), 0)
        let place = NameHash.place(hash, displacement, layout.count(.places))
        guard let index = file.optionalField(try layout.offset(.places, place), 0) else {
            return nil
        }
        let record = try layout.offset(.assets, index)
        guard file.field(record, 1) & 0xFF == kind.code,
            try equals(file, file.field(record, 0), name)
        else { return nil }
        if case .other(let name) = kind, try !equals(file, file.field(record, 2), name) {
            return nil
        }
        return index
    }

    /// The slots of an asset.
    func slots(_ file: Span<UInt8>, of asset: Int) throws(CompiledDamage) -> Range<Int> {
        let record = try layout.offset(.assets, asset)
        return try layout.range(
            .slots, first: file.field(record, 5), count: file.field(record, 6))
    }

    /// The bytes of a string.
    func range(
        _ file: Span<UInt8>, ofString index: Int
    ) throws(CompiledDamage) -> Range<Int> {
        let record = try layout.offset(.stringEnds, index)
        let end = file.field(record, 0)
        let start = index == 0 ? 0 : file.field(try layout.offset(.stringEnds, index - 1), 0)
        guard start <= end, end <= layout.count(.strings),
            end - start <= CompiledLayout.maximumStringByteCount
        else { throw CompiledDamage(reason: "the string \(index) lies outside the strings") }
        let offset = layout.offsets[CompiledLayout.Table.strings.rawValue]
        return offset + start..<offset + end
    }

    /// Whether a string has the bytes of another one; allocates nothing.
    private func equals(
        _ file: Span<UInt8>, _ index: Int, _ text: String
    ) throws(CompiledDamage) -> Bool {
        let range = try range(file, ofString: index)
        let (stored, bytes) = (file.extracting(range), text.utf8.span)
        guard stored.count == bytes.count else { return false }
        for index in bytes.indices where stored[index] != bytes[index] { return false }
        return true
    }

    /// Reads the record of a blob, and checks that the file contains its bytes.
    func readBlob(_ file: Span<UInt8>, _ index: Int) throws(CompiledDamage) -> CompiledBlob {
        let record = try layout.offset(.blobs, index)
        let offset = file.littleEndian(at: record + 16, byteCount: 8)
        let count = file.littleEndian(at: record + 24, byteCount: 8)
        guard offset >= layout.blobStart, count >= 0, count <= file.count,
            offset <= file.count - count
        else { throw CompiledDamage(reason: "the blob \(index) lies outside the file") }
        let code = file.field(record, 0)
        guard let kind = CompiledBlob.Kind(rawValue: code & 0xFF) else {
            throw CompiledDamage(reason: "unknown kind of blob: \(code & 0xFF)")
        }
        return try CompiledBlob(
            kind: kind, width: file.field(record, 1), height: file.field(record, 2),
            formatCode: code >> 8, detail: file.field(record, 3),
            range: offset..<offset + count)
    }

    private func rasters(_ file: Span<UInt8>, of slot: Int) throws(CompiledDamage) -> Range<Int> {
        let record = try layout.offset(.slots, slot)
        guard let index = file.optionalField(record, 4) else { return 0..<0 }
        let extra = try layout.offset(.extras, index)
        return try layout.range(
            .rasters, first: file.field(extra, 2), count: file.field(extra, 3))
    }

    /// The scales of the rasters of a slot.
    func rasterScales(_ file: Span<UInt8>, of slot: Int) throws(CompiledDamage) -> [Int] {
        var scales: [Int] = []
        for raster in try rasters(file, of: slot) {
            scales.append(file.field(try layout.offset(.rasters, raster), 0))
        }
        return scales
    }

    /// The blobs of a slot: the file, unless only rasters of it are stored, and the raster for a scale,
    /// the nearest above, else the nearest below.
    func blobs(
        _ file: Span<UInt8>, of slot: Int, scale: Int
    ) throws(CompiledDamage) -> (file: Int?, raster: Int?) {
        let record = try layout.offset(.slots, slot)
        let rasters = try rasters(file, of: slot)
        var best: (distance: UInt64, blob: Int)?
        for raster in rasters {
            let entry = try layout.offset(.rasters, raster)
            var traits = AssetTraits()
            traits.scale = file.field(entry, 0)
            var query = AssetTraits()
            query.scale = scale
            guard let distance = traits.distance(.scale, from: query) else { continue }
            if best.map({ distance < $0.distance }) ?? true {
                best = (distance, file.field(entry, 1))
            }
        }
        // The same field contains the colour of a slot with one.
        return (file.field(record, 1) == 1 ? file.optionalField(record, 3) : nil, best?.blob)
    }
}
