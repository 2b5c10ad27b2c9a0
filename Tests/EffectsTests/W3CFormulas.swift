// SPDX-License-Identifier: Apache-2.0

import Effects
import Foundation

/// The formulas of W3C's “Compositing and Blending Level 1”, in double precision, channel by channel.
enum W3CFormulas {
    /// Returns the premultiplied result of straight colours with alpha, four components each.
    static func composite(
        _ source: [Double], onto backdrop: [Double], _ mode: BlendMode,
        _ composite: CompositeOperator
    ) -> [Double] {
        let (alphaS, alphaB) = (source[3], backdrop[3])
        let blended = blend(Array(backdrop.prefix(3)), Array(source.prefix(3)), mode)
        let (fractionS, fractionB) = fractions(composite, alphaS, alphaB)
        let colors = (0..<3).map { channel in
            let mixed = (1 - alphaB) * source[channel] + alphaB * blended[channel]
            return alphaS * fractionS * mixed + alphaB * fractionB * backdrop[channel]
        }
        let result = colors + [alphaS * fractionS + alphaB * fractionB]
        return composite == .lighter ? result.map { min($0, 1) } : result
    }

    /// Section 9.1.
    private static func fractions(
        _ composite: CompositeOperator, _ s: Double, _ b: Double
    ) -> (Double, Double) {
        switch composite {
        case .clear: (0, 0)
        case .copy: (1, 0)
        case .destination: (0, 1)
        case .sourceOver: (1, 1 - s)
        case .destinationOver: (1 - b, 1)
        case .sourceIn: (b, 0)
        case .destinationIn: (0, s)
        case .sourceOut: (1 - b, 0)
        case .destinationOut: (0, 1 - s)
        case .sourceAtop: (b, 1 - s)
        case .destinationAtop: (1 - b, s)
        case .xor: (1 - b, 1 - s)
        case .lighter: (1, 1)
        }
    }

    /// Section 10.
    static func blend(_ b: [Double], _ s: [Double], _ mode: BlendMode) -> [Double] {
        switch mode {
        case .hue: setLum(setSat(s, sat(b)), lum(b))
        case .saturation: setLum(setSat(b, sat(s)), lum(b))
        case .color: setLum(s, lum(b))
        case .luminosity: setLum(b, lum(s))
        default: zip(b, s).map { blend($0, $1, mode) }
        }
    }

    private static func blend(_ b: Double, _ s: Double, _ mode: BlendMode) -> Double {
        switch mode {
        case .multiply: return b * s
        case .screen: return b + s - b * s
        case .overlay: return blend(s, b, .hardLight)
        case .darken: return min(b, s)
        case .lighten: return max(b, s)
        case .colorDodge: return b == 0 ? 0 : s == 1 ? 1 : min(1, b / (1 - s))
        case .colorBurn: return b == 1 ? 1 : s == 0 ? 0 : 1 - min(1, (1 - b) / s)
        case .hardLight: return s <= 0.5 ? b * 2 * s : blend(b, 2 * s - 1, .screen)
        case .softLight:
            guard s > 0.5 else { return b - (1 - 2 * s) * b * (1 - b) }
            let d = b <= 0.25 ? ((16 * b - 12) * b + 4) * b : sqrt(b)
            return b + (2 * s - 1) * (d - b)
        case .difference: return abs(b - s)
        case .exclusion: return b + s - 2 * b * s
        default: return s
        }
    }

    private static func lum(_ c: [Double]) -> Double { 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2] }

    private static func sat(_ c: [Double]) -> Double { (c.max() ?? 0) - (c.min() ?? 0) }

    private static func setLum(_ c: [Double], _ l: Double) -> [Double] {
        let d = l - lum(c)
        return clipColor(c.map { $0 + d })
    }

    private static func clipColor(_ c: [Double]) -> [Double] {
        let (l, n, x) = (lum(c), c.min() ?? 0, c.max() ?? 0)
        var c = c
        if n < 0 { c = c.map { l + ($0 - l) * l / (l - n) } }
        if x > 1 { c = c.map { l + ($0 - l) * (1 - l) / (x - l) } }
        return c
    }

    private static func setSat(_ c: [Double], _ s: Double) -> [Double] {
        let order = [0, 1, 2].sorted { c[$0] < c[$1] }
        var c = c
        if c[order[2]] > c[order[0]] {
            c[order[1]] = (c[order[1]] - c[order[0]]) * s / (c[order[2]] - c[order[0]])
            c[order[2]] = s
        } else {
            c[order[1]] = 0
            c[order[2]] = 0
        }
        c[order[0]] = 0
        return c
    }
}
