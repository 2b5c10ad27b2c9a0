// SPDX-License-Identifier: Apache-2.0

#if AVIF || HEIF
internal import EncodedImages
internal import Pixels

/// The representation of samples in the planes of a video codec.
///
/// - SeeAlso: ITU-T H.273, 8.3 (matrix coefficients) and 8.4 (sample position).
struct PlaneCoding: Hashable {
    enum Chroma: Hashable { case none, full, halfWidth, half }

    var chroma: Chroma
    var bitDepth: Int
    var isFullRange: Bool
    /// The code points of the matrix coefficients and of the colour primaries; the latter
    /// determine matrix 12.
    var matrix: Int
    var primaries: Int
    var alphaBitDepth = 8
    /// Whether colours are premultiplied by alpha.
    var isPremultiplied = false

    /// Whether the planes are YCbCr as in JFIF, regardless of the range.
    var isJFIF: Bool { chroma != .none && [2, 5, 6].contains(matrix) }

    /// Validates the values.
    ///
    /// - Throws: ``CodecError/unsupported(feature:)`` for unknown ones.
    func check() throws(CodecError) {
        guard (8...16).contains(bitDepth), (8...16).contains(alphaBitDepth) else {
            throw .unsupported(feature: "\(bitDepth)-bit samples")
        }
        if chroma == .none { return }
        guard weights != nil || isIdentity else {
            throw .unsupported(feature: "matrix coefficients \(matrix) (ITU-T H.273)")
        }
        if isIdentity, chroma != .full {
            throw .malformed(reason: "identity matrix with subsampled red and blue", offset: 0)
        }
    }

    /// Whether the planes are green, blue and red.
    var isIdentity: Bool { matrix == 0 }

    /// The factors of the two colour differences, from -½ to ½, in red, green and blue.
    var weights: [(first: Double, second: Double)]? {
        let red: Double
        let blue: Double
        switch matrix {
        case 1: (red, blue) = (0.2126, 0.0722)
        case 2, 3, 5, 6: (red, blue) = (0.299, 0.114)
        case 4: (red, blue) = (0.30, 0.11)
        case 7: (red, blue) = (0.212, 0.087)
        // Constant luminance (10, 13) is approximated by non-constant luminance.
        case 9, 10: (red, blue) = (0.2627, 0.0593)
        case 12, 13: (red, blue) = Self.luma(of: CICP(primaries: primaries, transfer: 2))
        // YCgCo: the differences are green and orange.
        case 8: return [(-1, 1), (1, 0), (-1, -1)]
        default: return nil
        }
        let green = 1 - red - blue
        guard green > 0 else { return nil }
        return [
            (0, 2 * (1 - red)),
            (-2 * blue * (1 - blue) / green, -2 * red * (1 - red) / green),
            (2 * (1 - blue), 0),
        ]
    }

    /// Returns the weights of red and blue in luminance (H.273, equations 32 to 37).
    private static func luma(of points: CICP) -> (red: Double, blue: Double) {
        let colors = points.chromaticities
        func z(_ point: ColorProfile.Chromaticities.Point) -> Double { 1 - point.x - point.y }
        let (r, g, b, w) = (colors.red, colors.green, colors.blue, colors.white)
        let (zr, zg, zb, zw) = (z(r), z(g), z(b), z(w))
        let divisor =
            w.y
            * (r.x * (g.y * zb - b.y * zg) + g.x * (b.y * zr - r.y * zb)
                + b.x * (r.y * zg - g.y * zr))
        let red =
            r.y
            * (w.x * (g.y * zb - b.y * zg) + w.y * (b.x * zg - g.x * zb)
                + zw * (g.x * b.y - b.x * g.y)) / divisor
        let blue =
            b.y
            * (w.x * (r.y * zg - g.y * zr) + w.y * (g.x * zr - r.x * zg)
                + zw * (r.x * g.y - g.x * r.y)) / divisor
        return (red, blue)
    }
}
#endif
