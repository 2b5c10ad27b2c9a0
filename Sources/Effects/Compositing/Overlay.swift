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
        return
            "\(identity),\(placement.text),\(scale),\(opacity),\(mode.rawValue),\(composite.rawValue)"
    }

    /// The format of an image with the overlay.
    func format(over format: PixelFormat) -> PixelFormat {
        let isGray = [.gray8, .gray16, .alpha8].contains(image.format)
        let colored = isGray ? format : format.withColors
        return composite.keepsOpaque ? colored : colored.withAlpha
    }
}

/// Composites an overlay with the rows that pass.
final class OverlayStage: RowStage {
    private let image: PixelBuffer
    private let conversion: RowConversion
    private let opacity: Float
    private let mode: BlendMode
    private let composite: CompositeOperator
    /// The left edges of the copies in pixels.
    private let columns: [Int]
    /// The top edges of the copies in pixels.
    private let rows: [Int]
    private let next: RowStage
    /// A row of the overlay, multiplied by its opacity.
    private var pixels: PixelRow
    private var y = 0

    /// - Parameters:
    ///   - overlay: the overlay.
    ///   - size: the size of the image below.
    ///   - next: receives as many rows.
    init(_ overlay: Overlay, in size: PixelSize, _ next: RowStage) {
        image = overlay.image(for: size).unpacked
        conversion = RowConversion(image.format, width: image.size.width)
        opacity = Float(overlay.opacity)
        mode = overlay.mode
        composite = overlay.composite
        (columns, rows) = overlay.placement.origins(of: image.size, in: size)
        pixels = PixelRow(repeating: .zero, count: image.size.width)
        self.next = next
    }

    override func append(_ row: inout PixelRow) {
        composite(onto: &row)
        y += 1
        next.append(&row)
    }

    override func finish() { next.finish() }

    /// Composites the rows of all copies that meet the current row of the image.
    private func composite(onto row: inout PixelRow) {
        let (width, count) = (image.size.width, row.count)
        guard let top = rows.last(where: { $0 <= y }), y < top + image.size.height else {
            if composite.changesOutside { clear(&row, 0..<count) }
            return
        }
        unpack(y - top)
        var end = 0
        for column in columns {
            let shown = max(column, 0)..<max(min(column + width, count), max(column, 0))
            guard !shown.isEmpty else { continue }
            if composite.changesOutside, end < shown.lowerBound {
                clear(&row, end..<shown.lowerBound)
            }
            end = shown.upperBound
            let source = pixels
            var backdrop = row.mutableSpan
            Compositor.composite(
                source.span.extracting(shown.lowerBound - column..<shown.upperBound - column),
                onto: &backdrop, at: shown.lowerBound, mode: mode, composite)
        }
        if composite.changesOutside, end < count { clear(&row, end..<count) }
    }

    private func unpack(_ y: Int) {
        let image = image
        conversion.unpack(image.row(y), pixels.indices, into: &pixels)
        guard opacity < 1 else { return }
        for x in pixels.indices { pixels[x] *= opacity }
    }

    /// Composites transparent pixels.
    private func clear(_ row: inout PixelRow, _ range: Range<Int>) {
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
        return image.converted(to: image.format.withIntegerSamples).resized(
            geometry.region, to: geometry.size)
    }
}

extension Overlay.Placement {
    fileprivate var text: String {
        switch self {
        case .origin(let x, let y): "at\(x),\(y)"
        case .anchored(let x, let y, let offsetX, let offsetY):
            "anchored\(x),\(y),\(offsetX),\(offsetY)"
        case .tiled(let gapX, let gapY): "tiled\(gapX),\(gapY)"
        }
    }

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
