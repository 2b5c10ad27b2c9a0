// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import PhotoLibrary
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

/// Keeps a library true while the server runs.
struct LibraryService: Service {
    let library: PhotoLibrary

    func run() async {
        await cancelWhenGracefulShutdown { await library.run() }
    }
}
