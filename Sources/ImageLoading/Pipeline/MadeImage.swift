// SPDX-License-Identifier: Apache-2.0

internal import HTTPCaching
internal import LoadScheduling
internal import EncodedImages

/// An image that a load has made, and whether its original was still the same afterwards.
struct MadeImage: Sendable {
    let loaded: LoadedImage
    let isCurrent: Bool
    /// The bytes that are reserved for it, until the memory cache takes them over.
    var reservation: MemoryReservation?
    /// Whether it may be shown only while a newer one is requested.
    var isOutOfDate = false
    /// The facts of the original, if the image was decoded from it and has no damage.
    var facts: ImageFacts?
}

/// A load of an image in flight: the request that began it, the image, and its consumers.
struct ImageLoad: Sendable {
    let request: ImageRequest
    let key: ImageLoadKey
    let context: LoadContext<ImageUpdate>

    var image: ImageKey { key.image }
    var urgency: PriorityHandle { context.urgency }
}

/// An image in memory, or the load in flight that makes it.
enum CachedOrJoined {
    case remembered(MadeImage)
    case joined(LoadMembership<ImageLoadKey, MadeImage, ImageUpdate>)

    func value() async throws(LoadError) -> MadeImage {
        switch self {
        case .remembered(let image): return image
        case .joined(let load):
            await load.wait()
            return try load.get()
        }
    }
}

/// Finds images in the memory cache for requests.
struct MemoryLookup: Sendable {
    let memory: MemoryCache
    /// Loads from the network, whose clock decides what is stale.
    let web: HTTPLoader?

    /// Returns the image of a key; one in RGB also where planes of YCbCr are accepted.
    func exactImage(_ key: ImageKey) -> LoadedImage? {
        if let image = memory.image(for: key) { return image }
        return key.options.acceptsYCbCr ? memory.image(for: key.withoutPlanes) : nil
    }

    /// Returns a finished image that answers a request.
    func image(_ key: ImageKey, for request: ImageRequest) -> MadeImage? {
        guard request.memoryUse.contains(.reads) else { return nil }
        let image =
            request.isReproducible
            ? memory.image(for: key)
            : exactImage(key)
                ?? (request.precision == .atLeast ? memory.larger(than: key) : nil)
        guard let image, !image.isPreview, !(request.isReproducible && image.isDerived) else {
            return nil
        }
        return made(image, for: request)
    }

    /// Returns a larger image from which the image of a load can be resampled.
    func largerImage(_ load: ImageLoad) -> MadeImage? {
        guard load.request.memoryUse.contains(.reads), !load.request.isReproducible else {
            return nil
        }
        return memory.larger(than: load.image).map { made($0, for: load.request) }
    }

    private func made(_ image: LoadedImage, for request: ImageRequest) -> MadeImage {
        MadeImage(loaded: image, isCurrent: true, isOutOfDate: isOutOfDate(image, request))
    }

    /// Returns whether an image must be revalidated with the server.
    private func isOutOfDate(_ image: LoadedImage, _ request: ImageRequest) -> Bool {
        guard case .url = request.source, request.webUse == .useProtocol, let web else {
            return false
        }
        return web.clock.date() >= image.storability.freshUntil
    }
}
