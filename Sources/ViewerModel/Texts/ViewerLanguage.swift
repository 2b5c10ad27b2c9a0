// SPDX-License-Identifier: Apache-2.0

/// A language of the texts of the viewer.
package enum ViewerLanguage: CaseIterable, Sendable {
    case english
    case german

    /// Returns the language for a locale of POSIX, such as `de_AT.UTF-8`; English for others.
    package init(locale: String) {
        self = Self.code(locale) == "de" ? .german : .english
    }

    /// Returns whether the language of a locale is written from right to left.
    package static func isRightToLeft(locale: String) -> Bool {
        ["ar", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"].contains(code(locale))
    }

    private static func code(_ locale: String) -> String {
        String(locale.prefix { $0 != "_" && $0 != "." && $0 != "@" && $0 != "-" }).lowercased()
    }
}
