// SPDX-License-Identifier: Apache-2.0

/// The reason why an asset catalog cannot be read.
public enum AssetCatalogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file or folder cannot be opened. The owner of the files can act.
    case unreadable(path: String, reason: String)
    /// `Contents.json` is not what the format specifies. The author of the catalog can act.
    case malformed(path: String, reason: String)
    /// Two sets of one kind have the same name. The author of the catalog can act.
    case duplicateName(path: String, other: String)
    /// The catalog exceeds a limit of the reader. The author of the catalog can act.
    case limitExceeded(path: String, reason: String)

    /// The file and the reason, in English.
    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): cannot be read: \(reason)"
        case .malformed(let path, let reason): "\(path): \(reason)"
        case .duplicateName(let path, let other):
            "\(path): same name as \(other); rename one, or provide a namespace"
        case .limitExceeded(let path, let reason): "\(path): limit exceeded: \(reason)"
        }
    }
}
