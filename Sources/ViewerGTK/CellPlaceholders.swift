// SPDX-License-Identifier: Apache-2.0

#if Viewer
internal import CGTK
internal import EncodedImages
internal import ImageCommands
internal import ImageLoading
internal import LoadScheduling
internal import Pixels
internal import Placeholders
internal import ViewerModel

/// The placeholders of the images of a folder, which cells show until an image is loaded.
///
/// Most are in the store, since the image was loaded before. The others are made when the cell is about to
/// be displayed.
@MainActor
final class CellPlaceholders {
    private enum Entry {
        case stored(ThumbHash)
        /// None is stored.
        case missing
        /// None is stored, and none can be made, or one is being made.
        case absent
    }

    private var entries: [ComparedByBytes: Entry] = [:]
    /// The images whose placeholders are made, the next first.
    private var wanted: ArraySlice<ComparedByBytes> = []
    private var makers: [Int: Task<Void, Never>] = [:]
    private let pipeline: ImagePipeline
    private let maker: PlaceholderMaker
    private let queue: WorkQueue
    private let folder: any ImageFolder

    /// The side of a placeholder, which contains at most seven half-periods.
    private static let side = 16
    /// The number of files whose placeholders are read together.
    private static let chunkSize = 500

    /// - Parameters:
    ///   - engine: has the store of placeholders, and the threads that make others.
    ///   - shared: the thumbnails that file managers share.
    ///   - folder: the folder.
    init(_ engine: ImageEngine, _ shared: ThumbnailCache?, _ folder: any ImageFolder) {
        pipeline = engine.pipeline
        queue = engine.drafts
        maker = PlaceholderMaker(
            codecs: pipeline.codecs, limits: pipeline.limits, shared: shared)
        self.folder = folder
    }

    /// Reads the placeholders of images that were listed.
    func read(_ names: [String]) async {
        for start in stride(from: 0, to: names.count, by: Self.chunkSize) {
            let chunk = Array(names[start..<min(start + Self.chunkSize, names.count)])
            let read = await Self.read(chunk, folder, pipeline)
            guard !Task.isCancelled else { return }
            entries.merge(read) { $1 }
        }
    }

    @concurrent private static func read(
        _ names: [String], _ folder: any ImageFolder, _ pipeline: ImagePipeline
    ) async -> [ComparedByBytes: Entry] {
        guard folder.kind == .files else {
            return Dictionary(
                names.map { name in
                    let hash = folder.placeholder(of: name)
                    // A server has sent all that it has.
                    let none = folder.kind == .server ? Entry.absent : .missing
                    return (ComparedByBytes(name), hash.map { .stored($0) } ?? none)
                }, uniquingKeysWith: { $1 })
        }
        let files = names.map { try? FileIdentity(path: folder.original(of: $0).name) }
        let facts = (try? await pipeline.storedFacts(for: files.compactMap { $0 })) ?? [:]
        return Dictionary(
            zip(names, files).map { name, file in
                let hash = file.flatMap { facts[$0]?.placeholder }
                return (ComparedByBytes(name), hash.map { .stored($0) } ?? .missing)
            }, uniquingKeysWith: { $1 })
    }

    /// Makes placeholders of images that have none, the first first; replaces the last call.
    func make(_ names: [ComparedByBytes]) {
        wanted = names.filter { if case .missing? = entries[$0] { true } else { false } }[...]
        // Some for each thread, so that none waits while the main actor draws a frame.
        for number in 0..<min(wanted.count, 8 * queue.width) where makers[number] == nil {
            makers[number] = Task { [weak self] in
                await self?.makeWanted()
                self?.makers[number] = nil
            }
        }
    }

    private func makeWanted() async {
        while let name = wanted.popFirst(), !Task.isCancelled {
            entries[name] = .absent
            let hash = try? await queue.run(.visible) {
                [maker, folder] () throws(LoadError) in
                maker.placeholder(of: name.wrappedValue, in: folder)
            }
            guard case .absent? = entries[name], let hash = hash ?? nil else { continue }
            entries[name] = .stored(hash)
            calotype_window_redraw()
        }
    }

    /// Whether placeholders wait until they are made.
    var areMissing: Bool { !wanted.isEmpty }

    /// Drops the placeholder of an image that has changed.
    func remove(_ name: String) { entries[ComparedByBytes(name)] = nil }

    /// Ends the work.
    func stop() { for task in makers.values { task.cancel() } }

    /// Returns the placeholder of an image; `nil` if none is known.
    func image(_ name: ComparedByBytes) -> PixelBuffer? {
        if case .stored(let hash)? = entries[name] { hash.image(side: Self.side) } else { nil }
    }
}
#endif
