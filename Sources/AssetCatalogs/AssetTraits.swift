// SPDX-License-Identifier: Apache-2.0

/// What a device and its settings require of an asset, or what a slot of a set is made for.
///
/// A trait that is `nil` in a slot suits every device; one that is `nil` in a query selects only
/// slots without it, except that the luminosity is `light`, the gamut `sRGB` and the scale 1. Values are
/// those of `Contents.json`.
///
/// - SeeAlso: *Asset Catalog Format Reference*, Apple, 2018.
public struct AssetTraits: Hashable, Sendable {
    /// The kind of device: `iphone`, `ipad`, `mac`, `tv`, `watch`; `nil` is universal.
    public var idiom: String?
    /// The system: `ios`, `osx`.
    public var platform: String?
    /// The variant of the device, such as `retina4`.
    public var subtype: String?
    /// The width class of a watch, such as `<=145`.
    public var screenWidth: String?
    /// The horizontal size class: `compact` or `regular`.
    public var widthClass: String?
    /// The vertical size class: `compact` or `regular`.
    public var heightClass: String?
    /// The luminosity appearance: `light`, `dark` or `tinted`.
    public var luminosity: String?
    /// The contrast appearance: `high`.
    public var contrast: String?
    /// The gamut of the display: `sRGB` or `display-P3`.
    public var gamut: String?
    /// The direction of the language: `left-to-right` or `right-to-left`.
    public var direction: String?
    /// The language, such as `ar` or `pt-BR`.
    public var locale: String?
    /// The memory in gigabytes; of a slot, the minimum.
    public var memory: Int?
    /// The feature set of the graphics processor, such as `metal2v2`; of a slot, the minimum.
    public var graphics: String?
    /// Pixels per point; `nil` in a slot is a single drawing for all scales, in a query 1.
    public var scale: Int?

    /// Creates traits that are all `nil`.
    public init() {}
}

extension AssetTraits {
    /// A trait in the order of their significance: a slot for the idiom wins over a universal one of
    /// the right scale.
    enum Attribute: CaseIterable {
        case idiom, platform, subtype, screenWidth, widthClass, heightClass, luminosity, contrast
        case gamut, direction, locale, memory, graphics, scale

        /// The number of bits of a distance.
        var bitCount: UInt64 {
            switch self {
            case .gamut, .locale: 2
            case .memory, .graphics: 16
            case .scale: 17
            default: 1
            }
        }
    }

    /// The distance of a slot with these traits from a query, where 0 is an exact match.
    ///
    /// Traits are compared in the order of ``Attribute``. Memory and graphics are the largest that the
    /// device provides, the scale is the nearest above, else the nearest below.
    ///
    /// - Returns: `nil` if the slot does not suit the device.
    func distance(from query: AssetTraits) -> UInt64? {
        var sum: UInt64 = 0
        for attribute in Attribute.allCases {
            guard let distance = distance(attribute, from: query) else { return nil }
            sum = sum << attribute.bitCount | distance
        }
        return sum
    }

    /// The distance of one trait; `nil` if the slot does not suit the device.
    func distance(_ attribute: Attribute, from query: AssetTraits) -> UInt64? {
        switch attribute {
        case .idiom: Self.exactness(idiom, query.idiom)
        case .platform: Self.exactness(platform, query.platform)
        case .subtype: Self.exactness(subtype, query.subtype)
        case .screenWidth: Self.exactness(screenWidth, query.screenWidth)
        case .widthClass: Self.exactness(widthClass, query.widthClass)
        case .heightClass: Self.exactness(heightClass, query.heightClass)
        case .luminosity: Self.exactness(luminosity, query.luminosity ?? "light")
        case .contrast: Self.exactness(contrast, query.contrast)
        case .gamut: gamutDistance(query.gamut ?? "sRGB")
        case .direction: Self.exactness(direction, query.direction)
        case .locale: localeDistance(query.locale)
        case .memory: Self.shortfall(memory, query.memory)
        case .graphics:
            Self.shortfall(graphics.map(Self.featureLevel), query.graphics.map(Self.featureLevel))
        case .scale: scaleDistance(query.scale ?? 1)
        }
    }

    private static func exactness(_ slot: String?, _ query: String?) -> UInt64? {
        guard let slot else { return query == nil ? 0 : 1 }
        return slot == query ? 0 : nil
    }

    /// Colours outside the gamut of the display can be converted, so that no slot is excluded.
    private func gamutDistance(_ query: String) -> UInt64 {
        guard let gamut else { return 1 }
        return gamut == query ? 0 : 2
    }

    /// A slot for a language suits all its regions.
    private func localeDistance(_ query: String?) -> UInt64? {
        guard let locale else { return query == nil ? 0 : 2 }
        guard let query else { return nil }
        if locale == query { return 0 }
        return query.hasPrefix(locale + "-") ? 1 : nil
    }

    private static func shortfall(_ slot: Int?, _ query: Int?) -> UInt64? {
        let available = query ?? 0
        let required = slot ?? 0
        guard required <= available else { return nil }
        return UInt64(min(available - required, 0xFFFF))
    }

    /// The order of the feature sets: `metal2v2` follows `metal1v2`; 0 if it is not one.
    private static func featureLevel(_ name: String) -> Int {
        let numbers = name.split { !$0.isASCII || !$0.isNumber }.compactMap { Int($0) }
        guard numbers.count == 2, numbers.allSatisfy({ $0 < 100 }) else { return 0 }
        return numbers[0] * 100 + numbers[1]
    }

    private func scaleDistance(_ query: Int) -> UInt64 {
        guard let scale else { return 1 }
        if scale == query { return 0 }
        // A larger scale loses no detail; a smaller one does, so all of them come last.
        let (base, difference) = scale > query ? (1, scale - query) : (0x8000, query - scale)
        return UInt64(base + min(difference, 0x7FFF))
    }
}
