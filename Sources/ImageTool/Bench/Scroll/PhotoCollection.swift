// SPDX-License-Identifier: Apache-2.0

internal import PictureCommands
internal import EncodedImages
internal import Foundation
internal import ImageCodecs

/// So many pictures, each an original of its own: the photographs of a folder or, where there are
/// fewer, a folder of links to them.
struct PhotoCollection {
    /// Where they are.
    let folder: String
    /// One an item.
    let paths: [String]
    /// The photographs, of which the items are the first, or all again and again.
    let photos: [String]
    private let isMade: Bool

    /// - Parameters:
    ///   - folder: where the photographs are, at any depth.
    ///   - count: how many pictures there shall be.
    /// - Throws: ``FileFailure`` if there is none, or a link cannot be made.
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
            // A hard link fails on another file system, or of somebody else's file.
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

    /// Removes what was made; photographs stay.
    func remove() {
        if isMade { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Names the photographs that failed.
    ///
    /// - Parameter reasons: why, by the path of an item.
    /// - Returns: each once, in their order.
    func failures(_ reasons: [String: String]) -> [FileFailure] {
        var known: [String: String] = [:]
        for (index, path) in paths.enumerated() {
            if let reason = reasons[path] { known[photos[index % photos.count]] = reason }
        }
        return photos.compactMap { photo in known[photo].map { FileFailure(photo, $0) } }
    }

    /// Reads files, so that the system holds them in memory for every run alike.
    func preload(_ items: Range<Int>) {
        for path in paths[items.clamped(to: paths.indices)] {
            _ = try? EncodedBytes(reading: path)
        }
    }

    /// Files that some codec knows by the end of their names, in the order of their names.
    private static func photographs(in folder: String) throws(FileFailure) -> [String] {
        try checkFolder(folder)
        // None if it went in this moment.
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        let formats = builtInCodecs.codecs.map(\.format)
        let base = URL(filePath: folder)
        let photos = names.sorted().filter { name in
            let end = URL(filePath: name).pathExtension.lowercased()
            return formats.contains { $0.extensions.contains(end) }
        }.map { base.appending(path: $0).path }
        guard !photos.isEmpty else { throw FileFailure(folder, "no pictures in this folder") }
        return photos
    }
}
