// SPDX-License-Identifier: Apache-2.0

#if AVIF || HEIF
    internal import EncodedImages
    internal import Pixels

    /// What the numbers in a video coder's planes mean.
    ///
    /// - SeeAlso: ITU-T H.273, 8.3 (matrix coefficients) and 8.4 (sample position).
    struct PlaneCoding: Hashable {
        enum Chroma: Hashable { case none, full, halfWidth, half }

        var chroma: Chroma
        var bitDepth: Int
        var isFullRange: Bool
        /// The code point of the matrix, and that of the primaries, by which 12 is worked out.
        var matrix: Int
        var primaries: Int
        var alphaBitDepth = 8
        /// Whether colours have been multiplied by alpha.
        var isPremultiplied = false

        /// Planes as JFIF defines them, but for their range.
        var isJFIF: Bool { chroma != .none && [2, 5, 6].contains(matrix) }

        /// Throws ``CodecError/unsupported(feature:)`` if the numbers are not known here.
        func check() throws(CodecError) {
            guard (8...16).contains(bitDepth), (8...16).contains(alphaBitDepth) else {
                throw .unsupported(feature: "samples of \(bitDepth) bits")
            }
            if chroma == .none { return }
            guard weights != nil || isIdentity else {
                throw .unsupported(feature: "the matrix \(matrix) of ITU-T H.273")
            }
            if isIdentity, chroma != .full {
                throw .malformed(reason: "subsampled red and blue", offset: 0)
            }
        }

        /// Whether the planes are green, blue and red.
        var isIdentity: Bool { matrix == 0 }

        /// How much of the two differences goes into red, green and blue, if these run from -½ to ½.
        var weights: [(first: Double, second: Double)]? {
            let red: Double
            let blue: Double
            switch matrix {
            case 1: (red, blue) = (0.2126, 0.0722)
            case 2, 3, 5, 6: (red, blue) = (0.299, 0.114)
            case 4: (red, blue) = (0.30, 0.11)
            case 7: (red, blue) = (0.212, 0.087)
            // Constant luminance (10, 13) is taken as the other kind, which it nearly is.
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

        /// The share of red and blue in luminance (H.273, equations 32 to 37).
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
