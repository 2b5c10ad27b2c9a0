// SPDX-License-Identifier: Apache-2.0

/// What the IPTC records of a picture say of it: what the press has always put there.
///
/// Damage is never an error: the fields before it are there.
/// - SeeAlso: IPTC-NAA Information Interchange Model 4.2.
public struct IPTCFields: Hashable, Sendable {
    public var title: String?
    public var headline: String?
    public var caption: String?
    public var captionWriter: String?
    public var keywords: [String] = []
    public var bylines: [String] = []
    public var bylineTitle: String?
    public var copyright: String?
    public var credit: String?
    public var source: String?
    public var instructions: String?
    public var sublocation: String?
    public var city: String?
    public var state: String?
    public var country: String?
    /// Three letters by ISO 3166.
    public var countryCode: String?
    /// When the picture was made.
    public var dateCreated: PhotoDate?

    public init() {}

    /// Reads records that begin with the byte 0x1C each.
    ///
    /// Text is UTF-8 if it is valid as that and no other encoding is stated, otherwise Latin-1. A text
    /// is cut at 65,536 bytes, the texts together at 131,072; of a list 1,000 are kept.
    public init(_ records: [UInt8]) {
        var isLatin1 = false
        var date: String?
        var time: String?
        Self.forEach(records) { number, value in
            let text =
                isLatin1
                ? MetadataText.trimmed(MetadataText.latin1(value)) : MetadataText.decoded(value)
            switch number {
            // ESC % G is how ISO 2022 says UTF-8.
            case (1, 90): isLatin1 = !value.elementsEqual([0x1B, 0x25, 0x47])
            case (2, 5): title = text
            case (2, 25): Self.append(text, to: &keywords)
            case (2, 40): instructions = text
            case (2, 55): date = text
            case (2, 60): time = text
            case (2, 80): Self.append(text, to: &bylines)
            case (2, 85): bylineTitle = text
            case (2, 90): city = text
            case (2, 92): sublocation = text
            case (2, 95): state = text
            case (2, 100): countryCode = text
            case (2, 101): country = text
            case (2, 105): headline = text
            case (2, 110): credit = text
            case (2, 115): source = text
            case (2, 116): copyright = text
            case (2, 120): caption = text
            case (2, 122): captionWriter = text
            default: break
            }
        }
        dateCreated = Self.date(date, time)
        fit()
    }

    private static func append(_ text: String?, to list: inout [String]) {
        if let text, list.count < MetadataText.maximumItemCount { list.append(text) }
    }

    private mutating func fit() {
        var budget = MetadataTextBudget()
        for field in [
            \Self.title, \.headline, \.caption, \.captionWriter, \.bylineTitle, \.copyright,
            \.credit, \.source, \.instructions, \.sublocation, \.city, \.state, \.country,
            \.countryCode,
        ] { budget.fit(&self[keyPath: field]) }
        for list in [\Self.bylines, \.keywords] { budget.fit(&self[keyPath: list]) }
    }

    private static func forEach(
        _ records: [UInt8], _ body: (_ number: (UInt8, UInt8), _ value: ArraySlice<UInt8>) -> Void
    ) {
        var offset = 0
        while offset + 5 <= records.count, records[offset] == 0x1C {
            let number = (records[offset + 1], records[offset + 2])
            var length = Int(records[offset + 3]) << 8 | Int(records[offset + 4])
            offset += 5
            if length & 0x8000 != 0 {
                // The length stands in so many bytes of its own.
                let byteCount = length & 0x7FFF
                guard byteCount <= 4, offset + byteCount <= records.count else { return }
                length = records[offset..<offset + byteCount].reduce(0) { $0 << 8 | Int($1) }
                offset += byteCount
            }
            guard length <= records.count - offset else { return }
            body(number, records[offset..<offset + length])
            offset += length
        }
    }

    /// `20240229` and `235959+0200` as one date.
    private static func date(_ date: String?, _ time: String?) -> PhotoDate? {
        guard let date = date.map({ Array($0.utf8) }), date.count == 8 else { return nil }
        let text = { (bytes: ArraySlice<UInt8>) in String(decoding: bytes, as: UTF8.self) }
        var parts = "\(text(date[0..<4])):\(text(date[4..<6])):\(text(date[6..<8]))"
        var offset: String?
        if let time = time.map({ Array($0.utf8) }), time.count >= 6 {
            parts += " \(text(time[0..<2])):\(text(time[2..<4])):\(text(time[4..<6]))"
            if time.count == 11 { offset = "\(text(time[6..<9])):\(text(time[9..<11]))" }
        }
        return PhotoDate(exif: parts, offset: offset)
    }
}
