// SPDX-License-Identifier: Apache-2.0

/// The header and tags of an ICC profile, parsed without a colour library.
///
/// - SeeAlso: ICC.1:2022, sections 7.2 (header), 7.3 (tag table), 9 and 10 (tags and their types).
public struct ICCProfile: Sendable {
    /// The signature of the data colour space, such as `RGB `, `GRAY` or `CMYK`.
    public let colorSpace: String
    private let bytes: [UInt8]
    private let tags: [String: Range<Int>]
    /// The maximum number of bytes of the description that are read.
    private static let maximumNameCount = 1000

    /// Parses the header and the tag table; returns `nil` if the bytes are not an ICC profile.
    ///
    /// Tags that exceed the profile are ignored.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= 132, Self.text(bytes, 36, 4) == "acsp" else { return nil }
        let count = Self.integer(bytes, 128)
        guard count <= 1_000, bytes.count >= 132 + count * 12 else { return nil }
        var tags: [String: Range<Int>] = [:]
        for index in 0..<count {
            let entry = 132 + index * 12
            let start = Self.integer(bytes, entry + 4)
            let length = Self.integer(bytes, entry + 8)
            guard length >= 8, start + length <= bytes.count else { continue }
            tags[Self.text(bytes, entry, 4)] = start..<start + length
        }
        self.bytes = bytes
        self.tags = tags
        colorSpace = Self.text(bytes, 16, 4)
    }

    /// The text of the tag `desc`, at most 1000 bytes of it, or `nil` if it is absent or invalid.
    public var description: String? {
        guard let tag = tags["desc"] else { return nil }
        switch Self.text(bytes, tag.lowerBound, 4) {
        case "desc" where tag.count > 12:
            let count = Self.integer(bytes, tag.lowerBound + 8)
            guard count > 0, count <= tag.count - 12 else { return nil }
            let text = bytes[tag.lowerBound + 12..<tag.lowerBound + 12 + count]
                .prefix(Self.maximumNameCount)
            return Self.printable(String(decoding: text.prefix { $0 != 0 }, as: UTF8.self))
        case "mluc" where tag.count >= 28:
            let count = Self.integer(bytes, tag.lowerBound + 20)
            let start = Self.integer(bytes, tag.lowerBound + 24)
            guard count > 0, start + count <= tag.count else { return nil }
            let units = stride(from: 0, to: min(count - 1, Self.maximumNameCount), by: 2).map {
                UInt16(bytes[tag.lowerBound + start + $0]) << 8
                    | UInt16(bytes[tag.lowerBound + start + $0 + 1])
            }
            return Self.printable(String(decoding: units.prefix { $0 != 0 }, as: UTF16.self))
        default:
            return nil
        }
    }

    /// Returns the name with spaces instead of control characters.
    private static func printable(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }

    /// Whether the primaries and the curve are those of IEC 61966-2-1, whatever the profile's name.
    ///
    /// Conversion to sRGB would then change no 8-bit sample by more than 1.
    public var isSRGB: Bool {
        // Columns of the matrix to the profile connection space, adapted to D50.
        let primaries: [(String, [Double])] = [
            ("rXYZ", [0.4361, 0.2225, 0.0139]), ("gXYZ", [0.3851, 0.7169, 0.0971]),
            ("bXYZ", [0.1431, 0.0606, 0.7141]),
        ]
        guard colorSpace == "RGB ", tags["A2B0"] == nil else { return false }
        for (name, expected) in primaries {
            guard let value = colorant(name) else { return false }
            for index in 0..<3 where abs(value[index] - expected[index]) >= 0.0015 { return false }
        }
        return ["rTRC", "gTRC", "bTRC"].allSatisfy { name in tags[name].map(isSRGBCurve) ?? false }
    }

    /// The matrix from linear RGB to CIE XYZ that is adapted to D50; `nil` unless the profile has one.
    var connectionMatrix: Matrix3? {
        guard colorSpace == "RGB ", let red = colorant("rXYZ"), let green = colorant("gXYZ"),
            let blue = colorant("bXYZ")
        else { return nil }
        return Matrix3(red, green, blue)
    }

    /// Returns the CIE XYZ of a primary (ICC.1 10.31).
    private func colorant(_ name: String) -> SIMD3<Double>? {
        guard let tag = tags[name], tag.count >= 20 else { return nil }
        let start = tag.lowerBound + 8
        return SIMD3(fixed(start), fixed(start + 4), fixed(start + 8))
    }

    private func isSRGBCurve(_ tag: Range<Int>) -> Bool {
        switch Self.text(bytes, tag.lowerBound, 4) {
        case "para" where tag.count >= 12 + 5 * 4:
            let type = Int(bytes[tag.lowerBound + 8]) << 8 | Int(bytes[tag.lowerBound + 9])
            let expected = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
            return type == 3
                && expected.indices.allSatisfy {
                    abs(fixed(tag.lowerBound + 12 + $0 * 4) - expected[$0]) < 0.0005
                }
        case "curv" where tag.count >= 12:
            let count = Self.integer(bytes, tag.lowerBound + 8)
            guard count >= 256, tag.count >= 12 + count * 2 else { return false }
            // sRGB's curve at 0.25, 0.5 and 0.75.
            return [(0.25, 0.05088), (0.5, 0.21404), (0.75, 0.52252)].allSatisfy { x, expected in
                let position = x * Double(count - 1)
                let low = Int(position)
                let value = { (index: Int) in
                    let offset = tag.lowerBound + 12 + index * 2
                    return Double(Int(bytes[offset]) << 8 | Int(bytes[offset + 1])) / 65535
                }
                let fraction = position - Double(low)
                let interpolated =
                    value(low) * (1 - fraction) + value(min(low + 1, count - 1)) * fraction
                return abs(interpolated - expected) < 0.0015
            }
        default:
            return false
        }
    }

    /// Returns the s15Fixed16Number at an offset (ICC.1 section 4.6).
    private func fixed(_ offset: Int) -> Double {
        Double(Int32(truncatingIfNeeded: Self.integer(bytes, offset))) / 65536
    }

    private static func integer(_ bytes: [UInt8], _ offset: Int) -> Int {
        (0..<4).reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
    }

    private static func text(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> String {
        String(decoding: bytes[offset..<offset + count], as: UTF8.self)
    }
}
