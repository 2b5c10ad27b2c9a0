// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import PhotoLibrary
internal import Synchronization

/// The selections for which there are links, those requested last in memory.
///
/// Lock: held for a table lookup.
final class SharedSelections: Sendable {
    private static let maximumCount = 16

    private let library: PhotoLibrary
    /// The latest at the end.
    private let recent = Mutex<[Permission.SharedImages]>([])

    init(_ library: PhotoLibrary) { self.library = library }

    /// Returns the images of a selection; `nil` if it is unknown or has expired.
    ///
    /// The time at which a selection in memory expires is that of the link.
    func images(_ id: String) async throws -> Permission.SharedImages? {
        let known = recent.withLock { recent -> Permission.SharedImages? in
            guard let index = recent.firstIndex(where: { $0.id == id }) else { return nil }
            let images = recent.remove(at: index)
            recent.append(images)
            return images
        }
        if let known { return known }
        guard let selection = try await library.selection(id, now: HTTPDate.now.seconds) else {
            return nil
        }
        let images = Permission.SharedImages(selection)
        recent.withLock { recent in
            recent.removeAll { $0.id == id }
            if recent.count == Self.maximumCount { recent.removeFirst() }
            recent.append(images)
        }
        return images
    }
}
