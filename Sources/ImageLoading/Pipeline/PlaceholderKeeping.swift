// SPDX-License-Identifier: Apache-2.0

internal import LoadScheduling
internal import Placeholders
internal import EncodedImages
internal import Pixels
internal import Synchronization

/// The files whose placeholders are about to be made, and the memory of their images.
struct PendingPlaceholders {
    var files: Set<FileIdentity> = []
    var byteCount = 0
}

/// Keeps a placeholder of each version of a file in the store, made from the first image that is
/// decoded of it, and draws it for views.
final class PlaceholderKeeping: Sendable {
    /// The maximum number of bytes of images that wait until no other work is waiting.
    private static let maximumWaitingByteCount = 32 << 20

    private let resources: PipelineResources
    /// The placeholders that wait; a lock, held while a file is added or removed.
    let pending = Mutex(PendingPlaceholders())

    init(_ resources: PipelineResources) { self.resources = resources }

    /// Stores the placeholder of a file of which an image has been decoded, unless it is stored.
    func keep(_ made: MadeImage, _ request: ImageRequest) {
        let image = made.loaded.image
        guard resources.store != nil, request.storeUse.contains(.writes), let facts = made.facts,
            case .file(let file) = made.loaded.key.original,
            made.loaded.key.options.showsWholeImage,
            image.byteCount <= Self.maximumWaitingByteCount,
            let hasRoom = add(file, image.byteCount)
        else { return }
        // Waiting work holds memory. It is never dropped to make room: the rendition of the image is
        // stored, so the file may not be decoded again.
        let ticket = try? resources.queues.decodes.submit(
            hasRoom ? .background : .visible, continuing: !hasRoom
        ) { [self, reservation = made.reservation] in
            defer { remove(file, image.byteCount) }
            keep(image, file, facts)
            withExtendedLifetime(reservation) {}
        }
        if ticket == nil { remove(file, image.byteCount) }
    }

    private func keep(_ image: PixelBuffer, _ file: FileIdentity, _ facts: ImageFacts) {
        guard let store = resources.store, store.facts(of: [file])[file]?.placeholder == nil else {
            return
        }
        var facts = facts
        facts.placeholder = ThumbHash(image)
        // The facts of a file that has changed would replace those of the new version.
        guard (try? resources.files.isCurrent(file)) == true else { return }
        store.insert([file: facts])
    }

    /// - Returns: whether the image may wait; `nil` if one of the same file waits already.
    private func add(_ file: FileIdentity, _ byteCount: Int) -> Bool? {
        pending.withLock { pending in
            guard pending.files.insert(file).inserted else { return nil }
            pending.byteCount += byteCount
            return pending.byteCount <= Self.maximumWaitingByteCount
        }
    }

    private func remove(_ file: FileIdentity, _ byteCount: Int) {
        pending.withLock { pending in
            pending.files.remove(file)
            pending.byteCount -= byteCount
        }
    }

    /// Returns an image of the stored placeholder of a file.
    ///
    /// - Returns: `nil` if there is none, or the request needs more than a placeholder shows.
    func image(for request: ImageRequest, _ urgency: PriorityHandle) async -> LoadedImage? {
        // The result of a processor cannot be derived from a placeholder.
        guard let store = resources.store, case .file(let path) = request.source,
            request.processors.isEmpty, request.storeUse.contains(.reads),
            request.options.pixelFormat == nil, request.options.appliesOrientation
        else { return nil }
        let drawn = try? await resources.queues.lookups.run(urgency) {
            [self] _ throws(LoadError) -> LoadedImage? in
            let file =
                if case .file(let file) = resources.files.known(request) { file } else {
                    try resources.files.read(path)
                }
            guard let facts = store.facts(of: [file])[file], let hash = facts.placeholder else {
                return nil
            }
            return draw(hash, file, facts.pixelSize, request.options)
        }
        return drawn ?? nil
    }

    private func draw(
        _ hash: ThumbHash, _ file: FileIdentity, _ size: PixelSize, _ options: DecodeOptions
    ) -> LoadedImage? {
        guard !size.isEmpty else { return nil }
        let box = PixelSize(width: ThumbHash.placeholderSide, height: ThumbHash.placeholderSide)
        var whole = ImageKey(original: .file(file), options: options)
        (whole.options.region, whole.options.box, whole.options.mode) = (nil, box, .fit)
        let image = LoadedImage(
            hash.image(of: ResizeGeometry(of: size, into: box, mode: .fit).size),
            key: whole, originalSize: size, isPreview: true)
        // The requested part, in its proportions.
        let wantedSize = options.geometry(of: size).size
        var wanted = whole
        wanted.options.mode = options.mode
        wanted.options.region = options.region
        wanted.options.box = ResizeGeometry(of: wantedSize, into: box, mode: .fit).size
        return image.resized(for: wanted).map {
            LoadedImage($0, key: wanted, originalSize: size, isPreview: true)
        }
    }
}

extension DecodeOptions {
    /// Whether the result shows the whole image in its own proportions and in sRGB.
    fileprivate var showsWholeImage: Bool {
        appliesOrientation && convertsToSRGB && region == nil && (box == nil || mode == .fit)
    }
}
