// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels
internal import Synchronization

extension MemoryCache {
    /// The smallest finished picture from which the wanted one can be made without a decode.
    ///
    /// It shows the same part of the same original or all of it, differs in nothing else than its
    /// size, and has at least as many pixels; ``LoadedImage/resized(for:)`` does the rest. Finding
    /// it is a use of it.
    public func larger(than wanted: ImageKey) -> LoadedImage? {
        candidate(for: wanted) { images in
            images.filter {
                !$0.isPreview && $0.canBeResized && $0.satisfies(wanted, .inexact)
            }.min { $0.image.size.area < $1.image.size.area }
        }
    }

    /// What can be shown until the wanted picture is there: the sharpest that shows the same.
    ///
    /// It may be smaller than wanted or a preview; a picture that is large enough is preferred to a
    /// larger one, and a finished picture to a preview of its size. Finding it is a use of it.
    public func closest(to wanted: ImageKey) -> LoadedImage? {
        if let larger = larger(than: wanted) { return larger }
        return candidate(for: wanted) { images in
            images.filter { $0.shows(wanted) }.max { one, other in
                let (area, otherArea) = (one.image.size.area, other.image.size.area)
                return area == otherArea
                    ? one.isPreview && !other.isPreview : area < otherArea
            }
        }
    }

    private func candidate(
        for wanted: ImageKey, _ best: ([LoadedImage]) -> LoadedImage?
    ) -> LoadedImage? {
        let now = instant
        let images = state.withLock { $0.images(of: wanted.original, now) }
        guard let found = best(images) else { return nil }
        state.withLock { $0.touch(found.key) }
        return found
    }
}
