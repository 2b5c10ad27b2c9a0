// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import LoadScheduling
internal import Pixels
internal import Placeholders
internal import Synchronization

// The first picture that is decoded of a file leaves its placeholder in the store, once for every
// version of the file; listings and views find it there.

/// Files whose placeholders are about to be made, and what their pictures take meanwhile.
struct PendingPlaceholders {
    var files: Set<FileIdentity> = []
    var byteCount = 0
}

extension ImagePipeline {
    /// Bytes of pictures that may wait until nothing else is to be done.
    private static let maximumWaitingByteCount = 32 << 20

    /// Keeps the placeholder of a file of which a picture has been decoded, unless it is known.
    func keepPlaceholder(_ made: MadeImage, _ request: ImageRequest) {
        let image = made.loaded.image
        guard let store, request.storeUse.contains(.writes), let facts = made.facts,
            case .file(let file) = made.loaded.key.original,
            made.loaded.key.options.showsWholePicture,
            image.byteCount <= Self.maximumWaitingByteCount,
            let hasRoom = wait(file, image.byteCount)
        else { return }
        // What waits holds memory. It never makes room by being dropped: its rendition is kept, so
        // the file may not be decoded again.
        let ticket = try? decodes.submit(
            hasRoom ? .background : .visible, continuing: !hasRoom
        ) { [self, reservation = made.reservation] in
            defer { forget(file, image.byteCount) }
            keepPlaceholder(of: image, file, facts, store)
            withExtendedLifetime(reservation) {}
        }
        if ticket == nil { forget(file, image.byteCount) }
    }

    private func keepPlaceholder(
        of image: PixelBuffer, _ file: FileIdentity, _ facts: ImageFacts,
        _ store: any RenditionStoring
    ) {
        guard store.facts(of: [file])[file]?.placeholder == nil else { return }
        var facts = facts
        facts.placeholder = ThumbHash(image)
        // Not that of a file that has changed, in place of what is known of the new one.
        guard (try? FileIdentity(path: file.path)) == file else { return }
        store.insert([file: facts])
    }

    /// - Returns: whether there is room to wait; `nil` if a picture of the same file waits already.
    private func wait(_ file: FileIdentity, _ byteCount: Int) -> Bool? {
        pendingPlaceholders.withLock { pending in
            guard pending.files.insert(file).inserted else { return nil }
            pending.byteCount += byteCount
            return pending.byteCount <= Self.maximumWaitingByteCount
        }
    }

    private func forget(_ file: FileIdentity, _ byteCount: Int) {
        pendingPlaceholders.withLock { pending in
            pending.files.remove(file)
            pending.byteCount -= byteCount
        }
    }

    /// What is shown of a file until there is something better, drawn from its kept placeholder.
    ///
    /// - Returns: `nil` if there is none, or a picture in memory is as near.
    func keptPlaceholder(_ request: ImageRequest, _ urgency: LoadUrgency?) async -> LoadedImage? {
        // What processors make of a picture cannot be told from its placeholder.
        guard let store, case .file(let path) = request.source, request.processors.isEmpty,
            request.storeUse.contains(.reads), request.options.pixelFormat == nil,
            request.options.appliesOrientation, cachedImage(for: request) == nil
        else { return nil }
        let drawn = try? await lookups.run(urgency ?? LoadUrgency.fixed(request.priority)) {
            [self] _ throws(LoadError) -> LoadedImage? in
            let file = try FileIdentity(path: path)
            note(file)
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
        let picture = LoadedImage(
            hash.image(of: ResizeGeometry(of: size, into: box, mode: .fit).size),
            key: whole, originalSize: size, isPreview: true)
        // The part that is wanted, in its proportions.
        let wantedSize = options.geometry(of: size).size
        var wanted = whole
        wanted.options.mode = options.mode
        wanted.options.region = options.region
        wanted.options.box = ResizeGeometry(of: wantedSize, into: box, mode: .fit).size
        return picture.resized(for: wanted).map {
            LoadedImage($0, key: wanted, originalSize: size, isPreview: true)
        }
    }
}

extension DecodeOptions {
    /// Whether the result shows all of the picture in its own proportions and usual colours.
    fileprivate var showsWholePicture: Bool {
        appliesOrientation && convertsToSRGB && region == nil && (box == nil || mode == .fit)
    }
}
