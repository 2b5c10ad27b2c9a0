// SPDX-License-Identifier: Apache-2.0

import EncodedImages
import Foundation
import ImageLoading
import ImageTesting
import Logging
import Pixels
import Synchronization

@testable import PhotoLibrary

/// A folder of files that contain their own descriptions, and a store beside it.
final class TestLibrary: LibrarySource, Sendable {
    private let outside: TemporaryFolder
    let root: String
    /// The names of the files that were described.
    let described = Mutex<[String]>([])
    /// The names of the files that were decoded.
    let hashed = Mutex<[String]>([])

    init() throws {
        outside = try TemporaryFolder()
        root = outside.path("photos")
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: true)
    }

    var storeDirectory: String { outside.path("store") }

    func library() throws -> PhotoLibrary {
        try PhotoLibrary(
            source: self, directory: storeDirectory, session: UUID().uuidString,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Writes a file such as `taken=2023:05:14 12:00:00;camera=Canon`, and its folders.
    func write(_ path: String, _ description: String = "") throws {
        let url = URL(filePath: root).appending(path: path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(description.utf8).write(to: url, options: .atomic)
    }

    func move(_ from: String, to: String) throws {
        try FileManager.default.moveItem(atPath: "\(root)/\(from)", toPath: "\(root)/\(to)")
    }

    func remove(_ path: String) throws {
        try FileManager.default.removeItem(atPath: "\(root)/\(path)")
    }

    // MARK: LibrarySource

    func list(_ path: String) -> FolderListing? {
        guard let resolved = unsafe realpath("\(root)/\(path)", nil) else { return nil }
        defer { unsafe free(resolved) }
        let folder = unsafe String(cString: resolved)
        var folders: [String] = []
        var images: [(name: String, identity: FileIdentity)] = []
        let isRead = FolderEntry.forEach(in: folder) { entry in
            if let identity = try? FileIdentity(path: "\(folder)/\(entry.name)") {
                images.append((entry.name, identity))
            } else {
                folders.append(entry.name)
            }
        }
        return isRead
            ? FolderListing(resolvedPath: folder, folders: folders, images: images) : nil
    }

    func describe(_ files: [FileIdentity]) async -> [ImageDescription] {
        files.map { file in
            described.withLock { $0.append(URL(filePath: file.path).lastPathComponent) }
            guard let text = try? String(contentsOfFile: file.path, encoding: .utf8) else {
                return ImageDescription(error: "gone", isTransient: true)
            }
            return Self.description(text)
        }
    }

    func perceptualHashes(of files: [FileIdentity]) async -> [ImageHash] {
        files.map { file in
            hashed.withLock { $0.append(URL(filePath: file.path).lastPathComponent) }
            guard let text = try? String(contentsOfFile: file.path, encoding: .utf8) else {
                return .postponed
            }
            let field = text.split(separator: ";").first { $0.hasPrefix("hash=") }
            let halves = (field?.dropFirst(5).split(separator: ",") ?? [])
                .compactMap { UInt64($0, radix: 16) }
            return halves.count == 2
                ? .known(PerceptualHash(across: halves[0], down: halves[1])) : .none
        }
    }

    static func description(_ text: String) -> ImageDescription {
        var fields: [String: String] = [:]
        for part in text.split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { fields[pair[0]] = pair[1] }
        }
        if let error = fields["error"] {
            return ImageDescription(error: error, isTransient: false)
        }
        var exif = EXIFFields()
        exif.taken = fields["taken"].flatMap { PhotoDate(exif: $0) }
        exif.cameraModel = fields["camera"]
        exif.lensModel = fields["lens"]
        exif.rating = fields["rating"].flatMap { Int($0) }
        if let place = fields["location"]?.split(separator: ",").compactMap({ Double($0) }) {
            exif.location = PhotoLocation(latitude: place[0], longitude: place[1])
        }
        var xmp = XMPFields()
        xmp.subjects = (fields["keywords"] ?? "").split(separator: ",").map(String.init)
        xmp.description = fields["caption"]
        xmp.city = fields["city"]
        var metadata = MetadataFields()
        metadata.exif = .init(exif, byteCount: 1)
        metadata.xmp = .init(xmp, byteCount: 1)
        let size = (fields["size"] ?? "300x200").split(separator: "x").compactMap { Int($0) }
        return ImageDescription(
            ImageFacts(
                formatName: fields["format"] ?? "jpeg", mediaType: "image/jpeg",
                pixelSize: .init(width: size[0], height: size[1])), metadata)
    }
}

extension PhotoLibrary {
    /// Calls `body` while the library is indexed.
    func whileRunning(_ body: @Sendable @escaping () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.run() }
            start()
            defer { group.cancelAll() }
            try await body()
        }
    }

    /// The paths of all images that meet a query, newest first.
    func paths(_ query: String = "") async throws -> [String] {
        try await images(matching: query, inDays: -200_000...200_000, offset: 0, limit: 100_000)
            .map { $0.folder.isEmpty ? $0.name : "\($0.folder)/\($0.name)" }
    }

    /// Waits until all files that exist are read, and the library has these images.
    func settle(on expected: [String]) async throws {
        try await eventually {
            guard status.isComplete else { return false }
            return try await paths().sorted() == expected.sorted()
        }
    }
}
