// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The part of an original that an image shows, and its number of pixels.
///
/// It determines whether one image can replace another of the same original.
struct ShownPart: Hashable {
    /// The accepted difference from the requested size.
    enum Precision {
        /// The size itself; the deciding side may differ by one pixel because of rounding.
        case exact
        /// At least the size, or all pixels of the original.
        case inexact
    }

    /// The part, in pixels of the upright original.
    let region: SampleRegion
    let size: PixelSize
    /// Whether the part is the whole image.
    private let isWhole: Bool
    private let mode: ResizeMode
    /// Whether the width is the side that the box determines.
    private let isWidthGoverning: Bool
    /// Whether the original is a vector image, which has more detail at any larger size.
    private let isScalable: Bool
    /// One pixel, and a tolerance for rounding.
    private static let onePixel = 1 + 1e-6

    /// The part of an original that `options` specify.
    ///
    /// - Parameters:
    ///   - options: the box and the resize mode.
    ///   - original: the size of the upright original; both sides at least 1.
    ///   - isScalable: whether the original is a vector image.
    ///   - size: the actual size of the image; `nil` for the size that `options` specify.
    init(
        _ options: DecodeOptions, of original: PixelSize, isScalable: Bool = false,
        size: PixelSize? = nil
    ) {
        let geometry = options.geometry(of: original, isScalable: isScalable)
        region = geometry.region
        self.size = size ?? geometry.size
        isWhole = geometry.region == SampleRegion(original)
        mode = options.mode
        self.isScalable = isScalable
        // In floating point, for sides of `Int.max`.
        let part = options.part(of: original).size
        let box = options.box ?? part
        let horizontal = Double(box.width) / Double(part.width)
        let vertical = Double(box.height) / Double(part.height)
        isWidthGoverning = mode == .fill ? horizontal >= vertical : horizontal <= vertical
    }

    /// Returns the position of a part of the original in this image, if the image shows all of it.
    ///
    /// - Returns: the rectangle in pixels of this image.
    func region(of part: ShownPart) -> SampleRegion? {
        guard isWhole || isSamePart(as: part) else { return nil }
        let region = isWhole ? part.region : region
        return SampleRegion(
            x: region.x - self.region.x, y: region.y - self.region.y, width: region.width,
            height: region.height
        ).scaled(horizontally: horizontalScale, vertically: verticalScale)
    }

    /// Returns whether this image answers a request for `wanted`.
    ///
    /// The deciding side is compared: with ``ResizeMode/fit`` the one that meets the box first, with
    /// ``ResizeMode/fill`` the one that meets it last, and both if one of the images is stretched. The
    /// tolerance is one pixel. An image with all pixels of the original is large enough for any size.
    func satisfies(_ wanted: ShownPart, _ precision: Precision) -> Bool {
        guard let region = region(of: wanted) else { return false }
        let widthDifference = region.width - Double(wanted.size.width)
        let heightDifference = region.height - Double(wanted.size.height)
        let isStretched = mode == .stretch || wanted.mode == .stretch
        let comparesWidth = isStretched || wanted.isWidthGoverning
        let comparesHeight = isStretched || !wanted.isWidthGoverning
        switch precision {
        case .exact:
            return isSamePart(as: wanted)
                && (!comparesWidth || abs(widthDifference) <= Self.onePixel)
                && (!comparesHeight || abs(heightDifference) <= Self.onePixel)
        case .inexact:
            if !isScalable, horizontalScale >= 1, verticalScale >= 1 { return true }
            return (!comparesWidth || widthDifference >= -Self.onePixel)
                && (!comparesHeight || heightDifference >= -Self.onePixel)
        }
    }

    private var horizontalScale: Double { Double(size.width) / region.width }
    private var verticalScale: Double { Double(size.height) / region.height }

    /// Returns whether the parts differ by less than a pixel of either image.
    private func isSamePart(as other: ShownPart) -> Bool {
        let x = max(1 / horizontalScale, 1 / other.horizontalScale)
        let y = max(1 / verticalScale, 1 / other.verticalScale)
        return abs(region.x - other.region.x) < x && abs(region.y - other.region.y) < y
            && abs(region.width - other.region.width) < x
            && abs(region.height - other.region.height) < y
    }
}
