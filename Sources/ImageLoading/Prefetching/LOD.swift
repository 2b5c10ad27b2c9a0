// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// A level of detail at which an image is loaded; sharper levels compare greater.
public enum LOD: Int, Comparable, CaseIterable, Sendable {
    /// A quarter of the width and height, at the lowest cost.
    case quarter = 4
    /// Half of the width and height, at the lowest cost.
    case half = 2
    /// The requested size.
    case exact = 1

    /// Returns whether a level is less sharp than another one.
    public static func < (one: LOD, other: LOD) -> Bool { one.rawValue > other.rawValue }
}

extension ImageRequest {
    /// Returns the request for the image at another level of detail.
    ///
    /// A request without a box keeps its size; only the quality of the decode is reduced.
    public func at(_ lod: LOD) -> ImageRequest {
        guard lod != .exact else { return self }
        var request = self
        request.options.quality = .fast
        if let box = options.box {
            let shrink = { side in side == .max ? side : max(1, (side - 1) / lod.rawValue + 1) }
            request.options.box = PixelSize(width: shrink(box.width), height: shrink(box.height))
        }
        return request
    }
}

extension ImagePipeline {
    /// Returns the sharpest image for a request in memory, at any level of detail.
    ///
    /// - Parameter request: the request at full detail.
    /// - Returns: the image and its level, `nil` if none is cached; never a preview.
    public func sharpestCachedImage(for request: ImageRequest) -> (lod: LOD, image: LoadedImage)? {
        for lod in LOD.allCases.reversed() {
            if let image = cachedImage(for: request.at(lod)), !image.isPreview {
                return (lod, image)
            }
        }
        return nil
    }
}
