// SPDX-License-Identifier: Apache-2.0

/// Groups of canonically equivalent names: equal as Swift strings, but names of different files in
/// file systems that compare bytes.
public enum EquivalentNames {
    public static let groups = [
        // One code point, and a letter with a combining mark.
        ["\u{E9}", "e\u{301}"],
        // In addition, the Ångström sign.
        ["\u{C5}", "A\u{30A}", "\u{212B}"],
        // A Hangul syllable and its letters.
        ["\u{AC00}", "\u{1100}\u{1161}"],
        // The Kelvin sign and the letter K, the Ohm sign and omega.
        ["K", "\u{212A}"],
        ["\u{3A9}", "\u{2126}"],
        // Two combining marks in different order.
        ["q\u{307}\u{323}", "q\u{323}\u{307}"],
    ]

    public static let all = groups.flatMap(\.self)
}
