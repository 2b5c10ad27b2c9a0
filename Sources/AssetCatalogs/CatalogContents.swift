// SPDX-License-Identifier: Apache-2.0

/// The values of a file `Contents.json` that are interpreted; unknown keys are ignored.
struct CatalogContents: Decodable {
    struct Properties: Decodable {
        var providesNamespace: Bool?
        var renderingIntent: String?
        var preservesVectors: Bool?
        var compressionType: String?

        enum CodingKeys: String, CodingKey {
            case providesNamespace = "provides-namespace"
            case renderingIntent = "template-rendering-intent"
            case preservesVectors = "preserves-vector-representation"
            case compressionType = "compression-type"
        }
    }

    struct Appearance: Decodable {
        var appearance: String
        var value: String
    }

    struct Insets: Decodable {
        var top: Double?
        var left: Double?
        var bottom: Double?
        var right: Double?

        var value: AssetInsets {
            AssetInsets(top: top ?? 0, left: left ?? 0, bottom: bottom ?? 0, right: right ?? 0)
        }
    }

    struct Resizing: Decodable {
        struct Center: Decodable {
            var mode: String?
            var width: Double?
            var height: Double?
        }

        var mode: String
        var center: Center?
        var capInsets: Insets?

        enum CodingKeys: String, CodingKey {
            case mode, center
            case capInsets = "cap-insets"
        }

        var value: AssetSlicing {
            AssetSlicing(
                mode: mode,
                capInsets: capInsets?.value ?? AssetInsets(top: 0, left: 0, bottom: 0, right: 0),
                centerMode: center?.mode, centerWidth: center?.width,
                centerHeight: center?.height)
        }
    }

    struct Color: Decodable {
        var space: String?
        var components: [String: Component]?
        var reference: String?

        enum CodingKeys: String, CodingKey {
            case space = "color-space"
            case components, reference
        }
    }

    /// A component: a fraction as a number or text, an integer to 255, or two hexadecimal digits.
    struct Component: Decodable {
        let value: Double

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                value = number
                return
            }
            let text = try container.decode(String.self)
            let parsed: Double? =
                if text.hasPrefix("0x") || text.hasPrefix("0X") {
                    UInt8(text.dropFirst(2), radix: 16).map { Double($0) / 255 }
                } else if text.contains(".") {
                    Double(text)
                } else {
                    UInt8(text).map { Double($0) / 255 }
                }
            guard let parsed, parsed.isFinite else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "invalid colour component \(text)")
            }
            value = parsed
        }
    }

    struct Slot: Decodable {
        var idiom: String?
        var platform: String?
        var subtype: String?
        var screenWidth: String?
        var widthClass: String?
        var heightClass: String?
        var appearances: [Appearance]?
        var gamut: String?
        var direction: String?
        var locale: String?
        var memory: String?
        var graphics: String?
        var scale: String?
        var size: String?
        var filename: String?
        var color: Color?
        var alignmentInsets: Insets?
        var resizing: Resizing?

        enum CodingKeys: String, CodingKey {
            case idiom, platform, subtype, appearances, locale, memory, scale, size, filename
            case color, resizing
            case screenWidth = "screen-width"
            case widthClass = "width-class"
            case heightClass = "height-class"
            case gamut = "display-gamut"
            case direction = "language-direction"
            case graphics = "graphics-feature-set"
            case alignmentInsets = "alignment-insets"
        }
    }

    var properties: Properties?
    var images: [Slot]?
    var colors: [Slot]?
    var data: [Slot]?
    var symbols: [Slot]?
}

extension CatalogContents {
    /// The variants of all lists; a set has one of them.
    ///
    /// - Throws: ``AssetCatalogError/malformed(path:reason:)``.
    func slots(path: String) throws(AssetCatalogError) -> [AssetSlot] {
        var slots: [AssetSlot] = []
        for slot in (images ?? []) + (colors ?? []) + (data ?? []) + (symbols ?? []) {
            slots.append(
                AssetSlot(
                    traits: try slot.traits(path: path), content: try slot.content(path: path),
                    size: slot.size, alignmentInsets: slot.alignmentInsets?.value,
                    slicing: slot.resizing?.value))
        }
        return slots
    }
}

extension CatalogContents.Slot {
    fileprivate func traits(path: String) throws(AssetCatalogError) -> AssetTraits {
        var traits = AssetTraits()
        traits.idiom = idiom == "universal" ? nil : idiom
        traits.platform = platform
        traits.subtype = subtype
        traits.screenWidth = screenWidth
        traits.widthClass = widthClass
        traits.heightClass = heightClass
        traits.gamut = gamut
        traits.direction = direction
        traits.locale = locale
        traits.graphics = graphics
        traits.memory = try Self.integer(memory, before: "GB", "memory", path)
        traits.scale = try Self.integer(scale, before: "x", "scale", path)
        for appearance in appearances ?? [] {
            switch appearance.appearance {
            case "luminosity": traits.luminosity = appearance.value
            case "contrast": traits.contrast = appearance.value
            default:
                throw .malformed(
                    path: path, reason: "unsupported appearance: \(appearance.appearance)")
            }
        }
        return traits
    }

    private static func integer(
        _ text: String?, before unit: String, _ key: String, _ path: String
    ) throws(AssetCatalogError) -> Int? {
        guard let text else { return nil }
        guard text.hasSuffix(unit), let value = Int(text.dropLast(unit.count)),
            (1...1024).contains(value)
        else {
            throw .malformed(
                path: path, reason: "invalid \(key): \(text) (a number followed by \(unit))")
        }
        return value
    }

    fileprivate func content(path: String) throws(AssetCatalogError) -> AssetSlot.Content {
        if let filename, !filename.isEmpty {
            guard !filename.contains("/"), !filename.contains("\0"), filename != "..",
                filename != "."
            else {
                throw .malformed(path: path, reason: "file outside the set: \(filename)")
            }
            return .file(filename)
        }
        guard let color else { return .empty }
        if let reference = color.reference { return .systemColor(reference) }
        let components = color.components ?? [:]
        let names = components["white"] == nil ? ["red", "green", "blue"] : ["white"]
        let values = names.compactMap { components[$0]?.value }
        guard values.count == names.count else {
            throw .malformed(path: path, reason: "colour without \(names.joined(separator: ", "))")
        }
        return .color(
            AssetColor(
                space: color.space ?? "srgb", components: values,
                alpha: components["alpha"]?.value ?? 1))
    }
}
