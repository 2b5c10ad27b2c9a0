// SPDX-License-Identifier: Apache-2.0

/// A text with its font, and how its lines are broken.
public struct TextLayout: Hashable, Sendable {
    /// A family and style at a size.
    public struct Font: Hashable, Sendable {
        /// A Pango font description without a size, such as `Inter Bold`.
        public var name: String
        /// The size of an em in pixels.
        public var size: Double

        /// Returns a font; a family that is missing is substituted.
        public static func named(_ name: String, size: Double) -> Font {
            Font(name: name, size: size)
        }
    }

    /// The position of lines that are shorter than the width.
    public enum Alignment: Int32, Hashable, Sendable {
        /// Where the direction of the text begins: left for Latin, right for Arabic.
        case start
        /// In the middle.
        case center
        /// Where the direction of the text ends.
        case end
    }

    /// What happens if the text is larger than its limits.
    public enum Overflow: Hashable, Sendable {
        /// Lines beyond the limits are not drawn.
        case clip
        /// The last line ends with an ellipsis.
        case ellipsis
        /// The font is reduced to this size at least, then the text ends with an ellipsis.
        case shrinking(to: Double)
    }

    /// The largest number of characters of a text; the rest is not drawn.
    public static let maximumCharacterCount = 4096

    /// The text; each line break starts a line.
    public var text: String
    /// The font.
    public var font: Font
    /// The width in pixels at which lines are broken; `nil` if they are not.
    public var width: Double?
    /// The largest number of lines; `nil` for no limit.
    public var lineLimit: Int?
    /// The largest height of all lines in pixels, at least one of which is drawn; `nil` for no limit.
    public var height: Double?
    /// What happens if the text is larger.
    public var overflow: Overflow
    /// The position of short lines.
    public var alignment: Alignment
    /// The distance of baselines as a multiple of the height of the font, the same for all lines; `nil`
    /// for the height of each line, which is larger if it contains taller characters of other fonts.
    public var lineSpacing: Double?
    /// The additional distance of letters in pixels.
    public var letterSpacing: Double
    /// The language as of BCP 47, which selects forms of letters and fonts.
    public var language: String

    /// Creates a text; lengths are in pixels.
    public init(
        _ text: String, font: Font, width: Double? = nil, lines: Int? = nil,
        height: Double? = nil, fits overflow: Overflow = .ellipsis,
        alignment: Alignment = .start, lineSpacing: Double? = nil, letterSpacing: Double = 0,
        language: String = "en"
    ) {
        self.text = text
        self.font = font
        self.width = width
        self.lineLimit = lines
        self.height = height
        self.overflow = overflow
        self.alignment = alignment
        self.lineSpacing = lineSpacing
        self.letterSpacing = letterSpacing
        self.language = language
    }

    /// Whether an ellipsis ends a text that is too long, which needs a width.
    var isEllipsized: Bool { overflow != .clip && width != nil }

    /// The smallest size of the font; `nil` if it is not reduced.
    var smallestSize: Double? {
        guard case .shrinking(let size) = overflow else { return nil }
        return max(1, size)
    }

    /// The text with each line break as U+2028, since limits of lines apply to a paragraph, without
    /// control characters and beyond the limit.
    var drawableText: String {
        var limit = Self.maximumCharacterCount
        if let lineLimit, let width, lineLimit < limit {
            // The narrowest letters are a quarter of an em; marks without a width need room as well.
            let ems = min(width / (smallestSize ?? font.size), 1e4)
            limit = min(limit, lineLimit * (64 + Int(ems * 16)))
        }
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars.prefix(limit) {
            switch scalar {
            case "\n" where previous == "\r": break
            case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": result.append("\u{2028}")
            case "\t", "\0"..."\u{1F}", "\u{7F}"..."\u{9F}": result.append(" ")
            default: result.append(scalar)
            }
            previous = scalar
        }
        return String(result)
    }
}
