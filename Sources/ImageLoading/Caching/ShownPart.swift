// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Which part of an original a picture shows, and with how many pixels.
///
/// It says whether one picture can stand for another of the same original.
struct ShownPart: Hashable {
    /// How near to the size that was asked for a picture has to be.
    enum Precision {
        /// The size itself; the side that decides may be one pixel off, because it was rounded.
        case exact
        /// No less than the size, or all that the original has.
        case inexact
    }

    /// The part, in pixels of the original as it is looked at.
    let region: SampleRegion
    let size: PixelSize
    /// Whether the part is the whole picture.
    private let isWhole: Bool
    private let mode: ResizeMode
    /// Whether the side that the box decides is the width.
    private let isWidthGoverning: Bool
    /// Whether the original is drawn at any size and so never shows all that it has.
    private let isScalable: Bool
    /// And room for rounding.
    private static let onePixel = 1 + 1e-6

    /// What `options` ask for of an original.
    ///
    /// - Parameters:
    ///   - options: the box and how the picture meets it.
    ///   - original: the size of the original as it is looked at; both sides at least 1.
    ///   - isScalable: whether the original is drawn at any size.
    ///   - size: the size that came out; `nil` for the one that should.
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

    /// Where a part of the original lies in this picture, if the picture shows all of it.
    ///
    /// - Returns: the rectangle in pixels of this picture.
    func region(of part: ShownPart) -> SampleRegion? {
        guard isWhole || isSamePart(as: part) else { return nil }
        let region = isWhole ? part.region : region
        return SampleRegion(
            x: region.x - self.region.x, y: region.y - self.region.y, width: region.width,
            height: region.height
        ).scaled(horizontally: horizontalScale, vertically: verticalScale)
    }

    /// Whether this picture will do where `wanted` is asked for.
    ///
    /// The side that decides is compared: with ``ResizeMode/fit`` the one that meets the box first,
    /// with ``ResizeMode/fill`` the one that meets it last, and both if one of the pictures is
    /// stretched. One pixel off is near enough either way. A picture with all the pixels that the
    /// original has is large enough for any size.
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

    /// Whether the parts differ by less than a pixel of either picture.
    private func isSamePart(as other: ShownPart) -> Bool {
        let x = max(1 / horizontalScale, 1 / other.horizontalScale)
        let y = max(1 / verticalScale, 1 / other.verticalScale)
        return abs(region.x - other.region.x) < x && abs(region.y - other.region.y) < y
            && abs(region.width - other.region.width) < x
            && abs(region.height - other.region.height) < y
    }
}
