// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// An image that an effect composites with the image it is applied to, such as a watermark.
public struct Overlay: Sendable {
    /// Where an overlay lies in an image.
    public enum Placement: Hashable, Sendable {
        /// The position of the top left corner in pixels.
        case origin(x: Int, y: Int)
        /// Fractions of the free space, and offsets in pixels to the right and down; 0 is left or
        /// top, 0.5 the centre, 1 right or bottom.
        case anchored(x: Double, y: Double, offsetX: Int = 0, offsetY: Int = 0)
        /// Repeated over the image, with gaps in pixels; one copy lies in the centre.
        case tiled(gapX: Int = 0, gapY: Int = 0)
    }

    /// The image, in the colour space of the image below.
    public let image: PixelBuffer
    /// A name of the image's content, part of the identity of the effect.
    public let identity: String
    /// The position.
    public var placement: Placement
    /// The larger fraction of the width and height of the image below that the overlay takes; `nil`
    /// for its own size.
    public var scale: Double?
    /// The opacity from 0 to 1.
    public var opacity: Double
    /// How colours are mixed.
    public var mode: BlendMode
    /// Which parts are shown; operators that change the image outside of the overlay do so.
    public var composite: CompositeOperator

    /// Creates an overlay.
    ///
    /// - Parameters:
    ///   - image: the image, in the colour space of the image below.
    ///   - identity: a name of the image's content, such as its path and version.
    ///   - placement: the position.
    ///   - scale: the fraction of the image below into which the overlay fits, more than 0 and at most
    ///     1; `nil` for its own size.
    ///   - opacity: from 0 to 1.
    ///   - mode: how colours are mixed.
    ///   - composite: which parts are shown.
    public init(
        _ image: PixelBuffer, identity: String, placement: Placement = .anchored(x: 0.5, y: 0.5),
        scale: Double? = nil, opacity: Double = 1, mode: BlendMode = .normal,
        composite: CompositeOperator = .sourceOver
    ) {
        self.image = image
        self.identity = identity
        self.placement = placement
        self.scale = scale.map { min(max($0, 0), 1) }
        self.opacity = min(max(opacity, 0), 1)
        self.mode = mode
        self.composite = composite
    }

    var text: String {
        let scale = scale.map { "\($0)" } ?? ""
        return "\(identity),\(placement),\(scale),\(opacity),\(mode.rawValue),\(composite.rawValue)"
    }

    /// The format of an image with the overlay.
    func format(over format: PixelFormat) -> PixelFormat {
        let isGray = [.gray8, .gray16, .alpha8].contains(image.format)
        let colored = isGray ? format : format.withColors
        return composite.keepsOpaque ? colored : colored.withAlpha
    }
}

/// An overlay in an image of a certain size.
struct PlacedOverlay {
    /// The rows of the overlay, multiplied by its opacity.
    private let pixels: PixelRow
    let size: PixelSize
    /// The positions of the left edges in pixels; those of the top edges.
    private let columns: [Int]
    private let rows: [Int]
    let mode: BlendMode
    let composite: CompositeOperator

    init(_ overlay: Overlay, in size: PixelSize) {
        let image = overlay.image(for: size)
        self.size = image.size
        mode = overlay.mode
        composite = overlay.composite
        (columns, rows) = overlay.placement.origins(of: image.size, in: size)
        let isPacked = [.yCbCr420, .rgb565, .rgb555].contains(image.format)
        let source = isPacked ? image.converted(to: .rgb8) : image
        let conversion = RowConversion(source.format, width: source.size.width)
        var pixels = PixelRow()
        pixels.reserveCapacity(source.size.area)
        var row = PixelRow(repeating: .zero, count: source.size.width)
        for y in 0..<source.size.height {
            conversion.unpack(source.row(y), row.indices, into: &row)
            for x in row.indices { pixels.append(row[x] * Float(overlay.opacity)) }
        }
        self.pixels = pixels
    }

    /// Composites the rows of the overlay that meet row `y` of the image.
    func composite(onto row: inout PixelRow, y: Int) {
        let (width, count) = (size.width, row.count)
        guard let top = rows.last(where: { $0 <= y }), y < top + size.height else {
            if composite.changesOutside { clear(&row, 0..<count) }
            return
        }
        let start = (y - top) * width
        var end = 0
        var backdrop = row.mutableSpan
        for column in columns {
            let shown = max(column, 0)..<min(column + width, count)
            guard !shown.isEmpty else { continue }
            if composite.changesOutside, end < shown.lowerBound {
                clear(&backdrop, end..<shown.lowerBound)
            }
            end = shown.upperBound
            Compositor.composite(
                pixels.span.extracting(
                    start + shown.lowerBound - column..<start + shown.upperBound - column),
                onto: &backdrop, at: shown.lowerBound, mode: mode, composite)
        }
        if composite.changesOutside, end < count { clear(&backdrop, end..<count) }
    }

    private func clear(_ row: inout PixelRow, _ range: Range<Int>) {
        var span = row.mutableSpan
        clear(&span, range)
    }

    /// Composites transparent pixels.
    private func clear(_ row: inout MutableSpan<SIMD4<Float>>, _ range: Range<Int>) {
        for x in range { row[x] *= composite.fractions(0, row[x].w).backdrop }
    }
}

extension Overlay {
    /// Returns the image at the size that it has in an image of `size` pixels.
    fileprivate func image(for size: PixelSize) -> PixelBuffer {
        guard let scale else { return image }
        let box = PixelSize(
            width: max(1, Int((Double(size.width) * scale).rounded())),
            height: max(1, Int((Double(size.height) * scale).rounded())))
        let geometry = ResizeGeometry(of: image.size, into: box, mode: .fit, enlarging: true)
        guard geometry.size != image.size else { return image }
        let source =
            image.format == .yCbCr420
            ? image : image.converted(to: image.format.withIntegerSamples)
        return source.resized(geometry.region, to: geometry.size)
    }
}

extension Overlay.Placement {
    /// Returns the left and top edges of the copies of an overlay that meet an image.
    fileprivate func origins(of overlay: PixelSize, in size: PixelSize) -> ([Int], [Int]) {
        switch self {
        case .origin(let x, let y): return ([x], [y])
        case .anchored(let x, let y, let offsetX, let offsetY):
            func start(_ free: Int, _ fraction: Double) -> Int {
                Int((Double(free) * min(max(fraction, 0), 1)).rounded(.down))
            }
            return (
                [start(size.width - overlay.width, x) + offsetX],
                [start(size.height - overlay.height, y) + offsetY]
            )
        case .tiled(let gapX, let gapY):
            func starts(_ side: Int, _ length: Int, _ gap: Int) -> [Int] {
                let distance = side + max(gap, 0)
                let centre = (length - side) / 2
                let before = (max(centre, 0) + distance - 1) / distance
                return Array(stride(from: centre - before * distance, to: length, by: distance))
            }
            return (
                starts(overlay.width, size.width, gapX), starts(overlay.height, size.height, gapY)
            )
        }
    }
}

/// Composites an overlay with the rows that pass.
final class OverlayStage: RowStage {
    private let overlay: PlacedOverlay
    private let next: RowStage
    private var y = 0

    init(_ overlay: PlacedOverlay, _ next: RowStage) {
        self.overlay = overlay
        self.next = next
    }

    override func append(_ row: inout PixelRow) {
        overlay.composite(onto: &row, y: y)
        y += 1
        next.append(&row)
    }

    override func finish() { next.finish() }
}
