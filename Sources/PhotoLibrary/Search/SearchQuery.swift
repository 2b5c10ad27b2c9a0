// SPDX-License-Identifier: Apache-2.0

/// What a user typed into the search box: terms that an image must all meet.
///
/// | term | finds |
/// |---|---|
/// | `beach` | a word that begins so in the name, folder, camera, lens, keywords, caption or place |
/// | `camera:canon`, `lens:`, `folder:`, `keyword:`, `caption:`, `place:`, `name:` | the same in one of them |
/// | `format:jpeg`, `rating:3` | the format; at least so many stars |
/// | `is:portrait` | also `landscape`, `square`, `panorama`, `unreadable`, `favourite` |
/// | `2023`, `2023-05`, `2023-05-14`, `2021..2023` | the year, month or day; a range |
/// | `summer 2023`, `may 2023` | a season or month, in English or German; winter ends in the next year |
/// | `near:48.14,11.58,5km` | at most so far from a position, in km or m |
///
/// Quotation marks keep spaces together. A term with an unknown name is searched as words.
struct SearchQuery: Hashable, Sendable {
    /// Words that begin so, in one column of the index or in all that contain text.
    struct Words: Hashable, Sendable {
        let column: String?
        let prefixes: [String]
        /// Whether the words must be complete.
        var isExact = false
    }

    struct Place: Hashable, Sendable {
        /// In degrees north and east.
        let latitude: Double
        let longitude: Double
        /// In metres.
        let radius: Double
    }

    private(set) var words: [Words] = []
    /// Days since 1970; `nil` for all.
    private(set) var days: ClosedRange<Int>?
    private(set) var place: Place?
    /// Whether the terms exclude one another, such as two different years.
    private(set) var isImpossible = false

    static let maximumScalarCount = 500

    var isEmpty: Bool { words.isEmpty && days == nil && place == nil && !isImpossible }

    /// Parses a text, of which ``maximumScalarCount`` code points count.
    init(_ text: String) {
        let terms = Self.terms(String(text.unicodeScalars.prefix(Self.maximumScalarCount)))
        var index = 0
        while index < terms.count {
            let term = terms[index]
            let next = index + 1 < terms.count ? terms[index + 1] : nil
            index += 1
            if let next, let days = DateTerm.days(name: term, year: next) {
                limit(to: days)
                index += 1
            } else if let days = DateTerm.days(term) {
                limit(to: days)
            } else {
                add(term)
            }
        }
    }

    private mutating func limit(to days: ClosedRange<Int>) {
        guard let known = self.days else { return self.days = days }
        if known.overlaps(days) {
            self.days = known.clamped(to: days)
        } else {
            isImpossible = true
        }
    }

    private mutating func add(_ term: String) {
        guard let colon = term.firstIndex(of: ":") else { return addWords(nil, term) }
        let value = String(term[term.index(after: colon)...])
        switch term[..<colon].lowercased() {
        case let name where ["camera", "lens", "folder", "caption", "place", "name"].contains(name):
            addWords(name, value)
        case "keyword", "keywords", "tag": addWords("keyword", value)
        case "format":
            let name = value.lowercased() == "jpg" ? "jpeg" : value.lowercased()
            addWords("kind", Property.formatPrefix + name)
        case "rating":
            guard let stars = Int(value.prefix { $0.isNumber }), (1...5).contains(stars) else {
                return
            }
            words.append(
                Words(
                    column: "kind", prefixes: [Property.ratingPrefix + String(stars)],
                    isExact: true))
        case "is", "orientation": addWords("kind", value)
        case "near":
            if let place = Place(value) { self.place = place } else { isImpossible = true }
        default: addWords(nil, term)
        }
    }

    private mutating func addWords(_ column: String?, _ text: String) {
        let prefixes = Self.words(in: text)
        if !prefixes.isEmpty { words.append(Words(column: column, prefixes: prefixes)) }
    }

    /// Splits a text at spaces outside of quotation marks, which are removed.
    private static func terms(_ text: String) -> [String] {
        var terms: [String] = []
        var term = ""
        var isQuoted = false
        for character in text {
            if character == "\"" {
                isQuoted.toggle()
            } else if character.isWhitespace, !isQuoted {
                if !term.isEmpty { terms.append(term) }
                term = ""
            } else {
                term.append(character)
            }
        }
        return term.isEmpty ? terms : terms + [term]
    }

    /// Splits a text into words as the tokenizer of the index does.
    static func words(in text: String) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isPartOfWord(scalar) {
                word.append(scalar)
            } else if !word.isEmpty {
                words.append(String(word))
                word = String.UnicodeScalarView()
            }
        }
        return word.isEmpty ? words : words + [String(word)]
    }

    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber, .letterNumber, .otherNumber, .privateUse:
            true
        // The diacritics that the tokenizer removes.
        default: (0x300...0x331).contains(scalar.value)
        }
    }
}

extension SearchQuery.Place {
    /// Parses `48.14,11.58,5km`; the distance is 1 km if it is missing.
    fileprivate init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let latitude = Double(parts[0]),
            let longitude = Double(parts[1]), abs(latitude) <= 90, abs(longitude) <= 180
        else { return nil }
        var radius = 1_000.0
        if parts.count == 3 {
            let unit = parts[2].drop { $0.isNumber || $0 == "." }.lowercased()
            guard let number = Double(parts[2].prefix { $0.isNumber || $0 == "." }),
                ["", "km", "m"].contains(unit), number > 0, number.isFinite
            else { return nil }
            radius = unit == "m" ? number : number * 1_000
        }
        self.init(latitude: latitude, longitude: longitude, radius: min(radius, 20_100_000))
    }
}
