// SPDX-License-Identifier: Apache-2.0

#if AVIF || HEIF
internal import EncodedImages

/// A HEIF or AVIF file that consists of items, for writing.
///
/// - SeeAlso: ISO/IEC 14496-12, 8.11; ISO/IEC 23008-12, 9.3.
struct ItemFile {
    /// One item; it is identified by its index, from 0.
    struct Item {
        /// The four characters of the coding.
        var coding: String
        var data: [UInt8]
        /// The boxes of the properties in their order.
        var properties: [Property] = []
        /// References to other items by their type.
        var references: [(type: String, items: [Int])] = []
        /// Whether the item is not displayed on its own.
        var isHidden = false
        /// The name, and the media type if the coding is `mime`, each with a terminating zero.
        var name: [UInt8] = [0]
    }

    struct Property: Hashable {
        var box: [UInt8]
        var isEssential = false
    }

    /// The box `ftyp`.
    var fileType: [UInt8]
    /// The items; the first one is the primary item.
    var items: [Item] = []
    /// Items of which a reader displays the first that it supports (`altr`).
    var alternatives: [Int] = []

    init(fileType: [UInt8]) { self.fileType = fileType }

    /// Reads an item and what it is derived from, as the primary item of a file of its own.
    ///
    /// The result is `nil` if data is missing, protected or too long.
    ///
    /// - Parameters:
    ///   - item: the identifier of the item.
    ///   - file: a file that ``ItemGraph`` has checked.
    ///   - list: the items of the file.
    ///   - maximumByteCount: the maximum length of the data and the properties of all items.
    init?(item: Int, of file: Span<UInt8>, _ list: ItemList, maximumByteCount: Int) {
        self.init(
            items: [item] + (list.inputs[item] ?? []), of: file, list,
            maximumByteCount: maximumByteCount)
    }

    /// Reads all items of a file that ``ItemGraph`` has checked, the primary item first.
    init?(_ file: Span<UInt8>) {
        let list = ItemList(file)
        let others = list.items.keys.filter { $0 != list.primary }.sorted()
        self.init(
            items: [list.primary] + others, of: file, list,
            // Items share properties.
            maximumByteCount: 2 * file.count)
    }

    private init?(
        items identifiers: [Int], of file: Span<UInt8>, _ list: ItemList, maximumByteCount: Int
    ) {
        guard let type = BoxReader.first("ftyp", in: 0..<file.count, file) else { return nil }
        self.init(fileType: type.range.map { file[$0] })
        let places = ItemPlaces(file)
        var rest = maximumByteCount
        for identifier in identifiers {
            guard let entry = list.items[identifier], !entry.isProtected,
                let data = places.data(ofItem: identifier, file, maximumByteCount: rest)
            else { return nil }
            rest -= data.count
            items.append(
                Item(
                    coding: entry.coding, data: data,
                    isHidden: entry.isHidden && !items.isEmpty,
                    name: entry.name.map { file[$0] }))
        }
        var indices: [Int: [Int]] = [:]
        for (index, identifier) in identifiers.enumerated() {
            indices[identifier, default: []].append(index)
        }
        for (type, from, targets) in list.references {
            let found = targets.compactMap { indices[$0]?.first }
            guard let index = indices[from]?.first, found.count == targets.count else { continue }
            items[index].references.append((type, found))
        }
        ItemProperties(file).forEachAssociation(file) { identifier, box, isEssential in
            guard let box, let found = indices[identifier] else { return }
            rest -= box.range.count
            guard rest >= 0 else { return }
            let bytes = box.range.map { file[$0] }
            for index in found {
                items[index].properties.append(Property(box: bytes, isEssential: isEssential))
            }
        }
        guard rest >= 0 else { return nil }
    }

    /// Adds a compatible brand.
    mutating func addBrand(_ brand: String) {
        fileType = BoxWriter.box("ftyp", Array(fileType.dropFirst(8)) + Array(brand.utf8))
    }

    /// The bytes of the file.
    var bytes: [UInt8] {
        let start = fileType.count + meta(dataOffset: 0).count + 8
        return fileType + meta(dataOffset: start) + BoxWriter.box("mdat", items.flatMap(\.data))
    }

    private func meta(dataOffset: Int) -> [UInt8] {
        var handler = Self.integers((0, 4)) + Array("pict".utf8)
        handler += [UInt8](repeating: 0, count: 13)
        var contents = BoxWriter.fullBox("hdlr", handler)
        contents += BoxWriter.fullBox("pitm", Self.integers((1, 2)))
        contents += places(dataOffset)
        contents += list + references + properties + groups
        return BoxWriter.fullBox("meta", contents)
    }

    private func places(_ dataOffset: Int) -> [UInt8] {
        var places = Self.integers((0x4400, 2), (items.count, 2))
        var offset = dataOffset
        for (index, item) in items.enumerated() {
            places += Self.integers(
                (index + 1, 2), (0, 2), (1, 2), (offset, 4), (item.data.count, 4))
            offset += item.data.count
        }
        return BoxWriter.fullBox("iloc", places)
    }

    private var list: [UInt8] {
        let entries = items.enumerated().flatMap { index, item in
            BoxWriter.fullBox(
                "infe",
                Self.integers((index + 1, 2), (0, 2)) + Array(item.coding.utf8)
                    + item.name,
                version: 2, flags: item.isHidden ? 1 : 0)
        }
        return BoxWriter.fullBox("iinf", Self.integers((items.count, 2)) + entries)
    }

    private var references: [UInt8] {
        var boxes: [UInt8] = []
        for (index, item) in items.enumerated() {
            for (type, targets) in item.references {
                boxes += BoxWriter.box(
                    type,
                    Self.integers((index + 1, 2), (targets.count, 2))
                        + targets.flatMap { Self.integers(($0 + 1, 2)) })
            }
        }
        return boxes.isEmpty ? [] : BoxWriter.fullBox("iref", boxes)
    }

    private var properties: [UInt8] {
        var numbers: [[UInt8]: Int] = [:]
        var container: [UInt8] = []
        var associations = Self.integers((items.count, 4))
        for (index, item) in items.enumerated() {
            associations += Self.integers((index + 1, 2), (item.properties.count, 1))
            for property in item.properties {
                let number = numbers[property.box] ?? numbers.count + 1
                if numbers.updateValue(number, forKey: property.box) == nil {
                    container += property.box
                }
                associations += Self.integers((number | (property.isEssential ? 0x8000 : 0), 2))
            }
        }
        return BoxWriter.box(
            "iprp",
            BoxWriter.box("ipco", container) + BoxWriter.fullBox("ipma", associations, flags: 1))
    }

    private var groups: [UInt8] {
        guard !alternatives.isEmpty else { return [] }
        return BoxWriter.box(
            "grpl",
            BoxWriter.fullBox(
                "altr",
                Self.integers((items.count + 1, 4), (alternatives.count, 4))
                    + alternatives.flatMap { Self.integers(($0 + 1, 4)) }))
    }

    private static func integers(_ values: (Int, byteCount: Int)...) -> [UInt8] {
        values.flatMap { [UInt8]($0.0, byteCount: $0.byteCount, .bigEndian) }
    }
}
#endif
