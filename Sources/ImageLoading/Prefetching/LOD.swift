// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// A level of detail, one rung of the ladder of sizes that a picture is made in.
///
/// The sharper one is the greater.
public enum LOD: Int, Comparable, CaseIterable, Sendable {
    /// A quarter as wide and high as the picture is shown, made with as little work as possible.
    case quarter = 4
    /// Half as wide and high, made with as little work as possible.
    case half = 2
    /// As asked for.
    case exact = 1

    public static func < (one: LOD, other: LOD) -> Bool { one.rawValue > other.rawValue }
}

extension ImageRequest {
    /// The same picture on another rung of the ladder.
    ///
    /// One that is asked for at its own size, without a box, is only made with less care.
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
    /// The sharpest picture in memory of those that the ladder has for a request.
    ///
    /// - Parameter request: the exact picture.
    /// - Returns: `nil` if there is none; never a preview.
    public func sharpestCachedImage(for request: ImageRequest) -> (lod: LOD, image: LoadedImage)? {
        for lod in LOD.allCases.reversed() {
            if let image = cachedImage(for: request.at(lod)), !image.isPreview {
                return (lod, image)
            }
        }
        return nil
    }
}
