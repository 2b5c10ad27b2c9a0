// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Pixels

/// Red, green and blue in linear light, or the coefficients of a component in them.
struct LinearColor: Hashable {
    private var parts = SIMD3<Double>()

    init() {}

    /// Creates a colour.
    ///
    /// - Parameter code: sRGB in three bytes, red the highest.
    init(_ code: Int) {
        parts = SIMD3(
            Self.linear(code >> 16 & 255), Self.linear(code >> 8 & 255), Self.linear(code & 255))
    }

    /// Creates coefficients.
    ///
    /// - Parameters:
    ///   - code: the coefficients in three digits of base 19, red the highest.
    ///   - scale: the largest absolute coefficient.
    init(wave code: Int, scale: Double) {
        parts = SIMD3(
            Self.strength(code / 361), Self.strength(code / 19 % 19), Self.strength(code % 19))
        parts *= scale
    }

    /// Returns the average colour of an RGB image, then the components, row by row.
    static func waves(of image: PixelBuffer, _ columnCount: Int, _ rowCount: Int) -> [LinearColor] {
        let size = image.size
        let columns = Cosines(columnCount, size.width, offset: 0)
        let rows = Cosines(rowCount, size.height, offset: 0)
        let table = (0..<256).map(linear)
        var waves = [LinearColor](repeating: LinearColor(), count: columnCount * rowCount)
        for y in 0..<size.height {
            var sums = [LinearColor](repeating: LinearColor(), count: columnCount)
            let row = image.row(y)
            for x in 0..<size.width {
                let pixel = SIMD3(
                    table[Int(row[x * 3])], table[Int(row[x * 3 + 1])], table[Int(row[x * 3 + 2])])
                for column in 0..<columnCount { sums[column].parts += pixel * columns[column, x] }
            }
            for index in waves.indices {
                waves[index].add(
                    sums[index % columnCount], weight: rows[index / columnCount, y])
            }
        }
        for index in waves.indices {
            waves[index].parts *= (index == 0 ? 1 : 2) / Double(size.area)
        }
        return waves
    }

    mutating func add(_ other: LinearColor, weight: Double) { parts += other.parts * weight }

    var largestPart: Double { max(abs(parts.x), abs(parts.y), abs(parts.z)) }

    /// The colour as sRGB in three bytes, red the highest.
    var code: Int {
        Self.encoded(parts.x) << 16 | Self.encoded(parts.y) << 8 | Self.encoded(parts.z)
    }

    var encoded: SRGBColor {
        let code = code
        return SRGBColor(
            red: Double(code >> 16) / 255, green: Double(code >> 8 & 255) / 255,
            blue: Double(code & 255) / 255)
    }

    /// The inverse of ``init(wave:scale:)``.
    func waveCode(scale: Double) -> Int {
        func digit(_ part: Double) -> Int {
            let root = abs(part / scale).squareRoot()
            let value = ((part < 0 ? -root : root) * 9 + 9.5).rounded(.down)
            return Int(min(max(value, 0), 18))
        }
        return digit(parts.x) * 361 + digit(parts.y) * 19 + digit(parts.z)
    }

    private static func strength(_ digit: Int) -> Double {
        let value = Double(digit - 9) / 9
        return value < 0 ? -value * value : value * value
    }

    private static func linear(_ byte: Int) -> Double {
        let value = Double(byte) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func encoded(_ part: Double) -> Int {
        // NaN becomes black.
        let value = part > 0 ? min(part, 1) : 0
        let encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
        return Int(encoded * 255 + 0.5)
    }
}
