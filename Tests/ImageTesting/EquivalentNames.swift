// SPDX-License-Identifier: Apache-2.0

/// Groups of names that are canonically equivalent, hence equal to Swift, and are names of different
/// files to every file system that compares bytes.
public enum EquivalentNames {
    public static let groups = [
        // One code point, and a letter with a combining mark.
        ["\u{E9}", "e\u{301}"],
        // The Ångström sign besides.
        ["\u{C5}", "A\u{30A}", "\u{212B}"],
        // A syllable, and the letters that it consists of.
        ["\u{AC00}", "\u{1100}\u{1161}"],
        // The Kelvin sign is no letter K, and the Ohm sign no omega.
        ["K", "\u{212A}"],
        ["\u{3A9}", "\u{2126}"],
        // The order of two marks.
        ["q\u{307}\u{323}", "q\u{323}\u{307}"],
    ]

    public static let all = groups.flatMap(\.self)
}
