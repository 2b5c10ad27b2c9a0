// SPDX-License-Identifier: Apache-2.0

#if AVIF || HEIF
internal import EncodedImages

/// The gain map of an AVIF or HEIF file: the second input of an item of the coding `tmap`, whose data is
/// the metadata and whose first input is the primary item; or an auxiliary image of Apple's cameras.
///
/// - SeeAlso: ISO/IEC 23008-12:2022/Amd 1, 6.6.2.4 (`tmap`); Apple, *Applying Apple HDR effect to your
///   photos*.
enum ItemGainMap {
    private static let appleTypes: Set<String> = ["urn:com:apple:photo:2020:aux:hdrgainmap"]

    /// Returns whether a file that ``ItemGraph`` has checked seems to contain a map.
    static func isPresent(in file: Span<UInt8>) -> Bool {
        let list = ItemList(file)
        return derivedItem(list, file) != nil || appleItem(list, file) != nil
    }

    /// Returns the gain map of a file; the map is a file of the same format.
    ///
    /// - Parameters:
    ///   - file: a file that ``ItemGraph`` has checked.
    ///   - limits: a map with more bytes than metadata may have counts as absent.
    /// - Returns: `nil` if the file has none, or if its metadata is of another version or damaged.
    static func read(_ file: Span<UInt8>, _ limits: DecodeLimits) -> GainMap? {
        let list = ItemList(file)
        guard let (map, metadata) = joinedMap(list, file) ?? appleMap(list, file, limits),
            let mapFile = ItemFile(
                item: map, of: file, list, maximumByteCount: limits.maximumMetadataByteCount)
        else { return nil }
        return GainMap(metadata, file: mapFile.bytes)
    }

    /// Returns the item of a map that is joined with the primary item, and its metadata.
    private static func joinedMap(
        _ list: ItemList, _ file: Span<UInt8>
    ) -> (Int, GainMapMetadata)? {
        guard let item = derivedItem(list, file), let map = list.inputs[item]?.last,
            let data = ItemPlaces(file).data(ofItem: item, file, maximumByteCount: 1024),
            // The version of the item, before that of the metadata.
            data.first == 0, let metadata = GainMapMetadata(iso: Array(data.dropFirst()))
        else { return nil }
        return (map, metadata)
    }

    /// Returns the item of a map of Apple's cameras, and its metadata, which an XMP packet and the maker
    /// note of the image state.
    private static func appleMap(
        _ list: ItemList, _ file: Span<UInt8>, _ limits: DecodeLimits
    ) -> (Int, GainMapMetadata)? {
        guard let map = appleItem(list, file) else { return nil }
        let places = ItemPlaces(file)
        func description(of item: Int, _ coding: String) -> [UInt8]? {
            let found = list.references.first {
                $0.type == "cdsc" && $0.items.contains(item)
                    && list.items[$0.from]?.coding == coding
            }
            return found.flatMap {
                places.data(
                    ofItem: $0.from, file, maximumByteCount: limits.maximumMetadataByteCount)
            }
        }
        // The block follows the offset of its byte order in 4 bytes.
        let exif = description(of: list.primary, "Exif").flatMap { data -> [UInt8]? in
            guard let offset = data.span.integer(at: 0, byteCount: 4) else { return nil }
            return Array(data.dropFirst(4).dropFirst(offset))
        }
        guard let packet = description(of: map, "mime"),
            let metadata = GainMapMetadata(xmp: packet, exif: exif)
        else { return nil }
        return (map, metadata)
    }

    private static func appleItem(_ list: ItemList, _ file: Span<UInt8>) -> Int? {
        guard let items = list.auxiliaries[list.primary] else { return nil }
        let maps = list.auxiliaries(ofTypes: appleTypes, file)
        return items.first(where: maps.contains)
    }

    /// Returns a file with a gain map.
    ///
    /// The alternate image has the primaries of the base image and PQ.
    ///
    /// - Parameters:
    ///   - base: a file without a map.
    ///   - map: the map, a file of the same format with one item.
    /// - Returns: `nil` if a file is damaged.
    static func joined(_ base: [UInt8], _ map: GainMap) -> [UInt8]? {
        let limits = DecodeLimits()
        guard (try? ItemGraph.check(base.span, limits)) != nil,
            (try? ItemGraph.check(map.file.span, limits)) != nil,
            var file = ItemFile(base.span), var mapItem = ItemFile(map.file.span)?.items.first
        else { return nil }
        let index = file.items.count
        mapItem.isHidden = true
        mapItem.references = []
        var primaries: [UInt8] = [0, 1]
        var derived = ItemFile.Item(
            coding: "tmap", data: [0] + map.metadata.isoBytes,
            references: [("dimg", [0, index + 1])])
        for property in file.items[0].properties {
            let type = property.box.dropFirst(4)
            if type.starts(with: "ispe".utf8) { derived.properties.append(property) }
            if type.starts(with: "colrnclx".utf8), property.box.count >= 14 {
                primaries = Array(property.box[12..<14])
            }
        }
        derived.properties += [
            ItemFile.Property(box: BoxWriter.fullBox("pixi", [3, 10, 10, 10])),
            ItemFile.Property(
                box: BoxWriter.box("colr", Array("nclx".utf8) + primaries + [0, 16, 0, 0, 0x80])),
        ]
        file.items += [derived, mapItem]
        file.alternatives = [index, 0]
        file.addBrand("tmap")
        return file.bytes
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
