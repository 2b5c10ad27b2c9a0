// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Identifies an original in memory; a changed file is another original.
public enum OriginalIdentity: Hashable, Sendable {
    /// A version of a file.
    case file(FileIdentity)
    /// A URL, followed by one line for each field of the request. Where bytes are stored, the
    /// validator of the response identifies their version.
    case url(String)
    /// Bytes that the program has in memory or loads itself, by a name that is unique to the bytes.
    case named(String)

    /// Compares texts by bytes, not canonically.
    public static func == (one: OriginalIdentity, other: OriginalIdentity) -> Bool {
        switch (one, other) {
        case (.file(let one), .file(let other)): one == other
        case (.url(let one), .url(let other)), (.named(let one), .named(let other)):
            one.hasSameBytes(as: other)
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .file(let file): hasher.combine(file)
        case .url(let text), .named(let text): hasher.combine(ComparedByBytes(text))
        }
    }
}
