// SPDX-License-Identifier: Apache-2.0

internal import ImageCommands
internal import EncodedImages
internal import Foundation
internal import ImageCodecs

/// A number of distinct originals: the photographs of a folder or, if it has fewer, a temporary
/// folder of links to them.
struct PhotoCollection {
    /// The folder of the originals.
    let folder: String
    /// The path of each item.
    let paths: [String]
    /// The photographs; items refer to the first of them, or to all of them in turn.
    let photos: [String]
    private let isMade: Bool

    /// Lists the photographs of a folder and creates links if there are too few.
    ///
    /// - Parameters:
    ///   - folder: The folder, which is searched recursively.
    ///   - count: The number of items.
    /// - Throws: ``FileFailure`` if the folder contains no image, or a link cannot be created.
    init(_ folder: String, count: Int) throws(FileFailure) {
        let photos = try Self.photographs(in: folder)
        guard photos.count < count else {
            let photos = Array(photos.prefix(count))
            self.init(folder: folder, paths: photos, photos: photos, isMade: false)
            return
        }
        let links = FileManager.default.temporaryDirectory
            .appending(path: "calotype-scroll-\(UUID().uuidString)")
        self.init(
            folder: links.path,
            paths: (0..<count).map { index in
                let name = String(format: "%06d", index)
                let end = URL(filePath: photos[index % photos.count]).pathExtension
                return links.appending(path: "\(name).\(end)").path
            }, photos: photos, isMade: true)
        try makeFolder(links.path)
        for (index, path) in paths.enumerated() {
            let photo = photos[index % photos.count]
            // Hard links fail across file systems, and for files of other users.
            if unsafe link(photo, path) != 0, unsafe symlink(photo, path) != 0 {
                let failure = FileFailure(path, lastSystemError())
                remove()
                throw failure
            }
        }
    }

    private init(folder: String, paths: [String], photos: [String], isMade: Bool) {
        self.folder = folder
        self.paths = paths
        self.photos = photos
        self.isMade = isMade
    }

    /// Removes the temporary folder, if any; photographs are kept.
    func remove() {
        if isMade { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Maps the errors of items to photographs.
    ///
    /// - Parameter reasons: The errors by the path of an item.
    /// - Returns: One failure per photograph, in their order.
    func failures(_ reasons: [String: String]) -> [FileFailure] {
        var known: [String: String] = [:]
        for (index, path) in paths.enumerated() {
            if let reason = reasons[path] { known[photos[index % photos.count]] = reason }
        }
        return photos.compactMap { photo in known[photo].map { FileFailure(photo, $0) } }
    }

    /// Reads files into the page cache, so that all runs start with the same state.
    func preload(_ items: Range<Int>) {
        for path in paths[items.clamped(to: paths.indices)] {
            _ = try? EncodedBytes(reading: path)
        }
    }

    /// The files with an extension of a known format, sorted by name.
    private static func photographs(in folder: String) throws(FileFailure) -> [String] {
        try checkFolder(folder)
        // Empty if the folder was removed meanwhile.
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        let formats = builtInCodecs.codecs.map(\.format)
        let base = URL(filePath: folder)
        let photos = names.sorted().filter { name in
            let end = URL(filePath: name).pathExtension.lowercased()
            return formats.contains { $0.extensions.contains(end) }
        }.map { base.appending(path: $0).path }
        guard !photos.isEmpty else { throw FileFailure(folder, "no images in this folder") }
        return photos
    }
}
