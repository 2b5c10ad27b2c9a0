// SPDX-License-Identifier: Apache-2.0

/// The colour space of an image's samples.
public enum ColorProfile: Hashable, Sendable {
    /// IEC 61966-2-1; also the default of files that specify no colour space.
    case sRGB
    /// The bytes of an ICC profile.
    case icc([UInt8])
    /// A power curve with three primaries, as specified by PNG's `gAMA` and `cHRM`.
    case calibrated(gamma: Double, Chromaticities)
    /// Code points of ITU-T H.273.
    case coded(CICP)

    /// Whether the samples are sRGB, including ICC profiles that describe sRGB under another name.
    public var isSRGB: Bool {
        switch self {
        case .sRGB: true
        case .icc(let bytes): ICCProfile(bytes)?.isSRGB ?? false
        case .calibrated: false
        case .coded(let points): points.isSRGB
        }
    }

    /// The white point and the primaries in CIE 1931 x and y.
    public struct Chromaticities: Hashable, Sendable {
        /// A chromaticity in the CIE 1931 diagram.
        public struct Point: Hashable, Sendable {
            /// The x coordinate.
            public var x: Double
            /// The y coordinate.
            public var y: Double

            /// Creates a chromaticity from its coordinates.
            public init(x: Double, y: Double) {
                self.x = x
                self.y = y
            }
        }

        /// The white point.
        public var white: Point
        /// The red primary.
        public var red: Point
        /// The green primary.
        public var green: Point
        /// The blue primary.
        public var blue: Point

        /// Creates chromaticities from a white point and three primaries.
        public init(white: Point, red: Point, green: Point, blue: Point) {
            self.white = white
            self.red = red
            self.green = green
            self.blue = blue
        }

        /// The primaries of sRGB and its white point, D65.
        public static let sRGB = Chromaticities(
            white: Point(x: 0.3127, y: 0.3290), red: Point(x: 0.64, y: 0.33),
            green: Point(x: 0.30, y: 0.60), blue: Point(x: 0.15, y: 0.06))
    }
}
