// SPDX-License-Identifier: Apache-2.0

internal import Pixels
internal import Synchronization

extension MemoryCache {
    /// The maximum number of images of an original that a search examines, so that it takes less time
    /// than a decode.
    static let candidateLimit = 256

    /// Returns the smallest finished image from which the wanted one can be made without a decode.
    ///
    /// It shows the same part of the same original or all of it, differs in nothing else than its size,
    /// and has at least as many pixels; ``LoadedImage/resized(for:)`` makes the wanted one. A hit counts
    /// as a use.
    public func larger(than wanted: ImageKey) -> LoadedImage? {
        let now = instant
        let largest = state.withLock { $0.largestImages(of: wanted.original, now) }
        return use(larger(than: wanted, largest, now))
    }

    /// Returns the sharpest image that can be shown until the wanted one is loaded.
    ///
    /// It may be smaller than wanted or a preview. An image that is large enough is preferred to a larger
    /// one, and a finished image to a preview of its size. A hit counts as a use.
    public func closest(to wanted: ImageKey) -> LoadedImage? {
        let now = instant
        let largest = state.withLock { $0.largestImages(of: wanted.original, now) }
        if let larger = larger(than: wanted, largest, now) { return use(larger) }
        return use(
            largest.filter { $0.shows(wanted) }.max { one, other in
                let (area, otherArea) = (one.image.size.area, other.image.size.area)
                return area == otherArea
                    ? one.isPreview && !other.isPreview : area < otherArea
            })
    }

    private func larger(
        than wanted: ImageKey, _ largest: [LoadedImage], _ now: ContinuousClock.Instant?
    ) -> LoadedImage? {
        let smallest = { (images: [LoadedImage]) in
            images.first {
                !$0.isPreview && $0.canBeResized && $0.satisfies(wanted, .inexact)
            }
        }
        let found = smallest(largest)
        guard largest.count == Self.candidateLimit,
            let pixelCount = largest.lazy.compactMap({ $0.leastPixelCount(for: wanted) }).first
        else { return found }
        return smallest(
            state.withLock { $0.images(of: wanted.original, atLeast: pixelCount, now) }) ?? found
    }

    private func use(_ image: LoadedImage?) -> LoadedImage? {
        if let image { state.withLock { $0.touch(image.key) } }
        return image
    }
}
