// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

extension Bomb {
    /// An item of a HEIF or AVIF file, and the items it is derived from, by number from 1.
    struct Item {
        let type: String
        let parts: [Int]

        init(_ type: String, madeOf parts: [Int] = []) {
            self.type = type
            self.parts = parts
        }
    }

    /// Derived images of derived images.
    static let items: [Bomb] = ["heic", "avif"].flatMap { brand in
        let coded = Item(brand == "heic" ? "hvc1" : "av01")
        return [
            Bomb("\(brand) grid of itself", .malformed) {
                itemFile(brand, [Item("grid", madeOf: [1])], size: 64)
            },
            Bomb("\(brand) grids of each other", .malformed) {
                itemFile(
                    brand,
                    [
                        Item("grid", madeOf: [2, 3]), Item("grid", madeOf: [3]),
                        Item("iden", madeOf: [1]), coded,
                    ], size: 64)
            },
            Bomb("\(brand) grids of ten grids each", .limit(.itemCount, at: .open)) {
                let grids = (2...6).map { Item("grid", madeOf: Array(repeating: $0, count: 10)) }
                return itemFile(brand, grids + [coded], size: 64)
            },
            Bomb("\(brand) grid of one tile 60,000 times", .limit(.itemCount, at: .open)) {
                itemFile(
                    brand, [Item("grid", madeOf: Array(repeating: 2, count: 60_000)), coded],
                    size: 64)
            },
            Bomb("\(brand) of 200 levels", .limit(.nestingDepth, at: .open)) {
                let levels = (2...200).map { Item("iden", madeOf: [$0]) }
                return itemFile(brand, levels + [coded], size: 64)
            },
            Bomb("\(brand) of 60,000 items", .limit(.itemCount, at: .open)) {
                itemFile(brand, Array(repeating: coded, count: 60_000), size: 64)
            },
        ]
    }

    /// A file whose first item is the primary image; coded items are empty.
    static func itemFile(_ brand: String, _ items: [Item], size: Int) -> [UInt8] {
        func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
            .big(body.count + 8) + Array(type.utf8) + body
        }
        func fullBox(_ type: String, _ body: [UInt8], version: UInt8 = 0) -> [UInt8] {
            box(type, [version, 0, 0, 0] + body)
        }
        var list: [UInt8] = .big(items.count, 2)
        var places: [UInt8] = [0x44, 0] + .big(items.count, 2)
        var references: [UInt8] = []
        var properties: [UInt8] = .big(items.count)
        for (index, item) in items.enumerated() {
            let id = [UInt8].big(index + 1, 2)
            list += fullBox("infe", id + [0, 0] + Array(item.type.utf8) + [0], version: 2)
            // Within `idat`, in one extent.
            places += id + [0, 1, 0, 0, 0, 1] + .big(0) + .big(8)
            if !item.parts.isEmpty {
                references += box(
                    "dimg",
                    id + .big(item.parts.count, 2) + item.parts.flatMap { [UInt8].big($0, 2) })
            }
            properties += id + [1, 1]
        }
        let width = UInt8(min(max(items.first?.parts.count ?? 1, 1), 256) - 1)
        let meta =
            fullBox("hdlr", .big(0) + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
            + fullBox("pitm", .big(1, 2)) + fullBox("iinf", list)
            + fullBox("iloc", places, version: 1)
            + (references.isEmpty ? [] : fullBox("iref", references))
            + box(
                "iprp",
                box("ipco", fullBox("ispe", .big(size) + .big(size))) + fullBox("ipma", properties))
            + box("idat", [0, 0, 0, width] + .big(64, 2) + .big(64, 2))
        return box("ftyp", Array((brand + "\0\0\0\0mif1" + brand).utf8)) + fullBox("meta", meta)
    }
}
