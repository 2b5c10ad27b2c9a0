// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// Where a smaller rectangle lies in a larger one: the part that cropping keeps, or an image in a larger
/// box.
struct Gravity: Hashable {
    /// The edge: 0 is left, 0.5 the centre, 1 right.
    var x = 0.5
    /// The edge: 0 is top, 0.5 the centre, 1 bottom.
    var y = 0.5
    /// The shift to the right: a fraction of the larger width if less than 1, otherwise pixels.
    var offsetX = 0.0
    /// The shift down: a fraction of the larger height if less than 1, otherwise pixels.
    var offsetY = 0.0
    /// Whether the content of the image determines the part instead.
    var isSmart = false

    static let center = Gravity()

    init(x: Double = 0.5, y: Double = 0.5, offsetX: Double = 0, offsetY: Double = 0) {
        (self.x, self.y, self.offsetX, self.offsetY) = (x, y, offsetX, offsetY)
    }

    /// The centre of the part, as fractions of the larger width and height, from 0 to 1.
    init(focusX: Double, focusY: Double) {
        offsetX = focusX - 0.5
        offsetY = focusY - 0.5
    }

    /// Whether an edge or a corner determines the part.
    var isPlain: Bool { !isSmart && offsetX == 0 && offsetY == 0 }

    /// The anchor without offsets.
    var anchor: CropAnchor { isSmart ? .center : CropAnchor(x: x, y: y) }

    /// Returns the position of the smaller rectangle, which may lie outside of the larger one.
    ///
    /// - Parameters:
    ///   - inner: the size of the smaller rectangle.
    ///   - outer: the size of the larger rectangle.
    ///   - pixel: the size of a pixel of the offsets.
    /// - Returns: the position of the top left corner.
    func position(
        of inner: (width: Double, height: Double), in outer: PixelSize,
        pixel: (width: Double, height: Double)
    ) -> (x: Double, y: Double) {
        func start(
            _ inner: Double, _ outer: Int, _ share: Double, _ offset: Double, _ pixel: Double
        ) -> Double {
            (Double(outer) - inner) * share + offset * (abs(offset) < 1 ? Double(outer) : pixel)
        }
        return (
            start(inner.width, outer.width, x, offsetX, pixel.width),
            start(inner.height, outer.height, y, offsetY, pixel.height)
        )
    }

    /// Returns the anchor with offsets for a region of an image; the region is within the image.
    ///
    /// - Parameters:
    ///   - region: the size of the region that is kept.
    ///   - image: the size of the image.
    ///   - pixel: the size of a pixel of the offsets.
    /// - Returns: the anchor, as fractions of the free space.
    func anchor(
        of region: (width: Double, height: Double), in image: PixelSize,
        pixel: (width: Double, height: Double)
    ) -> CropAnchor {
        guard !isPlain, !isSmart else { return anchor }
        let start = position(of: region, in: image, pixel: pixel)
        func share(_ start: Double, _ free: Double) -> Double { free > 0 ? start / free : 0.5 }
        return CropAnchor(
            x: share(start.x, Double(image.width) - region.width),
            y: share(start.y, Double(image.height) - region.height))
    }

    /// Returns the gravity for an image that is mirrored, then rotated clockwise.
    func undoing(degrees: Int, isMirrored: Bool) -> Gravity {
        var result = self
        switch degrees {
        case 90:
            (result.x, result.y) = (y, 1 - x)
            (result.offsetX, result.offsetY) = (offsetY, -offsetX)
        case 180:
            (result.x, result.y) = (1 - x, 1 - y)
            (result.offsetX, result.offsetY) = (-offsetX, -offsetY)
        case 270:
            (result.x, result.y) = (1 - y, x)
            (result.offsetX, result.offsetY) = (-offsetY, offsetX)
        default: break
        }
        if isMirrored {
            result.x = 1 - result.x
            result.offsetX = -result.offsetX
        }
        return result
    }

    /// A unique text; it contains letters, digits and `x.-+` only.
    var text: String {
        if isSmart { return "smart" }
        let offset = offsetX == 0 && offsetY == 0 ? "" : "+\(offsetX)x\(offsetY)"
        return "\(x)x\(y)\(offset)"
    }
}
