// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
public import Pixels

/// The colour space in which a drawing is composited.
enum WorkingSpace: Hashable, Sendable {
    case sRGB
    case displayP3

    var profile: ColorProfile { self == .sRGB ? .sRGB : .displayP3 }

    /// Returns the premultiplied components of a colour, clamped to the space.
    func premultiplied(_ color: SRGBColor) -> SIMD4<Float> {
        var components = SIMD3(color.red, color.green, color.blue)
        if self == .displayP3 {
            components = ColorConversion.toDisplayP3.converted(components)
        }
        let alpha = min(max(color.alpha, 0), 1)
        let clamped = components.clamped(lowerBound: .zero, upperBound: .one) * alpha
        return SIMD4(SIMD4(clamped, alpha))
    }
}

extension ColorProfile {
    /// Display P3: the primaries of DCI P3 with the white point and the curve of sRGB.
    public static let displayP3 = ColorProfile.coded(CICP(primaries: 12, transfer: 13))

    /// Whether the profile is ``displayP3`` by its code points.
    var isDisplayP3: Bool {
        guard case .coded(let points) = self else { return false }
        return points.curve == .sRGB && points.specified.primaries == 12
    }
}

extension SRGBColor {
    /// Creates a colour from its components in Display P3; outside of sRGB they are below 0 or above 1.
    public init(displayP3 red: Double, green: Double, blue: Double, alpha: Double = 1) {
        let color = ColorConversion.toSRGB.converted(SIMD3(red, green, blue))
        self.init(red: color.x, green: color.y, blue: color.z, alpha: alpha)
    }

    /// Black.
    public static let black = SRGBColor(red: 0, green: 0, blue: 0)
    /// White.
    public static let white = SRGBColor(red: 1, green: 1, blue: 1)
    /// Transparent black.
    public static let clear = SRGBColor(red: 0, green: 0, blue: 0, alpha: 0)

    /// Returns the colour with its opacity multiplied.
    public func opacity(_ factor: Double) -> SRGBColor {
        SRGBColor(red: red, green: green, blue: blue, alpha: alpha * factor)
    }

    /// Whether a component is outside of sRGB by more than an eighth of an 8-bit level.
    var isOutsideSRGB: Bool {
        [red, green, blue].contains { $0 < -0.0005 || $0 > 1.0005 }
    }
}

/// A conversion between sRGB and Display P3, which have the same curve and white point.
struct ColorConversion {
    private let columns: [SIMD3<Double>]
    private let light: [Float]
    private let signal: [Float]

    private static let steps = 4096

    // From the chromaticities of SMPTE EG 432-1 and IEC 61966-2-1.
    static let toDisplayP3 = ColorConversion([
        SIMD3(0.822_461_97, 0.033_194_20, 0.017_082_63),
        SIMD3(0.177_538_03, 0.966_805_80, 0.072_397_44),
        SIMD3(0, 0, 0.910_519_93),
    ])
    static let toSRGB = ColorConversion([
        SIMD3(1.224_940_18, -0.042_056_96, -0.019_637_55),
        SIMD3(-0.224_940_18, 1.042_056_96, -0.078_636_04),
        SIMD3(0, 0, 1.098_273_59),
    ])

    private init(_ columns: [SIMD3<Double>]) {
        self.columns = columns
        let curve = TransferCurve(.sRGB)
        light = (0...Self.steps).map { Float(curve.light(Double($0) / Double(Self.steps))) }
        // By the square root of light, since the curve is steep at black.
        signal = (0...Self.steps).map {
            let root = Double($0) / Double(Self.steps)
            return Float(Self.signal(root * root))
        }
    }

    /// Returns a colour, which may be outside of both spaces.
    func converted(_ color: SIMD3<Double>) -> SIMD3<Double> {
        let curve = TransferCurve(.sRGB)
        func light(_ value: Double) -> Double {
            value < 0 ? -curve.light(-value) : curve.light(value)
        }
        func encoded(_ value: Double) -> Double {
            value < 0 ? -Self.signal(-value) : Self.signal(value)
        }
        let sum =
            columns[0] * light(color.x) + columns[1] * light(color.y) + columns[2] * light(color.z)
        return SIMD3(encoded(sum.x), encoded(sum.y), encoded(sum.z))
    }

    /// Converts premultiplied pixels; colours are clamped to 0...1.
    func convert(_ row: inout [SIMD4<Float>], count: Int) {
        let matrix = columns.map { SIMD4<Float>(SIMD4($0, 0)) }
        for x in 0..<count where row[x].w > 0 {
            let pixel = row[x]
            let straight = pixel.w == 1 ? pixel : pixel / pixel.w
            let sum =
                matrix[0] * Self.value(light, straight.x)
                + matrix[1] * Self.value(light, straight.y)
                + matrix[2] * Self.value(light, straight.z)
            let roots = pointwiseMax(sum, .zero).squareRoot()
            let result = SIMD4(
                Self.value(signal, roots.x), Self.value(signal, roots.y),
                Self.value(signal, roots.z), 1)
            row[x] = result * pixel.w
        }
    }

    @inline(__always)
    private static func value(_ table: [Float], _ position: Float) -> Float {
        let place = min(max(position, 0), 1) * Float(steps)
        let index = min(Int(place), steps - 1)
        return table[index] + (table[index + 1] - table[index]) * (place - Float(index))
    }

    /// Returns the signal of light by the curve of sRGB.
    private static func signal(_ light: Double) -> Double {
        light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}
