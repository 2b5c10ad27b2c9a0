// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
internal import Pixels

/// An affine transform: x′ = a·x + c·y + x, y′ = b·x + d·y + y.
public struct Transform: Hashable, Sendable {
    /// The image of the vector (1, 0).
    public var a, b: Double
    /// The image of the vector (0, 1).
    public var c, d: Double
    /// The image of the origin.
    public var x, y: Double

    /// Creates a transform from the images of (1, 0), (0, 1) and the origin.
    public init(a: Double, b: Double, c: Double, d: Double, x: Double, y: Double) {
        self.a = a
        self.b = b
        self.c = c
        self.d = d
        self.x = x
        self.y = y
    }

    /// The transform that changes nothing.
    public static let identity = Transform(a: 1, b: 0, c: 0, d: 1, x: 0, y: 0)

    /// Returns a transform that moves by a distance in pixels.
    public static func translation(_ x: Double, _ y: Double) -> Transform {
        Transform(a: 1, b: 0, c: 0, d: 1, x: x, y: y)
    }

    /// Returns a transform that multiplies distances from the origin.
    public static func scale(_ x: Double, _ y: Double) -> Transform {
        Transform(a: x, b: 0, c: 0, d: y, x: 0, y: 0)
    }

    /// Returns a transform that rotates clockwise around the origin, by an angle in degrees.
    public static func rotation(degrees: Double) -> Transform {
        let angle = degrees * .pi / 180
        return Transform(a: cos(angle), b: sin(angle), c: -sin(angle), d: cos(angle), x: 0, y: 0)
    }

    /// Returns the transform that applies `inner` first and this one afterwards.
    public func applied(after inner: Transform) -> Transform {
        Transform(
            a: a * inner.a + c * inner.b, b: b * inner.a + d * inner.b,
            c: a * inner.c + c * inner.d, d: b * inner.c + d * inner.d,
            x: a * inner.x + c * inner.y + x, y: b * inner.x + d * inner.y + y)
    }

    /// Returns the image of a position.
    public func applied(to point: Point) -> Point {
        Point(a * point.x + c * point.y + x, b * point.x + d * point.y + y)
    }

    /// The inverse; `nil` if the transform maps all positions to a line.
    public var inverse: Transform? {
        let determinant = a * d - b * c
        guard determinant.isFinite, abs(determinant) > 1e-12 else { return nil }
        return Transform(
            a: d / determinant, b: -b / determinant, c: -c / determinant, d: a / determinant,
            x: (c * y - d * x) / determinant, y: (b * x - a * y) / determinant)
    }

    /// Whether rectangles stay upright rectangles that are not mirrored.
    var isUpright: Bool { b == 0 && c == 0 && a > 0 && d > 0 }

    /// The lengths of the images of (1, 0) and (0, 1).
    var scales: (x: Double, y: Double) {
        ((a * a + b * b).squareRoot(), (c * c + d * d).squareRoot())
    }

    /// Returns the smallest upright rectangle that contains the image of a rectangle.
    func bounds(of rect: SampleRegion) -> SampleRegion {
        let corners = [
            Point(rect.x, rect.y), Point(rect.x + rect.width, rect.y),
            Point(rect.x, rect.y + rect.height),
            Point(rect.x + rect.width, rect.y + rect.height),
        ].map(applied(to:))
        return SampleRegion(containing: corners)
    }
}

extension SampleRegion {
    /// The smallest rectangle that contains all points; empty if there are none.
    init(containing points: [Point]) {
        var (left, top) = (Double.infinity, Double.infinity)
        var (right, bottom) = (-Double.infinity, -Double.infinity)
        for point in points {
            left = min(left, point.x)
            right = max(right, point.x)
            top = min(top, point.y)
            bottom = max(bottom, point.y)
        }
        self.init(
            x: left, y: top, width: max(right - left, 0), height: max(bottom - top, 0))
    }

    /// The smallest rectangle of whole pixels that contains this one, within the limits of positions.
    var outerPixels: PixelRect {
        func whole(_ value: Double) -> Int { Int(min(max(value, -1e6), 1e6)) }
        guard width > 0, height > 0, x.isFinite, y.isFinite else {
            return PixelRect(x: 0, y: 0, width: 0, height: 0)
        }
        let (left, top) = (whole(x.rounded(.down)), whole(y.rounded(.down)))
        return PixelRect(
            x: left, y: top, width: whole((x + width).rounded(.up)) - left,
            height: whole((y + height).rounded(.up)) - top)
    }

    /// The same rectangle with each edge moved outwards by `distance`.
    func outset(by distance: Double) -> SampleRegion {
        SampleRegion(
            x: x - distance, y: y - distance, width: width + 2 * distance,
            height: height + 2 * distance)
    }
}
