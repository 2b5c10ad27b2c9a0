// SPDX-License-Identifier: Apache-2.0

#if AVIF || HEIF
internal import EncodedImages

/// The gain map of an AVIF or HEIF file: the second input of an item of the coding `tmap`, whose data is
/// the metadata and whose first input is the primary item.
///
/// - SeeAlso: ISO/IEC 23008-12:2022/Amd 1, 6.6.2.4 (`tmap`).
enum ItemGainMap {
    /// Returns whether an item of a file that ``ItemGraph`` has checked joins the primary item and a map.
    static func isPresent(in file: Span<UInt8>) -> Bool {
        let list = ItemList(file)
        return derivedItem(list, file) != nil
    }

    /// Returns the gain map of a file; the map is a file of the same format.
    ///
    /// - Parameters:
    ///   - file: a file that ``ItemGraph`` has checked.
    ///   - limits: a map with more bytes than metadata may have counts as absent.
    /// - Returns: `nil` if the file has none, or if its metadata is of another version or damaged.
    static func read(_ file: Span<UInt8>, _ limits: DecodeLimits) -> GainMap? {
        let list = ItemList(file)
        guard let item = derivedItem(list, file), let map = list.inputs[item]?.last,
            let data = ItemPlaces(file).data(ofItem: item, file, maximumByteCount: 1024),
            // The version of the item, before that of the metadata.
            data.first == 0, let metadata = GainMapMetadata(iso: Array(data.dropFirst())),
            let mapFile = ItemFile(
                item: map, of: file, list, maximumByteCount: limits.maximumMetadataByteCount)
        else { return nil }
        return GainMap(metadata, file: mapFile.bytes)
    }

    /// Returns the item that is derived from the primary item and a map.
    private static func derivedItem(_ list: ItemList, _ file: Span<UInt8>) -> Int? {
        let found = list.items.filter { $0.value.coding == "tmap" }.keys.filter { item in
            guard let inputs = list.inputs[item], inputs.count == 2 else { return false }
            return inputs[0] == list.primary && inputs[1] != item
        }
        return found.sorted().first { isPreferred($0, to: list.primary, file) }
    }

    /// Returns whether a group of alternatives lists an item before the primary item, as is required.
    private static func isPreferred(_ item: Int, to primary: Int, _ file: Span<UInt8>) -> Bool {
        guard let meta = BoxReader.first("meta", in: 0..<file.count, file),
            meta.start + 4 <= meta.range.upperBound,
            let groups = BoxReader.first(
                "grpl", in: meta.start + 4..<meta.range.upperBound, file)
        else { return false }
        var reader = BoxReader(groups.body)
        while let group = reader.next(file) {
            guard group.type == "altr",
                let count = file.integer(at: group.start + 8, byteCount: 4)
            else { continue }
            let places = stride(from: group.start + 12, to: group.range.upperBound - 3, by: 4)
            for place in places.prefix(count) {
                let member = file.integer(at: place, byteCount: 4)
                if member == item { return true }
                if member == primary { break }
            }
        }
        return false
    }
}
#endif
