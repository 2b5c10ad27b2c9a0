// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages

/// What a client may see.
enum Permission: Hashable, Sendable {
    case everything
    /// A folder and all below it, for clients with a link to it.
    case folder(SharedFolder)

    /// The names of the folders from the served one to a shared one; not empty.
    struct SharedFolder: Hashable, Sendable {
        let names: [ComparedByBytes]

        init?(_ names: [String]) {
            guard !names.isEmpty, names.allSatisfy(RequestPath.isServed) else { return nil }
            self.names = names.map { ComparedByBytes($0) }
        }

        /// Whether a path begins with the names.
        func contains(_ path: some Collection<String>) -> Bool {
            path.prefix(names.count).map { ComparedByBytes($0) } == names
        }
    }

    /// Whether a file or folder may be seen.
    func allows(_ path: some Collection<String>) -> Bool {
        switch self {
        case .everything: true
        case .folder(let folder): folder.contains(path)
        }
    }

    /// Whether a request may be answered, by its path alone.
    ///
    /// A route that is not listed is none for guests.
    ///
    /// - Parameters:
    ///   - segments: the decoded segments of the path; none for an invalid one.
    ///   - isPage: whether the path is that of the gallery page.
    /// - Returns: `false` for what a guest may not see.
    func allows(requestFor segments: [String], isPage: Bool) -> Bool {
        guard case .folder = self else { return true }
        switch segments.first {
        case nil: return isPage
        case "-":
            switch segments.dropFirst().first {
            case "listing": return allows(segments.dropFirst(2))
            // The order of a download is checked by its route.
            case "download": return true
            default: return false
            }
        case "info", "tiles", "placeholder": return allows(segments.dropFirst())
        case "sprite": return allows(segments.dropFirst(2))
        default:
            // Other prefixes are no folders that can be shared.
            return allows(segments)
        }
    }
}
