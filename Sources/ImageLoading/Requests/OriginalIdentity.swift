// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// Which original a picture is made from; an original that changes is another one.
public enum OriginalIdentity: Hashable, Sendable {
    case file(FileIdentity)
    /// What the address leads to, with the fields that are sent in further lines. Its validator
    /// decides, where bytes are kept, whether they are still it.
    case url(String)
    /// Bytes that the program itself has or makes, by a name that is as unique as the bytes.
    case named(String)

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
