// SPDX-License-Identifier: Apache-2.0

/// Coding-independent code points of a colour space, used by video, AVIF, HEIC, JPEG XL and the PNG
/// chunk `cICP`.
///
/// - SeeAlso: ITU-T H.273, tables 2 (colour primaries) and 3 (transfer characteristics).
public struct CICP: Hashable, Sendable {
    /// The code point of the colour primaries (H.273, table 2).
    public var primaries: Int
    /// The code point of the transfer characteristics (H.273, table 3).
    public var transfer: Int

    /// Creates a pair of code points, without validation.
    public init(primaries: Int, transfer: Int) {
        self.primaries = primaries
        self.transfer = transfer
    }

    /// A transfer function, as far as displayed images differ by it.
    public enum Transfer: Hashable, Sendable {
        /// IEC 61966-2-1. It also replaces the camera curves of BT.709 and its successors, because
        /// software writes and displays such files with sRGB's curve.
        case sRGB
        /// The signal is proportional to light.
        case linear
        /// A power function of the signal with this exponent.
        case power(Double)
        /// SMPTE ST 2084: light in absolute units up to 10,000 cd/m².
        case perceptualQuantizer
        /// ARIB STD-B67, hybrid log-gamma.
        case hybridLogGamma
    }

    /// The transfer function; sRGB's for reserved, unspecified or unknown code points.
    public var curve: Transfer {
        switch transfer {
        case 4: .power(2.2)
        case 5: .power(2.8)
        case 8: .linear
        case 16: .perceptualQuantizer
        case 17: .power(2.6)
        case 18: .hybridLogGamma
        default: .sRGB
        }
    }

    /// The primaries and the white point; sRGB's for reserved, unspecified or unknown code points.
    public var chromaticities: ColorProfile.Chromaticities {
        typealias Point = ColorProfile.Chromaticities.Point
        let daylight = Point(x: 0.3127, y: 0.3290)
        let illuminantC = Point(x: 0.310, y: 0.316)
        let theatre = Point(x: 0.314, y: 0.351)
        func primaries(
            _ white: Point, _ red: (Double, Double), _ green: (Double, Double),
            _ blue: (Double, Double)
        ) -> ColorProfile.Chromaticities {
            ColorProfile.Chromaticities(
                white: white, red: Point(x: red.0, y: red.1),
                green: Point(x: green.0, y: green.1), blue: Point(x: blue.0, y: blue.1))
        }
        return switch self.primaries {
        case 4: primaries(illuminantC, (0.67, 0.33), (0.21, 0.71), (0.14, 0.08))
        case 5: primaries(daylight, (0.64, 0.33), (0.29, 0.60), (0.15, 0.06))
        case 6, 7: primaries(daylight, (0.630, 0.340), (0.310, 0.595), (0.155, 0.070))
        case 8: primaries(illuminantC, (0.681, 0.319), (0.243, 0.692), (0.145, 0.049))
        case 9: primaries(daylight, (0.708, 0.292), (0.170, 0.797), (0.131, 0.046))
        case 11: primaries(theatre, (0.680, 0.320), (0.265, 0.690), (0.150, 0.060))
        case 12: primaries(daylight, (0.680, 0.320), (0.265, 0.690), (0.150, 0.060))
        case 22: primaries(daylight, (0.630, 0.340), (0.295, 0.605), (0.155, 0.077))
        default: .sRGB
        }
    }

    /// The code points with those of sRGB instead of unspecified or reserved ones (0, 2 and 3).
    public var specified: CICP {
        CICP(
            primaries: [0, 2, 3].contains(primaries) ? 1 : primaries,
            transfer: [0, 2, 3].contains(transfer) ? 13 : transfer)
    }

    /// Whether samples are interpreted as sRGB.
    public var isSRGB: Bool { curve == .sRGB && chromaticities == .sRGB }

    /// The common name of the colour space, or those of its primaries and transfer function.
    public var name: String {
        let colors =
            switch primaries {
            case 1: "BT.709"
            case 4: "BT.470 M"
            case 5: "BT.601 625"
            case 6, 7: "BT.601 525"
            case 8: "film"
            case 9: "BT.2020"
            case 10: "XYZ"
            case 11: "DCI P3"
            case 12: "Display P3"
            case 22: "EBU 3213"
            default: "primaries unspecified"
            }
        switch curve {
        case .sRGB: return isSRGB ? "sRGB" : colors
        case .linear: return "\(colors) linear"
        case .power(let exponent): return "\(colors) gamma \(exponent)"
        case .perceptualQuantizer: return "\(colors) PQ"
        case .hybridLogGamma: return "\(colors) HLG"
        }
    }
}
