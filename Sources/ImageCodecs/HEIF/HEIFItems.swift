// SPDX-License-Identifier: Apache-2.0

#if HEIF

/// The items that libheif decodes.
///
/// - SeeAlso: ISO/IEC 23008-12, 9.3 (`iprp`).
extension ItemList {
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

    /// Returns the feature that prevents an item, its inputs or its alpha from being decoded.
    func unsupportedFeature(ofItem item: Int, _ file: Span<UInt8>) -> String? {
        let alphas = auxiliaries(ofTypes: Self.alphaTypes, file)
        let properties = ItemProperties(file)
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
