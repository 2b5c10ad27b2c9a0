// SPDX-License-Identifier: Apache-2.0

/// The fields of the IPTC records of an image, in which the press describes it.
///
/// Damage is never an error: the fields before it are returned.
/// - SeeAlso: IPTC-NAA Information Interchange Model 4.2, whose datasets are cited by number.
public struct IPTCFields: Hashable, Sendable {
    /// The short name of the image (2:05).
    public var title: String?
    /// A synopsis of the contents (2:105).
    public var headline: String?
    /// The description of the image (2:120).
    public var caption: String?
    /// The author of the caption (2:122).
    public var captionWriter: String?
    /// The keywords for search (2:25), at most 1,000.
    public var keywords: [String] = []
    /// The names of the creators (2:80), at most 1,000.
    public var bylines: [String] = []
    /// The job title of the creator (2:85).
    public var bylineTitle: String?
    /// The copyright notice (2:116).
    public var copyright: String?
    /// The provider of the image (2:110).
    public var credit: String?
    /// The original owner of the image (2:115).
    public var source: String?
    /// The instructions for use (2:40).
    public var instructions: String?
    /// The location within the city (2:92).
    public var sublocation: String?
    /// The city (2:90).
    public var city: String?
    /// The province or state (2:95).
    public var state: String?
    /// The name of the country (2:101).
    public var country: String?
    /// The country code of three letters by ISO 3166 (2:100).
    public var countryCode: String?
    /// The date and time at which the image was created (2:55 and 2:60).
    public var dateCreated: PhotoDate?

    /// No fields.
    public init() {}

    /// Reads records, each of which begins with the byte 0x1C.
    ///
    /// Text is UTF-8 if it is valid UTF-8 and no other encoding is stated, otherwise Latin-1. A text
    /// is cut at 65,536 bytes, all texts together at 131,072; a list at 1,000 items.
    public init(_ records: [UInt8]) {
        var isLatin1 = false
        var date: String?
        var time: String?
        Self.forEach(records) { number, value in
            let text =
                isLatin1
                ? MetadataText.trimmed(MetadataText.latin1(value)) : MetadataText.decoded(value)
            switch number {
            // ESC % G selects UTF-8 in ISO 2022.
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
        fitTexts()
    }

    private static func append(_ text: String?, to list: inout [String]) {
        if let text, list.count < MetadataText.maximumItemCount { list.append(text) }
    }

    private mutating func fitTexts() {
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
        let bytes = records.span
        var offset = 0
        while offset + 5 <= records.count, records[offset] == 0x1C {
            let number = (records[offset + 1], records[offset + 2])
            var length = bytes.bigEndian(at: offset + 3, byteCount: 2)
            offset += 5
            if length & 0x8000 != 0 {
                // An extended dataset: so many bytes of its own contain the length.
                let byteCount = length & 0x7FFF
                guard byteCount <= 4, let extended = bytes.integer(at: offset, byteCount: byteCount)
                else { return }
                length = extended
                offset += byteCount
            }
            guard length <= records.count - offset else { return }
            body(number, records[offset..<offset + length])
            offset += length
        }
    }

    /// Joins a date such as `20240229` and a time such as `235959+0200`.
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
