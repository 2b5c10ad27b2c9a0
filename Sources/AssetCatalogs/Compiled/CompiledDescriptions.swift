// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Reads the descriptions of assets and slots.
///
/// Each string is read once, and records that have it share its memory: records of few bytes could refer to
/// long strings.
struct CompiledDescriptions {
    private let reader: CompiledReader
    private var strings: [Int: String] = [:]
    private var stringByteCount = 0

    init(_ reader: CompiledReader) { self.reader = reader }

    private mutating func string(
        _ file: Span<UInt8>, _ index: Int
    ) throws(CompiledDamage) -> String {
        if let known = strings[index] { return known }
        let range = try reader.range(file, ofString: index)
        stringByteCount += range.count
        guard stringByteCount <= reader.layout.count(.strings) else {
            throw CompiledDamage(reason: "strings share bytes")
        }
        let text = file.text(at: range.lowerBound, byteCount: range.count)
        strings[index] = text
        return text
    }

    private mutating func string(
        _ file: Span<UInt8>, _ index: Int?
    ) throws(CompiledDamage) -> String? {
        guard let index else { return nil }
        return try string(file, index) as String
    }

    /// Reads an asset with its slots.
    mutating func readAsset(_ file: Span<UInt8>, _ index: Int) throws(CompiledDamage) -> Asset {
        let record = try reader.layout.offset(.assets, index)
        let flags = file.field(record, 1)
        let extensionName = try string(file, file.optionalField(record, 2)) ?? ""
        guard let kind = Asset.Kind(code: flags & 0xFF, name: extensionName) else {
            throw CompiledDamage(reason: "unknown kind of asset: \(flags & 0xFF)")
        }
        var slots: [AssetSlot] = []
        for slot in try reader.slots(file, of: index) { slots.append(try readSlot(file, slot)) }
        let name: String = try string(file, file.field(record, 0))
        return Asset(
            key: Asset.Key(kind, name), path: name, slots: slots,
            renderingMode: try string(file, file.optionalField(record, 3)).flatMap {
                Asset.RenderingMode(rawValue: $0)
            },
            preservesVectors: flags >> 8 & 1 == 1,
            compressionType: try string(file, file.optionalField(record, 4)))
    }

    /// Reads a slot.
    mutating func readSlot(_ file: Span<UInt8>, _ index: Int) throws(CompiledDamage) -> AssetSlot {
        let record = try reader.layout.offset(.slots, index)
        let extra = try file.optionalField(record, 4).map { index throws(CompiledDamage) in
            try reader.layout.offset(.extras, index)
        }
        let details = try readDetails(file, extra.flatMap { file.optionalField($0, 1) })
        return AssetSlot(
            traits: try readTraits(file, file.field(record, 0)),
            content: try readContent(file, record),
            size: try string(file, extra.flatMap { file.optionalField($0, 0) }),
            alignmentInsets: details.alignment, slicing: details.slicing)
    }

    private mutating func readContent(
        _ file: Span<UInt8>, _ record: Int
    ) throws(CompiledDamage) -> AssetSlot.Content {
        switch file.field(record, 1) {
        case 1: .file(try string(file, file.field(record, 2)))
        case 2: .color(try readColor(file, file.field(record, 3)))
        case 3: .systemColor(try string(file, file.field(record, 2)))
        case let code: throw CompiledDamage(reason: "unknown content of a slot: \(code)")
        }
    }

    mutating func readTraits(
        _ file: Span<UInt8>, _ index: Int
    ) throws(CompiledDamage) -> AssetTraits {
        let record = try reader.layout.offset(.traits, index)
        var traits = AssetTraits()
        for (field, path) in AssetTraits.texts.enumerated() {
            traits[keyPath: path] = try string(file, file.optionalField(record, field))
        }
        traits.memory = file.optionalField(record, AssetTraits.texts.count)
        traits.scale = file.optionalField(record, AssetTraits.texts.count + 1)
        return traits
    }

    private mutating func readDetails(
        _ file: Span<UInt8>, _ index: Int?
    ) throws(CompiledDamage) -> (alignment: AssetInsets?, slicing: AssetSlicing?) {
        guard let index else { return (nil, nil) }
        let record = try reader.layout.offset(.details, index)
        let flags = file.field(record, 0)
        var numbers: [Double] = []
        for place in 0..<10 { numbers.append(try file.number(at: record + 16 + place * 8)) }
        func insets(_ first: Int) -> AssetInsets {
            AssetInsets(
                top: numbers[first], left: numbers[first + 1], bottom: numbers[first + 2],
                right: numbers[first + 3])
        }
        let mode = try string(file, file.optionalField(record, 1))
        let slicing = try mode.map { mode throws(CompiledDamage) in
            AssetSlicing(
                mode: mode, capInsets: insets(4),
                centerMode: try string(file, file.optionalField(record, 2)),
                centerWidth: flags & 2 == 0 ? nil : numbers[8],
                centerHeight: flags & 4 == 0 ? nil : numbers[9])
        }
        return (flags & 1 == 0 ? nil : insets(0), slicing)
    }

    private mutating func readColor(
        _ file: Span<UInt8>, _ index: Int
    ) throws(CompiledDamage) -> AssetColor {
        let record = try reader.layout.offset(.colors, index)
        let count = file.field(record, 1)
        guard (1...3).contains(count) else {
            throw CompiledDamage(reason: "a colour of \(count) components")
        }
        var components: [Double] = []
        for place in 0..<count { components.append(try file.number(at: record + 8 + place * 8)) }
        return AssetColor(
            space: try string(file, file.field(record, 0)), components: components,
            alpha: try file.number(at: record + 32))
    }
}

extension AssetTraits {
    /// The traits that are texts, in the order of a compiled file.
    static var texts: [WritableKeyPath<AssetTraits, String?>] {
        [
            \.idiom, \.platform, \.subtype, \.screenWidth, \.widthClass, \.heightClass,
            \.luminosity, \.contrast, \.gamut, \.direction, \.locale, \.graphics,
        ]
    }
}
