// SPDX-License-Identifier: Apache-2.0

/// How the colours of a source and of the backdrop below it are mixed.
///
/// - SeeAlso: W3C, Compositing and Blending Level 1, section 10.
public enum BlendMode: String, Hashable, Sendable, CaseIterable {
    /// The colour of the source.
    case normal
    /// The product of both colours.
    case multiply
    /// The inverted product of the inverted colours.
    case screen
    /// ``multiply`` or ``screen``, depending on the backdrop.
    case overlay
    /// The darker value of each channel.
    case darken
    /// The lighter value of each channel.
    case lighten
    /// Brightens the backdrop to reflect the source.
    case colorDodge = "color-dodge"
    /// Darkens the backdrop to reflect the source.
    case colorBurn = "color-burn"
    /// ``multiply`` or ``screen``, depending on the source.
    case hardLight = "hard-light"
    /// Darkens or lightens, depending on the source.
    case softLight = "soft-light"
    /// The absolute difference of both colours.
    case difference
    /// A ``difference`` of lower contrast.
    case exclusion
    /// The hue of the source, the saturation and luminosity of the backdrop.
    case hue
    /// The saturation of the source, the hue and luminosity of the backdrop.
    case saturation
    /// The hue and saturation of the source, the luminosity of the backdrop.
    case color
    /// The luminosity of the source, the hue and saturation of the backdrop.
    case luminosity
}

extension BlendMode {
    /// Returns the mixed straight colour; the fourth component is unspecified.
    @inline(__always)
    func mixed(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        switch self {
        case .normal: source
        case .multiply: backdrop * source
        case .screen: backdrop + source - backdrop * source
        case .overlay: Self.hardLight(source, backdrop)
        case .darken: pointwiseMin(backdrop, source)
        case .lighten: pointwiseMax(backdrop, source)
        case .colorDodge: Self.dodge(backdrop, source)
        case .colorBurn: 1 - Self.dodge(1 - backdrop, 1 - source)
        case .hardLight: Self.hardLight(backdrop, source)
        case .softLight: Self.softLight(backdrop, source)
        case .difference: pointwiseMax(backdrop - source, source - backdrop)
        case .exclusion: backdrop + source - 2 * backdrop * source
        case .hue:
            Self.withLuminosity(
                Self.withSaturation(source, Self.saturation(backdrop)), Self.luminosity(backdrop))
        case .saturation:
            Self.withLuminosity(
                Self.withSaturation(backdrop, Self.saturation(source)), Self.luminosity(backdrop))
        case .color: Self.withLuminosity(source, Self.luminosity(backdrop))
        case .luminosity: Self.withLuminosity(backdrop, Self.luminosity(source))
        }
    }

    private static func dodge(_ backdrop: SIMD4<Float>, _ source: SIMD4<Float>) -> SIMD4<Float> {
        var result = pointwiseMin(backdrop / (1 - source), .one)
        result.replace(with: 1, where: source .>= 1)
        result.replace(with: 0, where: backdrop .<= 0)
        return result
    }

    private static func hardLight(
        _ backdrop: SIMD4<Float>, _ source: SIMD4<Float>
    ) -> SIMD4<Float> {
        let double = 2 * source
        let lighter = double - 1
        return (backdrop * double).replacing(
            with: backdrop + lighter - backdrop * lighter, where: source .> 0.5)
    }

    private static func softLight(
        _ backdrop: SIMD4<Float>, _ source: SIMD4<Float>
    ) -> SIMD4<Float> {
        let darker = backdrop - (1 - 2 * source) * backdrop * (1 - backdrop)
        let root = pointwiseMax(backdrop, .zero).squareRoot()
        let curve = root.replacing(
            with: ((16 * backdrop - 12) * backdrop + 4) * backdrop, where: backdrop .<= 0.25)
        return darker.replacing(
            with: backdrop + (2 * source - 1) * (curve - backdrop), where: source .> 0.5)
    }

    private static func luminosity(_ color: SIMD4<Float>) -> Float {
        0.3 * color.x + 0.59 * color.y + 0.11 * color.z
    }

    private static func least(_ color: SIMD4<Float>) -> Float { min(color.x, color.y, color.z) }

    private static func greatest(_ color: SIMD4<Float>) -> Float {
        max(color.x, color.y, color.z)
    }

    private static func saturation(_ color: SIMD4<Float>) -> Float {
        greatest(color) - least(color)
    }

    /// Returns the colour with another luminosity, moved towards grey where it leaves the gamut.
    private static func withLuminosity(
        _ color: SIMD4<Float>, _ luminosity: Float
    ) -> SIMD4<Float> {
        var result = color + (luminosity - Self.luminosity(color))
        let (least, greatest) = (least(result), greatest(result))
        if least < 0 {
            result = luminosity + (result - luminosity) * (luminosity / (luminosity - least))
        }
        if greatest > 1 {
            result =
                luminosity + (result - luminosity) * ((1 - luminosity) / (greatest - luminosity))
        }
        return result
    }

    /// Returns a colour of the same hue with a luminosity that is unspecified.
    private static func withSaturation(
        _ color: SIMD4<Float>, _ saturation: Float
    ) -> SIMD4<Float> {
        let range = Self.saturation(color)
        guard range > 0 else { return .zero }
        return (color - least(color)) * (saturation / range)
    }
}
