// SPDX-License-Identifier: Apache-2.0

internal import Archives
package import EncodedImages
internal import ImageCommands
package import ImageLoading
internal import LoadScheduling
internal import Synchronization

/// The images of a ZIP archive, those in its folders included.
///
/// A lock: every operation on the contents is short and never awaits.
package final class ArchiveFolder: ImageFolder {
    /// What the directory of the archive contains.
    private struct Contents {
        let version: String
        let reader: ZIPReader
        let entries: [ComparedByBytes: ZIPReader.Entry]
    }

    private let path: String
    private let extensions: Set<String>
    private let limits: DecodeLimits
    /// `nil` until the directory has been read.
    private let contents = Mutex<Contents?>(nil)

    /// - Parameters:
    ///   - path: the absolute path of the archive.
    ///   - extensions: the file name extensions of images in lower case.
    ///   - limits: the limits on each image.
    package init(_ path: String, extensions: Set<String>, limits: DecodeLimits = DecodeLimits()) {
        self.path = path
        self.extensions = extensions
        self.limits = limits
    }

    package var kind: FolderKind { .archive }

    /// Reads the directory of the archive on a thread of its own.
    ///
    /// - Returns: one batch of names. The stream throws ``FileFailure`` if the archive cannot be read, or is
    ///   damaged or hostile.
    package func names() -> AsyncThrowingStream<[String], any Error> {
        AsyncThrowingStream { stream in
            startThread { [self] in
                do throws(FileFailure) {
                    stream.yield(try read())
                    stream.finish()
                } catch {
                    stream.finish(throwing: error)
                }
            }
        }
    }

    private func read() throws(FileFailure) -> [String] {
        let (reader, version): (ZIPReader, String)
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
        let entries = Dictionary(
            images.map { (ComparedByBytes($0.name), $0) }, uniquingKeysWith: { $1 })
        contents.withLock { $0 = Contents(version: version, reader: reader, entries: entries) }
        return images.map(\.name)
    }

    /// Returns a source whose name contains the version of the archive, because it is the key of caches.
    package func original(of name: String) -> ImageRequest.Source {
        let version = contents.withLock { $0?.version } ?? ""
        return .loader(
            ArchivedImage(folder: self, name: name), name: "\(path)/\(name) (\(version))")
    }

    package func bytes(
        of name: String, _ limits: DecodeLimits
    ) throws(CodecError) -> EncodedBytes? {
        EncodedBytes(try file(name))
    }

    fileprivate func file(_ name: String) throws(CodecError) -> [UInt8] {
        guard let contents = contents.withLock({ $0 }),
            let entry = contents.entries[ComparedByBytes(name)]
        else { throw .file(reason: "not in the archive") }
        return try contents.reader.contents(of: entry)
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
            return try folder.file(name)
        } catch {
            throw .decodingFailed(path: folder.original(of: name).name, error)
        }
    }
}
