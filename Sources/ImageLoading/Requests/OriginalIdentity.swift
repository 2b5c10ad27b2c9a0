// SPDX-License-Identifier: Apache-2.0

/// Which original a picture is made from; an original that changes is another one.
public enum OriginalIdentity: Hashable, Sendable {
    case file(FileIdentity)
    /// What the address leads to, with the fields that are sent in further lines. Its validator
    /// decides, where bytes are kept, whether they are still it.
    case url(String)
    /// Bytes that the program itself has or makes, by a name that is as unique as the bytes.
    case named(String)
}
