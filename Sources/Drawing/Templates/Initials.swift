// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The first letters of the first and the last word of a name.
public struct Initials: Hashable, Sendable {
    /// At most two letters in upper case.
    public let text: String

    /// Takes the letters from a name.
    ///
    /// A letter has at most eight scalars, since combining marks are not limited.
    public init(of name: String) {
        let words = name.split { $0.isWhitespace || $0 == "-" || $0 == "_" || $0 == "." }
        let ends = words.count > 1 ? [words.first, words.last] : [words.first]
        text = ends.compactMap { word in
            let letter = word?.first { $0.isLetter || $0.isNumber } ?? word?.first
            return letter.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(8))) }
        }.joined().uppercased()
    }

    /// Returns a colour that is the same for equal names, and on which white is legible.
    public static func color(of name: String) -> SRGBColor {
        // FNV-1a: Swift's hash values differ between processes.
        var hash: UInt32 = 2_166_136_261
        for byte in name.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        let colors = [
            "#b3261e", "#a03a00", "#7a5b00", "#4b6a00", "#1b6e3c", "#006a6a", "#00639b",
            "#3f51b5", "#6750a4", "#8e3a8f", "#a8325e", "#5d5e6b",
        ]
        return SRGBColor(hexadecimal: colors[Int(hash % UInt32(colors.count))]) ?? .black
    }
}

extension DrawingContext {
    /// Draws initials in the middle of a rectangle.
    ///
    /// - Parameters:
    ///   - initials: the letters.
    ///   - box: the rectangle.
    ///   - font: a font description without a size.
    ///   - paint: the colours.
    /// - Throws: ``DrawingError`` if fonts are missing.
    public mutating func draw(
        _ initials: Initials, in box: SampleRegion, font: String = "Sans Bold",
        _ paint: Paint = .color(.white)
    ) throws(DrawingError) {
        guard !initials.text.isEmpty else { return }
        let size = min(max(min(box.width, box.height) * 0.42, 1), TextLayout.maximumFontSize)
        let layout = TextLayout(initials.text, font: .named(font, size: size), lines: 1)
        let extents = try measure(layout)
        // Letters have no descenders: their ink is centred, not their line.
        try draw(
            layout,
            at: Point(
                box.x + box.width / 2 - extents.ink.x - extents.ink.width / 2,
                box.y + box.height / 2 - extents.ink.y - extents.ink.height / 2),
            paint)
    }
}
