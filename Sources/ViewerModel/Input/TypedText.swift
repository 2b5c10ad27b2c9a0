// SPDX-License-Identifier: Apache-2.0

/// The text with which the name of an image starts that the user looks for.
package struct TypedText: Sendable {
    /// The characters that were typed without a pause.
    package private(set) var text = ""
    private var time = -Double.infinity

    /// The pause in seconds after which another text starts.
    private static let pause = 1.5

    /// Creates an empty text.
    package init() {}

    /// Appends a character that was typed at a time in seconds.
    package mutating func append(_ character: Unicode.Scalar, at seconds: Double) {
        if seconds - time > Self.pause { text = "" }
        time = seconds
        text.unicodeScalars.append(character)
    }
}
