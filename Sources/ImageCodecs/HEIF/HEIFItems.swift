// SPDX-License-Identifier: Apache-2.0

#if HEIF
internal import EncodedImages

/// The items of a file, their codings and what they are derived from.
///
/// - SeeAlso: ISO/IEC 14496-12, 8.11.4 (`pitm`), 8.11.6 (`iinf`) and 8.11.12 (`iref`);
///   ISO/IEC 23008-12, 9.3 (`iprp`).
struct HEIFItems {
    private struct Item {
        let coding: String
        let isProtected: Bool
    }

    /// The item types that libheif decodes, including derived images.
    private static let knownCodings: Set<String> = ["hvc1", "av01", "grid", "iden", "iovl"]

    /// The properties without which no item can be decoded correctly, if they are essential.
    private static let knownProperties: Set<String> = [
        "hvcC", "av1C", "ispe", "pixi", "colr", "pasp", "clap", "irot", "imir", "auxC", "rloc",
        "lsel", "a1op", "a1lx", "clli", "mdcv", "cclv", "amve",
    ]

    /// The types of auxiliary images that contain alpha.
    private static let alphaTypes: Set<String> = [
        "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
    ]

    /// The primary item; 0 without one.
    private(set) var primary = 0
    private var items: [Int: Item] = [:]
    /// The images from which an image is derived (`dimg`), and its auxiliary images (`auxl`).
    private var inputs: [Int: [Int]] = [:]
    private var auxiliaries: [Int: [Int]] = [:]

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

    private mutating func readList(_ list: BoxReader.Box, _ version: Int, _ file: Span<UInt8>) {
        let width = version == 0 ? 2 : 4
        let count = file.integer(at: list.start + 4, byteCount: width) ?? 0
        let start = list.start + 4 + width
        guard start <= list.range.upperBound else { return }
        var reader = BoxReader(start..<list.range.upperBound)
        while items.count < count, let entry = reader.next(file) {
            guard entry.type == "infe",
                let version = file.integer(at: entry.start, byteCount: 1), version >= 2,
                let item = file.integer(at: entry.start + 4, byteCount: version == 2 ? 2 : 4)
            else { continue }
            let place = entry.start + (version == 2 ? 6 : 8)
            items[item] = Item(
                coding: file.text(at: place + 2, byteCount: 4),
                isProtected: file.integer(at: place, byteCount: 2) != 0)
        }
    }

    private mutating func readReferences(
        _ references: BoxReader.Box, _ version: Int, _ file: Span<UInt8>
    ) {
        let width = version == 0 ? 2 : 4
        guard references.start + 4 <= references.range.upperBound else { return }
        var reader = BoxReader(references.start + 4..<references.range.upperBound)
        while let box = reader.next(file) {
            guard box.type == "dimg" || box.type == "auxl",
                let from = file.integer(at: box.start, byteCount: width),
                let count = file.integer(at: box.start + width, byteCount: 2)
            else { continue }
            for index in 0..<count {
                let place = box.start + width + 2 + index * width
                guard place + width <= box.range.upperBound,
                    let to = file.integer(at: place, byteCount: width)
                else { break }
                if box.type == "dimg" {
                    inputs[from, default: []].append(to)
                } else {
                    auxiliaries[to, default: []].append(from)
                }
            }
        }
    }

    /// Returns the feature that prevents an item, its inputs or its alpha from being decoded.
    func unsupportedFeature(ofItem item: Int, _ file: Span<UInt8>) -> String? {
        let properties = HEIFProperties(file)
        var alphas: Set<Int> = []
        properties.forEachAssociation(file) { item, property, _ in
            guard let box = property, box.type == "auxC", box.body.count > 4 else { return }
            let type = file.text(at: box.start + 4, byteCount: min(box.body.count - 4, 64))
            let name = type.split(separator: "\0").first.map(String.init)
            if name.map(Self.alphaTypes.contains) == true { alphas.insert(item) }
        }
        var needed: Set<Int> = []
        var pending = [item]
        while let next = pending.popLast() {
            guard needed.insert(next).inserted else { continue }
            pending += inputs[next] ?? []
            pending += (auxiliaries[next] ?? []).filter(alphas.contains)
        }
        for item in needed.sorted() {
            guard let item = items[item] else { continue }
            if !Self.knownCodings.contains(item.coding) {
                return "HEIF with items coded as '\(item.coding)'"
            }
            if item.isProtected { return "HEIF with protected items" }
        }
        var unknown: String?
        properties.forEachAssociation(file) { item, property, isEssential in
            guard isEssential, needed.contains(item), let type = property?.type,
                !Self.knownProperties.contains(type)
            else { return }
            unknown = unknown ?? "HEIF with the essential property '\(type)'"
        }
        return unknown
    }
}
#endif
