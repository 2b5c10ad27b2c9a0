// SPDX-License-Identifier: Apache-2.0

public import EncodedImages

/// The reason why an asset catalog cannot be read.
public enum AssetCatalogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file or folder cannot be opened. The owner of the files can act.
    case unreadable(path: String, reason: String)
    /// `Contents.json` or a compiled file is not what the format specifies. The author of the catalog can
    /// act, or the operator, by compiling it again.
    case malformed(path: String, reason: String)
    /// Two sets of one kind have the same name. The author of the catalog can act.
    case duplicateName(path: String, other: String)
    /// The catalog exceeds a limit of the reader. The author of the catalog can act.
    case limitExceeded(path: String, reason: String)
    /// The image of a slot cannot be decoded or encoded; `reason` states who can act.
    case image(path: String, reason: CodecError)
    /// The file needs a feature that is not supported. Calotype's developers can act.
    case unsupported(path: String, feature: String)

    /// The reason in English, without the file.
    public var reason: String {
        switch self {
        case .unreadable(_, let reason): "cannot be read: \(reason)"
        case .malformed(_, let reason): reason
        case .duplicateName(_, let other):
            "same name as \(other); rename one, or provide a namespace"
        case .limitExceeded(_, let reason): "limit exceeded: \(reason)"
        case .image(_, let reason): "\(reason)"
        case .unsupported(_, let feature): "not supported: \(feature)"
        }
    }

    /// The file and the reason, in English.
    public var description: String {
        switch self {
        case .unreadable(let path, _), .malformed(let path, _), .duplicateName(let path, _),
            .limitExceeded(let path, _), .image(let path, _), .unsupported(let path, _):
            "\(path): \(reason)"
        }
    }
}
