// SPDX-License-Identifier: Apache-2.0

/// How a picture meets the box that it was asked to fill.
public enum ResizeMode: String, Hashable, Sendable, CaseIterable {
    /// The whole picture inside the box; one side may stay smaller.
    case fit
    /// The whole box covered; what does not fit is cut off, evenly on both sides or as a
    /// ``CropAnchor`` says.
    case fill
    /// Exactly the box; the picture's proportions are given up.
    case stretch
}

/// Which part of a picture is kept where some has to be cut off.
public struct CropAnchor: Hashable, Sendable {
    /// 0 keeps the left edge, 0.5 the middle, 1 the right edge.
    public var x: Double
    /// 0 keeps the upper edge, 0.5 the middle, 1 the lower edge.
    public var y: Double

    /// - Parameters:
    ///   - x: from 0 to 1; what is no number is 0.
    ///   - y: from 0 to 1; what is no number is 0.
    public init(x: Double, y: Double) {
        self.x = x > 0 ? min(x, 1) : 0
        self.y = y > 0 ? min(y, 1) : 0
    }

    public static let center = CropAnchor(x: 0.5, y: 0.5)
}

/// A rectangle in a picture whose edges need not fall between two pixels.
public struct SampleRegion: Hashable, Sendable {
    public var x: Double
    public var y: Double
    public var width: Double
    public var height: Double

    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    public init(_ size: PixelSize) {
        self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    }

    /// The same part of the same picture, once the picture has been reduced or enlarged.
    public func scaled(horizontally sx: Double, vertically sy: Double) -> SampleRegion {
        SampleRegion(x: x * sx, y: y * sy, width: width * sx, height: height * sy)
    }
}

/// Which part of a picture is resampled to which size.
public struct ResizeGeometry: Hashable, Sendable {
    /// The part that is kept, in pixels of the picture.
    public var region: SampleRegion
    /// The size that the part becomes; both sides at least 1.
    public var size: PixelSize

    /// The geometry of resizing `picture` into `box`.
    ///
    /// Rounding: with `fit` the side that decides takes the box's length exactly, the other is the
    /// exact product rounded to the nearest pixel, halves up, and at least 1. With `fill` the
    /// result is the box, and the part kept lies as `anchor` says, not rounded to whole pixels. Without
    /// `enlarging` no side grows: `fit` then answers the picture's own size, `fill` the largest
    /// size of the box's proportions that the picture covers, and `stretch` limits each side by
    /// itself.
    ///
    /// - Parameters:
    ///   - picture: the picture's size; both sides at least 1.
    ///   - box: the size asked for; both sides at least 1. A side of `Int.max` asks for nothing.
    ///   - mode: how the picture meets the box.
    ///   - anchor: which part `fill` keeps.
    ///   - enlarging: whether the result may have more pixels than the picture.
    public init(
        of picture: PixelSize, into box: PixelSize, mode: ResizeMode, anchor: CropAnchor = .center,
        enlarging: Bool = false
    ) {
        precondition(!picture.isEmpty && !box.isEmpty, "sizes must be at least 1x1")
        let whole = SampleRegion(picture)
        switch mode {
        case .fit:
            region = whole
            size = Self.fitted(picture, into: box, enlarging: enlarging)
        case .stretch:
            region = whole
            let limit = enlarging ? box : picture
            size = PixelSize(
                width: Self.side(box.width, limit.width, free: picture.width),
                height: Self.side(box.height, limit.height, free: picture.height))
        case .fill:
            let box = PixelSize(
                width: box.width == .max ? picture.width : box.width,
                height: box.height == .max ? picture.height : box.height)
            let target = enlarging ? box : Self.fitted(box, into: picture, enlarging: false)
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

    private static func side(_ wanted: Int, _ limit: Int, free: Int) -> Int {
        wanted == .max ? free : min(wanted, limit)
    }

    private static func fitted(
        _ picture: PixelSize, into box: PixelSize, enlarging: Bool
    ) -> PixelSize {
        let fitsAlready = picture.width <= box.width && picture.height <= box.height
        if fitsAlready && (!enlarging || (box.width == .max && box.height == .max)) {
            return picture
        }
        let widthDecides =
            box.height == .max
            || (box.width != .max
                && Double(box.width) * Double(picture.height)
                    <= Double(box.height) * Double(picture.width))
        return widthDecides
            ? PixelSize(
                width: box.width,
                height: scaled(picture.height, by: box.width, over: picture.width))
            : PixelSize(
                width: scaled(picture.width, by: box.height, over: picture.height),
                height: box.height)
    }

    /// `length × numerator ÷ denominator`, rounded to the nearest whole number, halves up, at least 1.
    private static func scaled(_ length: Int, by numerator: Int, over denominator: Int) -> Int {
        let product = length.multipliedFullWidth(by: numerator)
        let (quotient, remainder) = denominator.dividingFullWidth(product)
        return max(1, remainder >= denominator - remainder ? quotient + 1 : quotient)
    }
}
