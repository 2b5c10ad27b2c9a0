// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif
public import Pixels

/// Lines and curves that enclose an area or that a stroke follows.
public struct Path: Hashable, Sendable {
    enum Verb: UInt8, Hashable, Sendable {
        case move, line, curve, close
    }

    private(set) var verbs: [Verb] = []
    /// One point of a move or a line, three of a curve.
    private(set) var points: [Point] = []
    /// The rectangle and the radius of its corners if the path is nothing else.
    private(set) var roundedRect: RoundedRect?

    struct RoundedRect: Hashable, Sendable {
        let rect: SampleRegion
        let radius: Double
    }

    /// Creates a path without lines.
    public init() {}

    /// Returns a rectangle.
    public static func rect(_ rect: SampleRegion) -> Path {
        let (right, bottom) = (rect.x + rect.width, rect.y + rect.height)
        var path = Path.polygon([
            Point(rect.x, rect.y), Point(right, rect.y), Point(right, bottom),
            Point(rect.x, bottom),
        ])
        path.roundedRect = RoundedRect(rect: rect, radius: 0)
        return path
    }

    /// Returns a closed polygon.
    public static func polygon(_ points: [Point]) -> Path {
        var path = Path()
        for (index, point) in points.enumerated() {
            index == 0 ? path.move(to: point) : path.line(to: point)
        }
        path.close()
        return path
    }

    /// Returns a rectangle whose corners are quarters of circles.
    ///
    /// - Parameters:
    ///   - rect: the rectangle.
    ///   - radius: the radius in pixels, at most half of the shorter side.
    /// - Returns: the closed path.
    public static func rounded(_ rect: SampleRegion, radius: Double) -> Path {
        let radius = max(0, min(radius, rect.width / 2, rect.height / 2))
        guard radius > 0 else { return .rect(rect) }
        let (right, bottom) = (rect.x + rect.width, rect.y + rect.height)
        var path = Path()
        path.move(to: Point(rect.x + radius, rect.y))
        for (x, y, start) in [
            (right - radius, rect.y + radius, -90.0), (right - radius, bottom - radius, 0),
            (rect.x + radius, bottom - radius, 90), (rect.x + radius, rect.y + radius, 180),
        ] {
            path.arc(center: Point(x, y), radius: radius, from: start, to: start + 90)
        }
        path.close()
        path.roundedRect = RoundedRect(rect: rect, radius: radius)
        return path
    }

    /// Returns the ellipse that touches the sides of a rectangle.
    public static func ellipse(in rect: SampleRegion) -> Path {
        var path = Path()
        path.arc(center: Point(0, 0), radius: 1, from: 0, to: 360)
        path.close()
        return path.applying(
            Transform(
                a: rect.width / 2, b: 0, c: 0, d: rect.height / 2,
                x: rect.x + rect.width / 2, y: rect.y + rect.height / 2))
    }

    /// Returns the largest circle in the middle of a rectangle.
    public static func circle(in rect: SampleRegion) -> Path {
        let side = min(rect.width, rect.height)
        let square = SampleRegion(
            x: rect.x + (rect.width - side) / 2, y: rect.y + (rect.height - side) / 2,
            width: side, height: side)
        return .rounded(square, radius: side / 2)
    }

    /// Starts a new part of the path.
    public mutating func move(to point: Point) { append(.move, point) }

    /// Adds a straight line.
    public mutating func line(to point: Point) {
        append(verbs.isEmpty ? .move : .line, point)
    }

    /// Adds a cubic Bézier curve with two control points.
    public mutating func curve(to end: Point, _ first: Point, _ second: Point) {
        if verbs.isEmpty { move(to: first) }
        append(.curve, first)
        points += [second, end].map(Self.limited)
    }

    /// Adds a quadratic Bézier curve with one control point.
    public mutating func curve(to end: Point, _ control: Point) {
        let start = points.last ?? control
        func between(_ point: Point) -> Point {
            Point(
                point.x + (control.x - point.x) * 2 / 3, point.y + (control.y - point.y) * 2 / 3)
        }
        curve(to: end, between(start), between(end))
    }

    /// Adds an arc of a circle, and a line to its start.
    ///
    /// - Parameters:
    ///   - center: the centre of the circle.
    ///   - radius: the radius in pixels.
    ///   - start: the angle of the start in degrees, clockwise from the x axis.
    ///   - end: the angle of the end in degrees.
    public mutating func arc(
        center: Point, radius: Double, from start: Double, to end: Double
    ) {
        // A curve of an eighth of a circle is at most 4 millionths of the radius off.
        let count = max(1, Int(min(abs(end - start), 3600) / 45 + 0.999))
        let step = (end - start) * .pi / 180 / Double(count)
        let handle = radius * 4 / 3 * tan(step / 4)
        func point(_ angle: Double, _ along: Double) -> Point {
            Point(
                center.x + radius * cos(angle) - along * sin(angle),
                center.y + radius * sin(angle) + along * cos(angle))
        }
        var angle = start * .pi / 180
        line(to: point(angle, 0))
        for _ in 0..<count {
            curve(
                to: point(angle + step, 0), point(angle, handle), point(angle + step, -handle))
            angle += step
        }
    }

    /// Adds a line to the start of the part.
    public mutating func close() {
        roundedRect = nil
        if let last = verbs.last, last != .close { verbs.append(.close) }
    }

    /// Adds the lines and curves of another path.
    public mutating func add(_ other: Path) {
        roundedRect = verbs.isEmpty ? other.roundedRect : nil
        verbs += other.verbs
        points += other.points
    }

    /// Returns the path with each point transformed.
    public func applying(_ transform: Transform) -> Path {
        var result = self
        result.points = points.map { Self.limited(transform.applied(to: $0)) }
        result.roundedRect = roundedRect.flatMap { rounded in
            guard transform.isUpright, rounded.radius == 0 || transform.a == transform.d else {
                return nil
            }
            return RoundedRect(
                rect: transform.bounds(of: rounded.rect), radius: rounded.radius * transform.a)
        }
        return result
    }

    /// A rectangle that contains all points.
    var bounds: SampleRegion { SampleRegion(containing: points) }

    private mutating func append(_ verb: Verb, _ point: Point) {
        roundedRect = nil
        verbs.append(verb)
        points.append(Self.limited(point))
    }

    /// Returns a point within the range of cairo's fixed-point numbers; NaN becomes 0.
    private static func limited(_ point: Point) -> Point {
        func limited(_ value: Double) -> Double {
            value.isNaN ? 0 : min(max(value, -1e6), 1e6)
        }
        return Point(limited(point.x), limited(point.y))
    }
}

/// Which areas are inside of a path that crosses itself.
public enum FillRule: Hashable, Sendable {
    /// Those around which the path turns.
    case winding
    /// Those from which a ray crosses the path an odd number of times.
    case evenOdd
}

/// How a line along a path is drawn.
public struct Stroke: Hashable, Sendable {
    /// The ends of lines.
    public enum Cap: Int32, Hashable, Sendable {
        /// The line ends at its last point.
        case butt
        /// A half circle is added.
        case round
        /// Half of a square is added.
        case square
    }

    /// The corners of lines.
    public enum Join: Int32, Hashable, Sendable {
        /// The outer edges are continued until they meet.
        case miter
        /// An arc of a circle.
        case round
        /// The corner is cut off.
        case bevel
    }

    /// The width in pixels.
    public var width: Double
    /// The ends of lines and dashes.
    public var cap: Cap
    /// The corners.
    public var join: Join
    /// The largest length of a ``Join/miter`` as a multiple of the width.
    public var miterLimit: Double
    /// The lengths of dashes and gaps in turn, in pixels; empty for a solid line.
    public var dashes: [Double]
    /// The position in the dashes at which the line starts, in pixels.
    public var dashPhase: Double

    /// Creates a description of a line; lengths are in pixels.
    public init(
        width: Double, cap: Cap = .butt, join: Join = .miter, miterLimit: Double = 10,
        dashes: [Double] = [], dashPhase: Double = 0
    ) {
        self.width = width
        self.cap = cap
        self.join = join
        self.miterLimit = miterLimit
        self.dashes = dashes
        self.dashPhase = dashPhase
    }

    /// The largest distance of the line's area from the path.
    var reach: Double {
        width / 2 * max(join == .miter ? max(miterLimit, 1) : 1, 2.0.squareRoot())
    }
}
