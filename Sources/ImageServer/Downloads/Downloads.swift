// SPDX-License-Identifier: Apache-2.0

internal import ImageLoading
internal import PhotoLibrary
internal import Synchronization

/// The selections of images that clients may download, each for some time.
///
/// Lock: held for table lookups.
final class Downloads: Sendable {
    /// The images of one archive.
    final class Selection: Sendable {
        struct File: Sendable {
            /// The path in the archive.
            let name: String
            let identity: FileIdentity
            /// What the sidecar contains.
            var mark = ImageMark()
        }

        /// What an archive contains of each image.
        enum Contents: Sendable {
            case originals
            case renditions(RenditionOptions)
            /// XMP sidecars.
            case sidecars
        }

        let files: [File]
        let contents: Contents
        /// The checksums of originals that have been read.
        let checksums: Mutex<[UInt32?]>

        init(_ files: [File], _ contents: Contents) {
            self.files = files
            self.contents = contents
            checksums = Mutex(Array(repeating: nil, count: files.count))
        }
    }

    static let maximumFileCount = 10_000
    private static let maximumSelectionCount = 32
    /// The files of all selections together.
    private static let maximumTotalCount = 50_000

    private let selections = Mutex<[(token: String, selection: Selection)]>([])

    /// Keeps a selection, and forgets the oldest ones beyond the limits.
    ///
    /// - Returns: the name by which it is found, which cannot be guessed.
    func add(_ selection: Selection) -> String {
        let token = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
        selections.withLock { selections in
            selections.append((token, selection))
            while selections.count > Self.maximumSelectionCount
                || selections.reduce(0, { $0 + $1.selection.files.count })
                    > Self.maximumTotalCount
            { selections.removeFirst() }
        }
        return token
    }

    subscript(token: String) -> Selection? {
        selections.withLock { $0.first { $0.token == token }?.selection }
    }
}
