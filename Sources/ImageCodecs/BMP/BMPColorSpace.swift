// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The colour space of version 4 and 5 headers.
enum BMPColorSpace {
    /// Returns the colour profile that a header specifies.
    ///
    /// - Parameters:
    ///   - file: the whole file, or its start.
    ///   - start: the offset of the bitmap header.
    ///   - headerByteCount: 108 or 124.
    ///   - statedByteCount: the file size in the file header.
    ///   - limits: the limit of the profile's size.
    /// - Returns: sRGB if the colour space is missing or invalid, or the profile is in another file.
    /// - Throws: ``CodecError/truncated(byteCount:)`` if the profile is beyond the end of the file.
    static func profile(
        _ file: Span<UInt8>, at start: Int, _ headerByteCount: Int, statedByteCount: Int,
        limits: DecodeLimits
    ) throws(CodecError) -> ColorProfile {
        let type = file.littleEndian32(at: start + 56) ?? 0
        if type == 0 { return calibrated(file, at: start) }
        guard type == embedded, headerByteCount >= 124,
            let offset = file.littleEndian32(at: start + 112).map(Int.init),
            let count = file.littleEndian32(at: start + 116).map(Int.init), count > 0
        else { return .sRGB }
        guard limits.allowsProfile(byteCount: count) else { return .sRGB }
        let range = start + offset..<start + offset + count
        guard range.upperBound <= file.count else {
            // An invalid offset does not prevent decoding; a truncated file may still grow.
            if file.count < statedByteCount { throw .truncated(byteCount: file.count) }
            return .sRGB
        }
        let bytes = range.map { file[$0] }
        return ICCProfile(bytes) == nil ? .sRGB : .icc(bytes)
    }

    /// `PROFILE_EMBEDDED`: “MBED” as a multi-character literal.
    static let embedded: UInt32 = 0x4D42_4544
    /// `LCS_sRGB`: “sRGB” likewise.
    static let sRGB: UInt32 = 0x7352_4742

    /// Returns the profile of `LCS_CALIBRATED_RGB`: primaries as CIE XYZ in 2.30 fixed point, then
    /// the exponents of red, green and blue in 16.16.
    private static func calibrated(_ file: Span<UInt8>, at start: Int) -> ColorProfile {
        let points = (0..<3).map { primary in
            (0..<3).map { axis in
                let offset = start + 60 + primary * 12 + axis * 4
                return Double(Int32(truncatingIfNeeded: file.littleEndian32(at: offset) ?? 0))
                    / Double(1 << 30)
            }
        }
        let sums = points.map { $0.reduce(0, +) }
        guard sums.allSatisfy({ $0 > 0.01 }), points.allSatisfy({ $0.allSatisfy { $0 >= 0 } })
        else { return .sRGB }
        // Most encoders write chromaticities here, whose sum is 1 and which do not specify white.
        let areChromaticities = sums.allSatisfy { abs($0 - 1) < 0.01 }
        let white = (0..<3).map { axis in points.reduce(0) { $0 + $1[axis] } }
        let total = white.reduce(0, +)
        let chromaticities = zip(points, sums).map { point, sum in
            ColorProfile.Chromaticities.Point(x: point[0] / sum, y: point[1] / sum)
        }
        let primaries = ColorProfile.Chromaticities(
            white: areChromaticities
                ? ColorProfile.Chromaticities.sRGB.white
                : .init(x: white[0] / total, y: white[1] / total),
            red: chromaticities[0], green: chromaticities[1], blue: chromaticities[2])
        let exponents = (0..<3).map { index in
            Double(file.littleEndian32(at: start + 96 + index * 4) ?? 0) / 65536
        }
        var gamma = exponents.reduce(0, +) / 3
        guard gamma > 0.1, gamma < 10 else { return .sRGB }
        // Some encoders write the encoding exponent.
        if gamma < 1 { gamma = 1 / gamma }
        let points2 = [primaries.red, primaries.green, primaries.blue, primaries.white]
        guard points2.allSatisfy({ $0.x > 0 && $0.y > 0 && $0.x < 1 && $0.y < 1 }) else {
            return .sRGB
        }
        let standard = ColorProfile.Chromaticities.sRGB
        let isStandard = zip(
            points2, [standard.red, standard.green, standard.blue, standard.white]
        ).allSatisfy { abs($0.x - $1.x) < 0.006 && abs($0.y - $1.y) < 0.006 }
        return abs(gamma - 2.2) < 0.02 && isStandard ? .sRGB : .calibrated(gamma: gamma, primaries)
    }
}
