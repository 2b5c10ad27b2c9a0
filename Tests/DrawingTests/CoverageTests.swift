// SPDX-License-Identifier: Apache-2.0

import Drawing
import ImageTesting
import Pixels
import Testing

@Suite("Coverage") struct CoverageTests {
    private let size = PixelSize(width: 64, height: 64)

    @Test("of 2,000 random paths is within half a level of the exact areas on average")
    func randomPaths() throws {
        var random = SeededRandom(seed: 28)
        var (sum, count, largest) = (0.0, 0, 0.0)
        var edgeSum = 0.0
        var edgeCount = 0
        for index in 0..<2000 {
            let (path, polygons) = Self.shape(index, &random)
            let exact = ExactCoverage(width: size.width, height: size.height, polygons)
            let image = try ImageRenderer(size: size, format: .init(range: .monochrome)).image {
                $0.fill(path, .color(.black))
            }
            for y in 0..<size.height {
                let (row, expected) = (image.row(y), exact.row(y))
                for x in 0..<size.width {
                    let error = abs(Double(row[x]) - expected[x] * 255)
                    sum += error
                    count += 1
                    largest = max(largest, error)
                    if expected[x] > 0.001 && expected[x] < 0.999 {
                        edgeSum += error
                        edgeCount += 1
                    }
                }
            }
        }
        #expect(sum / Double(count) <= 0.05)
        #expect(largest <= 6)
        #expect(edgeSum / Double(edgeCount) <= 0.75)
    }

    /// Returns a star, a ring of two stars, a line or an ellipse, and its polygons.
    private static func shape(
        _ index: Int, _ random: inout SeededRandom
    ) -> (Path, [[Point]]) {
        let center = Point(
            Double.random(in: 16...48, using: &random), Double.random(in: 16...48, using: &random))
        switch index % 4 {
        case 0:
            let star = star(center, 4...30, &random)
            return (.polygon(star), [star])
        case 1:
            let (outer, inner) = (star(center, 12...30, &random), star(center, 2...5, &random))
            let hole = Array(inner.reversed())
            var path = Path.polygon(outer)
            path.add(.polygon(hole))
            // Radii of the outer star are measured at its corners, so its edges can be nearer.
            let isInside = outer.count > 6
            return isInside ? (path, [outer, hole]) : (.polygon(outer), [outer])
        case 2:
            let corner = Point(
                Double.random(in: -5...60, using: &random),
                Double.random(in: -5...60, using: &random))
            let rect = SampleRegion(
                x: corner.x, y: corner.y, width: Double.random(in: 0.1...40, using: &random),
                height: Double.random(in: 0.1...40, using: &random))
            let transform = Transform.rotation(degrees: Double.random(in: 0...360, using: &random))
            let path = Path.rect(rect).applying(transform)
            let points = [
                Point(rect.x, rect.y), Point(rect.x + rect.width, rect.y),
                Point(rect.x + rect.width, rect.y + rect.height),
                Point(rect.x, rect.y + rect.height),
            ].map(transform.applied(to:))
            return (path, [points])
        default:
            let (rx, ry) = (
                Double.random(in: 1...30, using: &random), Double.random(in: 1...30, using: &random)
            )
            let rect = SampleRegion(
                x: center.x - rx, y: center.y - ry, width: 2 * rx, height: 2 * ry)
            let points = (0..<720).map { step in
                let turned = Transform.rotation(degrees: Double(step) / 2).applied(to: Point(1, 0))
                return Point(center.x + turned.x * rx, center.y + turned.y * ry)
            }
            return (.ellipse(in: rect), [points])
        }
    }

    /// Returns a polygon whose corners are seen from the centre in the order of their angles.
    private static func star(
        _ center: Point, _ radii: ClosedRange<Double>, _ random: inout SeededRandom
    ) -> [Point] {
        let count = 3 + Int(Double.random(in: 0...9, using: &random))
        return (0..<count).map { index in
            let angle =
                (Double(index) + Double.random(in: 0...0.9, using: &random)) * 360 / Double(count)
            let turned = Transform.rotation(degrees: angle).applied(
                to: Point(Double.random(in: radii, using: &random), 0))
            return Point(center.x + turned.x, center.y + turned.y)
        }
    }
}
