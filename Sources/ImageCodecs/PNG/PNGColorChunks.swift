// SPDX-License-Identifier: Apache-2.0

#if PNG
internal import EncodedImages
internal import Pixels

/// The chunks that state the colour space of the samples.
///
/// Code points are written twice: as `cICP`, which has priority where it is supported, and as the
/// generated profile in `iCCP` for programs that predate the third edition of the specification.
struct PNGColorChunks {
    /// The profile of `iCCP`; empty without one.
    let profile: [UInt8]
    /// The other chunks.
    let others: [(type: String, body: [UInt8])]

    init(_ profile: ColorProfile, isGray: Bool) {
        if case .calibrated(let gamma, let chromaticities) = profile,
            let chunks = Self.chunks(gamma: gamma, chromaticities)
        {
            self.profile = []
            others = chunks
            return
        }
        self.profile = profile.iccBytes(isGray: isGray) ?? []
        if case .coded(let points) = profile, !points.isSRGB,
            let primaries = UInt8(exactly: points.specified.primaries),
            let transfer = UInt8(exactly: points.specified.transfer)
        {
            // RGB in full range.
            others = [("cICP", [primaries, transfer, 0, 1])]
        } else {
            others = []
        }
    }

    /// Returns the code points of a `cICP` chunk; `nil` unless it states RGB in full range.
    static func codePoints(_ body: Span<UInt8>) -> CICP? {
        guard body.count == 4, body[2] == 0, body[3] == 1 else { return nil }
        return CICP(primaries: Int(body[0]), transfer: Int(body[1]))
    }

    /// Returns `gAMA` and `cHRM`; `nil` if a value is out of range.
    private static func chunks(
        gamma: Double, _ chromaticities: ColorProfile.Chromaticities
    ) -> [(type: String, body: [UInt8])]? {
        let points = [
            chromaticities.white, chromaticities.red, chromaticities.green, chromaticities.blue,
        ]
        let values = [1 / gamma] + points.flatMap { [$0.x, $0.y] }
        let fields = values.compactMap { Int32(exactly: ($0 * 100_000).rounded()) }
        guard fields.count == values.count, fields.allSatisfy({ $0 >= 0 }), fields[0] > 0 else {
            return nil
        }
        let bytes = fields.map { [UInt8](Int($0), byteCount: 4, .bigEndian) }
        return [("gAMA", bytes[0]), ("cHRM", Array(bytes[1...].joined()))]
    }
}
#endif
