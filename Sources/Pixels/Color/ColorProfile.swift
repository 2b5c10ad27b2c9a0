// SPDX-License-Identifier: Apache-2.0

/// Which colours a picture's numbers stand for.
public enum ColorProfile: Hashable, Sendable {
    /// IEC 61966-2-1; also what a picture without any statement is taken for.
    case sRGB
    /// The bytes of an ICC profile.
    case icc([UInt8])
    /// A pure power curve between three primaries, as PNG's `gAMA` and `cHRM` state it.
    case calibrated(gamma: Double, Chromaticities)
    /// Code points of ITU-T H.273.
    case coded(CICP)

    /// Whether the numbers are those of sRGB, also if a profile says so under another name.
    public var isSRGB: Bool {
        switch self {
        case .sRGB: true
        case .icc(let bytes): ICCProfile(bytes)?.isSRGB ?? false
        case .calibrated: false
        case .coded(let points): points.isSRGB
        }
    }

    /// The white point and the primaries as CIE 1931 x and y.
    public struct Chromaticities: Hashable, Sendable {
        public struct Point: Hashable, Sendable {
            public var x: Double
            public var y: Double

            public init(x: Double, y: Double) {
                self.x = x
                self.y = y
            }
        }

        public var white: Point
        public var red: Point
        public var green: Point
        public var blue: Point

        public init(white: Point, red: Point, green: Point, blue: Point) {
            self.white = white
            self.red = red
            self.green = green
            self.blue = blue
        }

        /// The primaries of sRGB under its white point, D65.
        public static let sRGB = Chromaticities(
            white: Point(x: 0.3127, y: 0.3290), red: Point(x: 0.64, y: 0.33),
            green: Point(x: 0.30, y: 0.60), blue: Point(x: 0.15, y: 0.06))
    }
}
