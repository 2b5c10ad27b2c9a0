// SPDX-License-Identifier: Apache-2.0

#if AVIF || HEIF
internal import EncodedImages

/// The items of a file, their codings and what they are derived from.
///
/// - SeeAlso: ISO/IEC 14496-12, 8.11.4 (`pitm`), 8.11.6 (`iinf`) and 8.11.12 (`iref`).
struct ItemList {
    struct Item {
        let coding: String
        let isProtected: Bool
        let isHidden: Bool
        /// The bytes of the name, and of the media type if the coding is `mime`.
        let name: Range<Int>
    }

    /// The primary item; 0 without one.
    private(set) var primary = 0
    private(set) var items: [Int: Item] = [:]
    /// The images from which an image is derived (`dimg`), and its auxiliary images (`auxl`).
    private(set) var inputs: [Int: [Int]] = [:]
    private(set) var auxiliaries: [Int: [Int]] = [:]
    /// All references, in the order of the file.
    private(set) var references: [(type: String, from: Int, items: [Int])] = []

    /// Reads the items of a file that ``ItemGraph`` has checked.
    init(_ file: Span<UInt8>) {
        guard let meta = BoxReader.first("meta", in: 0..<file.count, file),
            meta.start + 4 <= meta.range.upperBound
        else { return }
        var reader = BoxReader(meta.start + 4..<meta.range.upperBound)
        while let box = reader.next(file) {
            let version = file.integer(at: box.start, byteCount: 1) ?? 0
            switch box.type {
            case "pitm":
                primary = file.integer(at: box.start + 4, byteCount: version == 0 ? 2 : 4) ?? 0
            case "iinf": readList(box, version, file)
            case "iref": readReferences(box, version, file)
            default: break
            }
        }
    }

    /// Returns the auxiliary images of some types (ISO/IEC 23008-12, 6.5.8).
    func auxiliaries(ofTypes types: Set<String>, _ file: Span<UInt8>) -> Set<Int> {
        var found: Set<Int> = []
        ItemProperties(file).forEachAssociation(file) { item, property, _ in
            guard let box = property, box.type == "auxC", box.body.count > 4 else { return }
            let type = file.text(at: box.start + 4, byteCount: min(box.body.count - 4, 64))
            let name = type.split(separator: "\0").first.map(String.init)
            if name.map(types.contains) == true { found.insert(item) }
        }
        return found
    }

    private mutating func readList(_ list: BoxReader.Box, _ version: Int, _ file: Span<UInt8>) {
        let width = version == 0 ? 2 : 4
        let count = file.integer(at: list.start + 4, byteCount: width) ?? 0
        let start = list.start + 4 + width
        guard start <= list.range.upperBound else { return }
        var reader = BoxReader(start..<list.range.upperBound)
        while items.count < count, let entry = reader.next(file) {
            guard entry.type == "infe",
                let version = file.integer(at: entry.start, byteCount: 1), version >= 2,
                let flags = file.integer(at: entry.start + 1, byteCount: 3),
                let item = file.integer(at: entry.start + 4, byteCount: version == 2 ? 2 : 4)
            else { continue }
            let place = entry.start + (version == 2 ? 6 : 8)
            items[item] = Item(
                coding: file.text(at: place + 2, byteCount: 4),
                isProtected: file.integer(at: place, byteCount: 2) != 0,
                isHidden: flags & 1 == 1,
                name: min(place + 6, entry.range.upperBound)..<entry.range.upperBound)
        }
    }

    private mutating func readReferences(
        _ references: BoxReader.Box, _ version: Int, _ file: Span<UInt8>
    ) {
        let width = version == 0 ? 2 : 4
        guard references.start + 4 <= references.range.upperBound else { return }
        var reader = BoxReader(references.start + 4..<references.range.upperBound)
        while let box = reader.next(file) {
            guard let from = file.integer(at: box.start, byteCount: width),
                let count = file.integer(at: box.start + width, byteCount: 2)
            else { continue }
            var targets: [Int] = []
            for index in 0..<count {
                let place = box.start + width + 2 + index * width
                guard place + width <= box.range.upperBound,
                    let to = file.integer(at: place, byteCount: width)
                else { break }
                targets.append(to)
                switch box.type {
                case "dimg": inputs[from, default: []].append(to)
                case "auxl": auxiliaries[to, default: []].append(from)
                default: break
                }
            }
            self.references.append((box.type, from, targets))
        }
    }
}
#endif
