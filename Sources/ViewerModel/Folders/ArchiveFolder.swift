// SPDX-License-Identifier: Apache-2.0

internal import Archives
package import EncodedImages
package import ImageCommands
package import ImageLoading
internal import LoadScheduling

/// The images of a ZIP archive, those in its folders included.
package struct ArchiveFolder: ImageFolder {
    private let path: String
    private let version: String
    private let reader: ZIPReader
    private let entries: [ComparedByBytes: ZIPReader.Entry]
    private let imageNames: [String]

    /// Reads the directory of an archive.
    ///
    /// - Parameters:
    ///   - path: the absolute path of the archive.
    ///   - extensions: the file name extensions of images in lower case.
    ///   - limits: the limits on each image.
    /// - Throws: ``FileFailure`` if the archive cannot be read, or is damaged or hostile.
    package init(
        _ path: String, extensions: Set<String>, limits: DecodeLimits = DecodeLimits()
    ) throws(FileFailure) {
        self.path = path
        do throws(CodecError) {
            reader = try ZIPReader(path, limits: limits)
        } catch {
            throw FileFailure(path, error)
        }
        do throws(LoadError) {
            version = try FileIdentity(path: path).version
        } catch {
            throw FileFailure(path, "\(CodecError.fileChanged)")
        }
        // As in a folder, hidden files are omitted; macOS stores properties in a folder of its own.
        let images = reader.entries.filter { entry in
            let names = entry.name.split(separator: "/")
            return names.first != "__MACOSX" && !names.contains { $0.hasPrefix(".") }
                && isImageName(entry.name, extensions)
        }
        entries = Dictionary(
            images.map { (ComparedByBytes($0.name), $0) }, uniquingKeysWith: { $1 })
        imageNames = images.map(\.name)
    }

    package var kind: FolderKind { .archive }

    package func names() -> AsyncThrowingStream<[String], any Error> {
        AsyncThrowingStream { [imageNames] stream in
            stream.yield(imageNames)
            stream.finish()
        }
    }

    /// Returns a source whose name contains the version of the archive, because it is the key of caches.
    package func original(of name: String) -> ImageRequest.Source {
        .loader(ArchivedImage(folder: self, name: name), name: "\(path)/\(name) (\(version))")
    }

    package func bytes(
        of name: String, _ limits: DecodeLimits
    ) throws(CodecError) -> EncodedBytes? {
        EncodedBytes(try contents(of: name))
    }

    fileprivate func contents(of name: String) throws(CodecError) -> [UInt8] {
        guard let entry = entries[ComparedByBytes(name)] else {
            throw .file(reason: "not in the archive")
        }
        return try reader.contents(of: entry)
    }
}

/// Reads an image of an archive.
private struct ArchivedImage: OriginalLoader {
    let folder: ArchiveFolder
    let name: String

    @concurrent func load(
        receive: @escaping @Sendable (OriginalLoadEvent) -> Void
    ) async throws(LoadError) -> [UInt8] {
        do throws(CodecError) {
            return try folder.contents(of: name)
        } catch {
            throw .decodingFailed(path: folder.original(of: name).name, error)
        }
    }
}
