// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import PhotoLibrary
internal import LoadScheduling
internal import ServiceLifecycle

/// Lists the served folders for a library, and reads their files through the pipeline.
struct ServedLibrary: LibrarySource {
    let directory: ServedDirectory
    /// The file name extensions of images in lower case.
    let extensions: Set<String>
    let pipeline: ImagePipeline

    var root: String { directory.path == "/" ? "" : directory.path }

    func list(_ path: String) -> FolderListing? {
        let segments = path.split(separator: "/").map(String.init)
        guard let resolved = try? directory.folder(segments),
            let names = FolderNames(resolved, in: directory, extensions: extensions)
        else { return nil }
        return FolderListing(
            resolvedPath: resolved, folders: names.folders,
            images: names.images.compactMap { name in
                let path = names.targets[ComparedByBytes(name)] ?? "\(resolved)/\(name)"
                return (try? FileIdentity(path: path)).map { (name, $0) }
            })
    }

    func describe(_ files: [FileIdentity]) async -> [ImageDescription] {
        await pipeline.details(of: files).map { result in
            switch result {
            case .success(let details): return ImageDescription(details.facts, details.metadata)
            case .failure(let error):
                let failure = ErrorResponse(error)
                return ImageDescription(error: failure.message, isTransient: failure.isTransient)
            }
        }
    }
}

extension ServedLibrary {
    /// The side of the images that are compared.
    private static let comparedSide = 64

    func perceptualHashes(of files: [FileIdentity]) async -> [ImageHash] {
        // Two at a time: the decodes wait for those that were requested.
        async let even = hashes(ofEvery: 2, of: files, from: 0)
        async let odd = hashes(ofEvery: 2, of: files, from: 1)
        let halves = await [even, odd]
        return files.indices.map { halves[$0 % 2][$0 / 2] }
    }

    private func hashes(
        ofEvery step: Int, of files: [FileIdentity], from first: Int
    ) async -> [ImageHash] {
        var hashes: [ImageHash] = []
        for index in stride(from: first, to: files.count, by: step) {
            hashes.append(await hash(of: files[index]))
        }
        return hashes
    }

    private func hash(of file: FileIdentity) async -> ImageHash {
        var request = ImageRequest(
            file: file, options: DecodeOptions(maximumSide: Self.comparedSide),
            priority: .background)
        request.memoryUse = []
        do throws(LoadError) {
            let image = try await pipeline.image(for: request).image
            return PerceptualHash(image).map { .known($0) } ?? .none
        } catch {
            return ErrorResponse(error).isTransient ? .postponed : .none
        }
    }
}

/// Keeps a library true while the server runs.
struct LibraryService: Service, CustomStringConvertible {
    let library: PhotoLibrary

    /// The name of the service; see ``Listener/description``.
    var description: String { "library" }

    func run() async {
        await cancelWhenGracefulShutdown { await library.run() }
    }
}
