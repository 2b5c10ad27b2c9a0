// SPDX-License-Identifier: Apache-2.0

#if HEIF
internal import EncodedImages

/// The items of a file and their coding types.
///
/// - SeeAlso: ISO/IEC 14496-12, 8.11.4 (`pitm`) and 8.11.6 (`iinf`).
enum HEIFItems {
    /// The item types that libheif supports, including derived images.
    private static let known: Set<String> = [
        "hvc1", "av01", "grid", "iden", "iovl",
    ]

    /// Returns the FourCC of the primary item's type if it is not supported.
    static func unknownCodingOfPrimaryItem(_ file: Span<UInt8>) -> String? {
        guard let meta = BoxReader.first("meta", in: 0..<file.count, file),
            meta.start + 4 <= meta.range.upperBound
        else { return nil }
        let body = meta.start + 4..<meta.range.upperBound
        guard let primary = BoxReader.first("pitm", in: body, file),
            let list = BoxReader.first("iinf", in: body, file),
            let version = file.integer(at: primary.start, byteCount: 1),
            let item = file.integer(at: primary.start + 4, byteCount: version == 0 ? 2 : 4),
            let listVersion = file.integer(at: list.start, byteCount: 1)
        else { return nil }
        let start = list.start + (listVersion == 0 ? 6 : 8)
        guard start <= list.range.upperBound else { return nil }
        var reader = BoxReader(start..<list.range.upperBound)
        while let entry = reader.next(file) {
            guard entry.type == "infe",
                let version = file.integer(at: entry.start, byteCount: 1), version >= 2
            else { continue }
            let width = version == 2 ? 2 : 4
            guard file.integer(at: entry.start + 4, byteCount: width) == item else { continue }
            let coding = file.text(at: entry.start + 6 + width, byteCount: 4)
            return known.contains(coding) ? nil : coding
        }
        return nil
    }
}
#endif
