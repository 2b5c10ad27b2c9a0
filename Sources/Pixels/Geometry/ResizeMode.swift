// SPDX-License-Identifier: Apache-2.0

/// The way an image of other proportions is resized to a box.
public enum ResizeMode: String, Hashable, Sendable, CaseIterable {
    /// The whole image is within the box; one side may be smaller.
    case fit
    /// The image covers the box; the excess is cropped at the ``CropAnchor``.
    case fill
    /// The image gets the size of the box; its proportions change.
    case stretch
}

/// The position of the part of an image that remains after cropping.
public struct CropAnchor: Hashable, Sendable {
    /// The horizontal position: 0 keeps the left edge, 0.5 the middle, 1 the right edge.
    public var x: Double
    /// The vertical position: 0 keeps the top edge, 0.5 the middle, 1 the bottom edge.
    public var y: Double

    /// - Parameters:
    ///   - x: the horizontal position, clamped to 0...1; NaN becomes 0.
    ///   - y: the vertical position, clamped to 0...1; NaN becomes 0.
    public init(x: Double, y: Double) {
        self.x = x > 0 ? min(x, 1) : 0
        self.y = y > 0 ? min(y, 1) : 0
    }

    /// Keeps the middle of the image.
    public static let center = CropAnchor(x: 0.5, y: 0.5)
}

/// A rectangle in an image with fractional coordinates, in pixels from the top left corner.
public struct SampleRegion: Hashable, Sendable {
    /// The left edge.
    public var x: Double
    /// The top edge.
    public var y: Double
    /// The width in pixels.
    public var width: Double
    /// The height in pixels.
    public var height: Double

    /// Creates a region from its top left corner and its size, in pixels.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Creates the region that covers a whole image of `size` pixels.
    public init(_ size: PixelSize) {
        self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    }

    /// The same region in whole pixels; `nil` if an edge is within a pixel.
    package var pixels: PixelRect? {
        guard let x = Int(exactly: x), let y = Int(exactly: y), let width = Int(exactly: width),
            let height = Int(exactly: height)
        else { return nil }
        return PixelRect(x: x, y: y, width: width, height: height)
    }

    /// Converts the region to the coordinates of a scaled image.
    ///
    /// - Parameters:
    ///   - sx: the horizontal scale factor of the image.
    ///   - sy: the vertical scale factor of the image.
    /// - Returns: the same region in pixels of the scaled image.
    public func scaled(horizontally sx: Double, vertically sy: Double) -> SampleRegion {
        SampleRegion(x: x * sx, y: y * sy, width: width * sx, height: height * sy)
    }
}

/// The source region and the target size of a resize operation.
public struct ResizeGeometry: Hashable, Sendable {
    /// The region to resample, in pixels of the source image.
    public var region: SampleRegion
    /// The size of the result; both sides at least 1.
    public var size: PixelSize

    /// Computes the geometry of resizing an image to a box.
    ///
    /// Rounding: with `fit` one side equals the box exactly. The other is rounded to the nearest
    /// pixel, halves up, and is at least 1. With `fill` the size is the box, and the region is not
    /// rounded to whole pixels.
    ///
    /// Without `enlarging` no side grows. `fit` then returns the image's own size, and `fill` the
    /// largest size of the box's proportions within the image. `stretch` limits each side
    /// separately.
    ///
    /// - Parameters:
    ///   - image: the size of the source image; both sides at least 1.
    ///   - box: the requested size; both sides at least 1. A side of `Int.max` is unconstrained.
    ///   - mode: the resize mode.
    ///   - anchor: the position of the region that `fill` keeps.
    ///   - enlarging: whether the result may have more pixels than the image.
    public init(
        of image: PixelSize, into box: PixelSize, mode: ResizeMode, anchor: CropAnchor = .center,
        enlarging: Bool = false
    ) {
        precondition(
            !image.isEmpty && !box.isEmpty,
            "both sizes must be at least 1x1, not \(image) and \(box)")
        let whole = SampleRegion(image)
        switch mode {
        case .fit:
            region = whole
            size = Self.fitted(image, into: box, enlarging: enlarging)
        case .stretch:
            region = whole
            let limit = enlarging ? box : image
            size = PixelSize(
                width: Self.side(box.width, limit.width, unconstrained: image.width),
                height: Self.side(box.height, limit.height, unconstrained: image.height))
        case .fill:
            let box = PixelSize(
                width: box.width == .max ? image.width : box.width,
                height: box.height == .max ? image.height : box.height)
            let target = enlarging ? box : Self.fitted(box, into: image, enlarging: false)
            let scale = min(
                whole.width / Double(target.width), whole.height / Double(target.height))
            let width = Double(target.width) * scale
            let height = Double(target.height) * scale
            size = target
            region = SampleRegion(
                x: (whole.width - width) * anchor.x, y: (whole.height - height) * anchor.y,
                width: width, height: height)
        }
    }

    private static func side(_ requested: Int, _ limit: Int, unconstrained: Int) -> Int {
        requested == .max ? unconstrained : min(requested, limit)
    }

    private static func fitted(
        _ image: PixelSize, into box: PixelSize, enlarging: Bool
    ) -> PixelSize {
        let fitsAlready = image.width <= box.width && image.height <= box.height
        if fitsAlready && (!enlarging || (box.width == .max && box.height == .max)) {
            return image
        }
        let widthDecides =
            box.height == .max
            || (box.width != .max
                && Double(box.width) * Double(image.height)
                    <= Double(box.height) * Double(image.width))
        return widthDecides
            ? PixelSize(
                width: box.width,
                height: scaled(image.height, by: box.width, over: image.width))
            : PixelSize(
                width: scaled(image.width, by: box.height, over: image.height),
                height: box.height)
    }

    /// Returns `length × numerator ÷ denominator`, rounded half up, and at least 1.
    private static func scaled(_ length: Int, by numerator: Int, over denominator: Int) -> Int {
        let product = length.multipliedFullWidth(by: numerator)
        let (quotient, remainder) = denominator.dividingFullWidth(product)
        return max(1, remainder >= denominator - remainder ? quotient + 1 : quotient)
    }
}
