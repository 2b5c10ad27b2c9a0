// SPDX-License-Identifier: Apache-2.0

public import EncodedImages
public import Pixels

/// The places of small images in a sheet.
public struct SpriteLayout: Hashable, Sendable {
    /// How images are placed.
    public enum Arrangement: String, Hashable, Sendable, CaseIterable {
        /// Equal cells in rows, as wide and high as the widest and the highest image, in the given
        /// order.
        case grid
        /// Packed closely, in any order.
        case packed
    }

    /// The size of the sheet in pixels.
    public let size: PixelSize
    /// The place of each image, in the order of the sizes.
    public let places: [PixelRect]

    /// Lays images out.
    ///
    /// - Parameters:
    ///   - sizes: the size of each image; at least one, both sides at least 1.
    ///   - arrangement: how images are placed.
    ///   - padding: the empty pixels between two images, so that they do not blend when the sheet
    ///     is enlarged; the edges have none.
    ///   - limits: the maximum side and number of pixels of the sheet.
    /// - Throws: `CodecError/limitExceeded(_:needed:allowed:)` if the sheet would exceed the
    ///   limits.
    public init(
        _ sizes: [PixelSize], _ arrangement: Arrangement, padding: Int = 0,
        limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        precondition(!sizes.isEmpty && sizes.allSatisfy { !$0.isEmpty }, "sizes must not be empty")
        precondition(padding >= 0, "padding must not be negative")
        // Sums of sides and paddings cannot overflow below this.
        var limits = limits
        limits.maximumSide = min(limits.maximumSide, 1 << 30)
        let side = sizes.reduce(0) { max($0, $1.largestSide) }
        try limits.check(.side, side)
        let area = sizes.reduce(0) { Self.sum($0, $1.area) }
        try limits.check(.pixelCount, area)
        try limits.check(.side, padding)
        switch arrangement {
        case .grid: places = try Self.grid(sizes, padding, limits)
        case .packed: places = try Self.packed(sizes, padding, limits)
        }
        size = Self.extent(of: places)
        try limits.check(size)
    }

    /// A layout with given places.
    ///
    /// - Parameters:
    ///   - places: the place of each image, inside the sheet.
    ///   - size: the size of the sheet; not empty.
    ///   - limits: the maximum side and number of pixels of the sheet.
    /// - Throws: `CodecError/limitExceeded(_:needed:allowed:)` if the sheet would exceed the
    ///   limits.
    public init(
        places: [PixelRect], size: PixelSize, limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) {
        precondition(
            places.allSatisfy { !$0.isEmpty && PixelRect(size).contains($0) },
            "places must not be empty, and be inside the sheet")
        try limits.check(size)
        self.places = places
        self.size = size
    }

    /// The share of the sheet that is covered by images, from 0 to 1.
    public var usedShare: Double {
        Double(places.reduce(0) { $0 + $1.size.area }) / Double(size.area)
    }

    private static func grid(
        _ sizes: [PixelSize], _ padding: Int, _ limits: DecodeLimits
    ) throws(CodecError) -> [PixelRect] {
        let width = sizes.reduce(0) { max($0, $1.width) } + padding
        let height = sizes.reduce(0) { max($0, $1.height) } + padding
        let mostColumns = max(1, (limits.maximumSide + padding) / width)
        // As close to a square as the cells allow.
        let columns =
            (1...min(mostColumns, sizes.count)).min { one, other in
                side(columns: one) < side(columns: other)
            } ?? 1
        func side(columns: Int) -> Int {
            max(columns * width, (sizes.count + columns - 1) / columns * height)
        }
        let rows = (sizes.count + columns - 1) / columns
        try limits.check(.side, rows * height - padding)
        return sizes.enumerated().map { index, size in
            PixelRect(
                x: index % columns * width, y: index / columns * height,
                width: size.width, height: size.height)
        }
    }

    /// Returns the best layout among several widths around that of a square.
    private static func packed(
        _ sizes: [PixelSize], _ padding: Int, _ limits: DecodeLimits
    ) throws(CodecError) -> [PixelRect] {
        let widest = sizes.reduce(0) { max($0, $1.width) }
        let area = sizes.reduce(0.0) {
            $0 + Double($1.width + padding) * Double($1.height + padding)
        }
        // Placing high images first leaves the fewest gaps.
        let order = sizes.indices.sorted { one, other in
            (sizes[one].height, sizes[one].width, other)
                > (sizes[other].height, sizes[other].width, one)
        }
        let middle = area.squareRoot()
        var best: (places: [PixelRect], area: Int)?
        for factor in [1.0, 1.02, 1.05, 1.1, 1.2, 0.9, 1.4, 2.0, .infinity] {
            let width = max(widest, Int(min(middle * factor, Double(limits.maximumSide))))
            var skyline = Skyline(width: width + padding)
            var places = [PixelRect](
                repeating: PixelRect(x: 0, y: 0, width: 0, height: 0), count: sizes.count)
            for index in order {
                let size = sizes[index]
                let (x, y) = skyline.place(
                    width: size.width + padding, height: size.height + padding)
                places[index] = PixelRect(x: x, y: y, width: size.width, height: size.height)
            }
            let extent = Self.extent(of: places)
            guard extent.height <= limits.maximumSide else { continue }
            if extent.area < best?.area ?? .max { best = (places, extent.area) }
            // Wider sheets than the first that fits are larger.
            if factor >= 1.4, best != nil { break }
        }
        guard let best else {
            throw .limitExceeded(
                .side, needed: Int(area / Double(limits.maximumSide)) + 1,
                allowed: limits.maximumSide)
        }
        return best.places
    }

    private static func extent(of places: [PixelRect]) -> PixelSize {
        PixelSize(
            width: places.reduce(0) { max($0, $1.x + $1.width) },
            height: places.reduce(0) { max($0, $1.y + $1.height) })
    }

    private static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// The skyline of the placed images: the next image is placed where its lower edge is highest.
///
/// - SeeAlso: Jukka Jylänki, “A Thousand Ways to Pack the Bin”, 2010, section 2.4.
private struct Skyline {
    private struct Step {
        var x: Int
        var width: Int
        var y: Int
    }

    private var steps: [Step]
    private let width: Int

    init(width: Int) {
        self.width = width
        steps = [Step(x: 0, width: width, y: 0)]
    }

    /// Finds room for a rectangle that is not wider than all of this; the height has no end.
    mutating func place(width: Int, height: Int) -> (x: Int, y: Int) {
        var best: (index: Int, y: Int, waste: Int)?
        for index in steps.indices where steps[index].x + width <= self.width {
            var y = 0
            var end = index
            while end < steps.count, steps[end].x < steps[index].x + width {
                y = max(y, steps[end].y)
                end += 1
            }
            // What is lost for good under the rectangle.
            let waste = steps[index..<end].reduce(0) { sum, step in
                let covered = min(step.x + step.width, steps[index].x + width) - step.x
                return sum + covered * (y - step.y)
            }
            if best.map({ (y, waste) < ($0.y, $0.waste) }) ?? true { best = (index, y, waste) }
        }
        guard let best else { preconditionFailure("wider than everything") }
        let step = Step(x: steps[best.index].x, width: width, y: best.y + height)
        let end = step.x + width
        var next = best.index
        while next < steps.count, steps[next].x + steps[next].width <= end { next += 1 }
        steps.removeSubrange(best.index..<next)
        if best.index < steps.count, steps[best.index].x < end {
            steps[best.index].width -= end - steps[best.index].x
            steps[best.index].x = end
        }
        steps.insert(step, at: best.index)
        if best.index + 1 < steps.count, steps[best.index + 1].y == step.y {
            steps[best.index].width += steps.remove(at: best.index + 1).width
        }
        if best.index > 0, steps[best.index - 1].y == step.y {
            steps[best.index - 1].width += steps.remove(at: best.index).width
        }
        return (step.x, best.y)
    }
}
