// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The colours of an area.
public enum Paint: Hashable, Sendable {
    /// One colour.
    case color(SRGBColor)
    /// Colours along the line between two points.
    case linear(Gradient, from: Point, to: Point)
    /// Colours along the radius of a circle.
    case radial(Gradient, center: Point, radius: Double)
}

/// Colours at positions from 0 to 1, between which premultiplied colours are interpolated.
public struct Gradient: Hashable, Sendable {
    /// A colour and its position.
    public struct Stop: Hashable, Sendable {
        /// The position from 0 to 1.
        public var position: Double
        /// The colour.
        public var color: SRGBColor

        /// Creates a stop.
        public init(_ position: Double, _ color: SRGBColor) {
            self.position = position
            self.color = color
        }
    }

    /// The colours outside of the positions.
    public enum Spread: String, Hashable, Sendable {
        /// The first or the last colour.
        case pad
        /// The gradient again.
        case `repeat`
        /// The gradient backwards and forwards in turn.
        case reflect
    }

    /// The stops in the order of their positions.
    public let stops: [Stop]
    /// The colours outside of the positions.
    public var spread: Spread

    /// Creates a gradient; the stops are sorted by their positions, and transparent if there are none.
    public init(_ stops: [Stop], spread: Spread = .pad) {
        // Stable, so that two stops at one position make an edge.
        let sorted = stops.enumerated().sorted {
            ($0.element.position, $0.offset) < ($1.element.position, $1.offset)
        }
        self.stops = sorted.map(\.element)
        self.spread = spread
    }

    /// Creates a gradient of colours at equal distances.
    public init(_ colors: [SRGBColor], spread: Spread = .pad) {
        let last = Double(max(colors.count - 1, 1))
        self.init(
            colors.enumerated().map { Stop(Double($0.offset) / last, $0.element) },
            spread: spread)
    }
}

extension Paint {
    /// All colours of the paint.
    var colors: [SRGBColor] {
        switch self {
        case .color(let color): [color]
        case .linear(let gradient, _, _), .radial(let gradient, _, _): gradient.stops.map(\.color)
        }
    }
}

/// A paint prepared for a colour space and a transform.
struct PreparedPaint {
    /// The colours of evenly spaced positions; one for a single colour.
    private let table: [SIMD4<Float>]
    private let spread: Gradient.Spread
    private let isRadial: Bool
    /// From pixels to a space in which the position is x, or the distance from the origin.
    private let inverse: Transform

    private static let last = 1023

    /// - Parameters:
    ///   - paint: the colours.
    ///   - transform: from the coordinates of the paint to pixels.
    ///   - space: the colour space of the result.
    init(_ paint: Paint, _ transform: Transform, _ space: WorkingSpace) {
        switch paint {
        case .color(let color):
            table = [space.premultiplied(color)]
            (spread, isRadial, inverse) = (.pad, false, .identity)
        case .linear(let gradient, let from, let to):
            table = Self.table(gradient, space)
            let (x, y) = (to.x - from.x, to.y - from.y)
            let base = Transform(a: x, b: y, c: -y, d: x, x: from.x, y: from.y)
            (spread, isRadial) = (gradient.spread, false)
            inverse = transform.applied(after: base).inverse ?? Self.atEnd
        case .radial(let gradient, let center, let radius):
            table = Self.table(gradient, space)
            let base = Transform(a: radius, b: 0, c: 0, d: radius, x: center.x, y: center.y)
            (spread, isRadial) = (gradient.spread, true)
            inverse = transform.applied(after: base).inverse ?? Self.atEnd
        }
    }

    /// Gradients without extent have their last colour, as in CSS.
    private static let atEnd = Transform(a: 0, b: 0, c: 0, d: 0, x: 1, y: 0)

    private static func table(_ gradient: Gradient, _ space: WorkingSpace) -> [SIMD4<Float>] {
        let stops = gradient.stops.map { (Float($0.position), space.premultiplied($0.color)) }
        guard let first = stops.first, let end = stops.last else { return [.zero] }
        var next = 0
        return (0...last).map { index in
            let position = Float(index) / Float(last)
            while next < stops.count, stops[next].0 <= position { next += 1 }
            guard next > 0 else { return first.1 }
            guard next < stops.count else { return end.1 }
            let (before, after) = (stops[next - 1], stops[next])
            let share = (position - before.0) / (after.0 - before.0)
            return before.1 + (after.1 - before.1) * share
        }
    }

    /// Writes the colours of a part of a row of pixels, which starts at the column `left`.
    func fill(_ row: inout [SIMD4<Float>], count: Int, left: Int, y: Int) {
        guard table.count > 1 else {
            for x in 0..<count { row[x] = table[0] }
            return
        }
        let start = inverse.applied(to: Point(Double(left) + 0.5, Double(y) + 0.5))
        if !isRadial, inverse.a == 0 {
            let color = color(Float(start.x))
            for x in 0..<count { row[x] = color }
            return
        }
        var (u, v) = (Float(start.x), Float(start.y))
        let (du, dv) = (Float(inverse.a), Float(inverse.b))
        let (u0, v0) = (u, v)
        for x in 0..<count {
            u = u0 + Float(x) * du
            v = v0 + Float(x) * dv
            row[x] = color(isRadial ? (u * u + v * v).squareRoot() : u)
        }
    }

    @inline(__always)
    private func color(_ position: Float) -> SIMD4<Float> {
        var position = position
        switch spread {
        case .pad: break
        case .repeat: position -= position.rounded(.down)
        case .reflect:
            position = abs(position - 2 * (position / 2).rounded())
        }
        let scaled = min(max(position, 0), 1) * Float(Self.last)
        let index = min(Int(scaled), Self.last - 1)
        return table[index] + (table[index + 1] - table[index]) * (scaled - Float(index))
    }
}
