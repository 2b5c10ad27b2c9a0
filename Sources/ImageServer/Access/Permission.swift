// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import PhotoLibrary

/// What a client may see.
enum Permission: Hashable, Sendable {
    case everything
    /// A folder and all below it, for clients with a link to it.
    case folder(SharedFolder)
    /// Some images, for clients with a link to a selection.
    case images(SharedImages)

    /// The images of a selection.
    struct SharedImages: Hashable, Sendable {
        let selection: ImageSelection
        private let paths: Set<ComparedByBytes>

        init(_ selection: ImageSelection) {
            paths = Set(selection.paths.map { ComparedByBytes($0) })
            self.selection = selection
        }

        func contains(_ path: some Collection<String>) -> Bool {
            paths.contains(ComparedByBytes(path.joined(separator: "/")))
        }

        static func == (one: Self, other: Self) -> Bool { one.selection.id == other.selection.id }
        func hash(into hasher: inout Hasher) { hasher.combine(selection.id) }
    }

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
        case .images(let images): images.contains(path)
        }
    }

    /// Whether a request may be answered, by its path alone.
    ///
    /// A route that is not listed is none for guests.
    ///
    /// - Parameters:
    ///   - segments: the decoded segments of the path; none for an invalid one.
    ///   - isPage: whether the path is that of the gallery page.
    ///   - isForSelections: whether the route shows guests of a selection nothing but its images.
    /// - Returns: `false` for what a guest may not see.
    func allows(
        requestFor segments: [String], isPage: Bool, isForSelections: Bool
    ) -> Bool {
        switch self {
        case .everything: return true
        // The route finds the image, and with ``Originals`` whether it may be seen.
        case .images: return isPage || isForSelections
        case .folder: break
        }
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
