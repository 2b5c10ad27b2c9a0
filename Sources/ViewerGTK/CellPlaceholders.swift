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
/// Most are in the store, since the image was loaded before. Of others, one is made of the thumbnail that
/// a camera embedded in the file, when the cell is about to be displayed.
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
    private var making: Task<Void, Never>?
    private let pipeline: ImagePipeline
    private let folder: String

    /// The side of a placeholder, which contains at most seven half-periods.
    private static let side = 16
    /// The number of files whose placeholders are read together.
    private static let chunkSize = 500
    /// Enough for the embedded thumbnail, which follows the start of the file.
    nonisolated private static let headByteCount = 128 << 10

    /// - Parameters:
    ///   - pipeline: has the store of placeholders.
    ///   - folder: the path of the folder.
    init(_ pipeline: ImagePipeline, folder: String) {
        self.pipeline = pipeline
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
        _ names: [String], _ folder: String, _ pipeline: ImagePipeline
    ) async -> [ComparedByBytes: Entry] {
        let files = names.map {
            try? FileIdentity(path: ViewerModel.path(of: $0, in: folder))
        }
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
        guard !wanted.isEmpty, making == nil else { return }
        making = Task { [weak self, folder, codecs = pipeline.codecs, limits = pipeline.limits] in
            while let name = self?.wanted.popFirst(), !Task.isCancelled {
                self?.entries[name] = .absent
                let path = ViewerModel.path(of: name.wrappedValue, in: folder)
                if let hash = await Self.placeholder(path, codecs, limits) {
                    self?.entries[name] = .stored(hash)
                    calotype_window_redraw()
                }
            }
            self?.making = nil
        }
    }

    /// Makes a placeholder of the embedded thumbnail of a file, if there is one in its first bytes.
    @concurrent private static func placeholder(
        _ path: String, _ codecs: CodecSet, _ limits: DecodeLimits
    ) async -> ThumbHash? {
        guard
            let head = try? EncodedBytes(reading: path, first: headByteCount, limits: limits),
            let source = try? ImageSource(head, codecs: codecs, limits: limits),
            source.header.thumbnail != nil
        else { return nil }
        var options = DecodeOptions(maximumSide: ThumbHash.placeholderSide)
        options.embeddedThumbnail = .ifLargeEnough
        options.quality = .fast
        // The image itself is not in the first bytes.
        options.acceptsTruncated = false
        return (try? source.image(options)).map { ThumbHash($0) }
    }

    /// Drops the placeholder of an image that has changed.
    func remove(_ name: String) { entries[ComparedByBytes(name)] = nil }

    /// Ends the work.
    func stop() { making?.cancel() }

    /// Returns whether an image was looked up that has no placeholder.
    func isMissing(_ name: ComparedByBytes) -> Bool {
        switch entries[name] {
        case .missing?, .absent?: true
        case .stored?, nil: false
        }
    }

    /// Returns the placeholder of an image; `nil` if none is known.
    func image(_ name: ComparedByBytes) -> PixelBuffer? {
        if case .stored(let hash)? = entries[name] { hash.image(side: Self.side) } else { nil }
    }
}
#endif
