// SPDX-License-Identifier: Apache-2.0

internal import Effects
internal import Pixels

/// Computes the pixels of a drawing row by row: each row passes through all layers while it is in the
/// cache.
///
/// Coverages and resampled images of a layer exist only while its rows are computed.
struct Painter {
    private let layers: [Layer]
    private let size: PixelSize
    private let plan: RenderPlan
    private var prepared: [PreparedLayer?]
    /// Whether a layer replaces all pixels of its rows, so that those below it need not be drawn there.
    private let coversRows: [Bool]
    /// The pixels of the drawing.
    private var row: [SIMD4<Float>]
    /// The pixels of a layer.
    private var source: [SIMD4<Float>]

    init(_ layers: [Layer], _ size: PixelSize, _ plan: RenderPlan) {
        self.layers = layers
        self.size = size
        self.plan = plan
        prepared = Array(repeating: nil, count: layers.count)
        coversRows = layers.map {
            $0.isOpaque && $0.bounds.x == 0 && $0.bounds.width == size.width
        }
        row = Array(repeating: .zero, count: size.width)
        source = row
    }

    mutating func paint() throws(DrawingError) -> PixelBuffer {
        let format = plan.format ?? .rgba8
        let conversion = RowConversion(format, width: size.width)
        var result = MutablePixelBuffer(
            size: size, format: format, colorProfile: plan.space.profile)
        // Layers in their order that may contain the current row.
        var active: [Int] = []
        let starts = layers.indices.sorted {
            (layers[$0].bounds.y, $0) < (layers[$1].bounds.y, $1)
        }
        var next = 0
        for y in 0..<size.height {
            let count = active.count
            while next < starts.count, layers[starts[next]].bounds.y <= y {
                active.append(starts[next])
                next += 1
            }
            if active.count != count { active.sort() }
            let first = active.lastIndex { coversRows[$0] }
            if first == nil { for x in row.indices { row[x] = .zero } }
            for index in active[(first ?? 0)...] { try draw(index, y) }
            active.removeAll { index in
                let bounds = layers[index].bounds
                guard bounds.y + bounds.height <= y + 1 else { return false }
                prepared[index] = nil
                return true
            }
            result.withMutableRow(y) { conversion.pack(row, into: &$0) }
        }
        return result.finish()
    }

    /// Draws a row of a layer: over the pixels of the drawing, unless it replaces them.
    private mutating func draw(_ index: Int, _ y: Int) throws(DrawingError) {
        let layer = layers[index]
        let (left, count) = (layer.bounds.x, layer.bounds.width)
        if prepared[index] == nil {
            prepared[index] = try PreparedLayer(layer, plan.space)
        }
        if coversRows[index] {
            prepared[index]?.fill(&row, count: count, left: left, y: y)
            return
        }
        prepared[index]?.fill(&source, count: count, left: left, y: y)
        if layer.opacity < 1 {
            let opacity = Float(layer.opacity)
            for x in 0..<count { source[x] *= opacity }
        }
        let pixels = source
        var backdrop = row.mutableSpan
        Compositor.composite(
            pixels.span.extracting(0..<count), onto: &backdrop, at: left, mode: layer.mode,
            .sourceOver)
    }
}

/// A layer with its coverages, and its image at the size at which it is drawn.
private struct PreparedLayer {
    private enum Colors {
        case paint(PreparedPaint)
        case image(PreparedImage)
    }

    private let colors: Colors
    private let coverages: [Coverage]

    init(_ layer: Layer, _ space: WorkingSpace) throws(DrawingError) {
        var coverages: [Coverage] = []
        switch layer.content {
        case .paint(let paint, let transform):
            colors = .paint(PreparedPaint(paint, transform, space))
        case .glyphs(let coverage, let paint, let transform):
            colors = .paint(PreparedPaint(paint, transform, space))
            coverages.append(coverage)
        case .image(let content): colors = .image(PreparedImage(content, space))
        }
        for shape in layer.shapes { coverages.append(try shape.coverage(layer.bounds)) }
        self.coverages = coverages
    }

    func fill(_ row: inout [SIMD4<Float>], count: Int, left: Int, y: Int) {
        switch colors {
        case .paint(let paint): paint.fill(&row, count: count, left: left, y: y)
        case .image(let image): image.fill(&row, count: count, left: left, y: y)
        }
        for coverage in coverages { coverage.multiply(&row, count: count, left: left, y: y) }
    }
}

/// An image at the size at which it is drawn.
private struct PreparedImage {
    private let image: PixelBuffer
    private let sampling: ImageContent.Sampling
    /// From pixels to the image, for interpolation.
    private let inverse: Transform
    /// The part of the image that is interpolated.
    private let region: SampleRegion
    private let conversion: ColorConversion?

    init(_ content: ImageContent, _ space: WorkingSpace) {
        let isP3 = content.image.colorProfile.isDisplayP3
        conversion =
            isP3 == (space == .displayP3) ? nil : isP3 ? .toSRGB : .toDisplayP3
        sampling = content.sampling
        switch content.sampling {
        case .placed(let rect):
            let isUnchanged = content.region.pixels?.size == rect.size
            image =
                isUnchanged
                ? content.image.cut(content.region).drawable
                : content.image.resampleable.resized(content.region, to: rect.size).drawable
            (inverse, region) = (.identity, content.region)
        case .tiled:
            image = content.image
            (inverse, region) = (.identity, content.region)
        case .interpolated(let transform):
            let scales = transform.scales
            guard scales.x < 0.75 || scales.y < 0.75 else {
                image = content.image.drawable
                inverse = transform.inverse ?? .identity
                region = content.region
                return
            }
            // Averages the pixels that interpolation would skip.
            let size = PixelSize(
                width: max(1, Int((content.region.width * min(scales.x, 1)).rounded(.up))),
                height: max(1, Int((content.region.height * min(scales.y, 1)).rounded(.up))))
            image = content.image.resampleable.resized(content.region, to: size).drawable
            let (sx, sy) = (
                content.region.width / Double(size.width),
                content.region.height / Double(size.height)
            )
            let enlarging = Transform(
                a: sx, b: 0, c: 0, d: sy, x: content.region.x, y: content.region.y)
            inverse = transform.applied(after: enlarging).inverse ?? .identity
            region = SampleRegion(size)
        }
    }

    func fill(_ row: inout [SIMD4<Float>], count: Int, left: Int, y: Int) {
        switch sampling {
        case .placed(let rect):
            image.read(y - rect.y, from: left - rect.x, count: count, into: &row)
        case .tiled(let originX, let originY): tile(&row, count, left - originX, y - originY)
        case .interpolated: interpolate(&row, count, left, y)
        }
        conversion?.convert(&row, count: count)
    }

    private func tile(_ row: inout [SIMD4<Float>], _ count: Int, _ left: Int, _ y: Int) {
        func remainder(_ value: Int, _ side: Int) -> Int { (value % side + side) % side }
        var first = [SIMD4<Float>](repeating: .zero, count: image.size.width)
        image.read(
            remainder(y, image.size.height), from: 0, count: image.size.width, into: &first)
        var column = remainder(left, image.size.width)
        for x in 0..<count {
            row[x] = first[column]
            column = column + 1 == image.size.width ? 0 : column + 1
        }
    }

    private func interpolate(_ row: inout [SIMD4<Float>], _ count: Int, _ left: Int, _ y: Int) {
        let start = inverse.applied(to: Point(Double(left) + 0.5, Double(y) + 0.5))
        let sampler = Sampler(image, region)
        for x in 0..<count {
            row[x] = sampler.pixel(
                start.x + Double(x) * inverse.a - 0.5, start.y + Double(x) * inverse.b - 0.5)
        }
    }
}

/// Interpolates between pixels of a part of an image, whose edges continue outside of it.
private struct Sampler {
    private let image: PixelBuffer
    private let left, top, right, bottom: Double

    init(_ image: PixelBuffer, _ region: SampleRegion) {
        self.image = image
        left = max(region.x.rounded(.down), 0)
        top = max(region.y.rounded(.down), 0)
        right = min((region.x + region.width).rounded(.up), Double(image.size.width)) - 1
        bottom = min((region.y + region.height).rounded(.up), Double(image.size.height)) - 1
    }

    func pixel(_ x: Double, _ y: Double) -> SIMD4<Float> {
        let (x, y) = (min(max(x, left), right), min(max(y, top), bottom))
        let (x0, y0) = (Int(x), Int(y))
        let (x1, y1) = (min(x0 + 1, Int(right)), min(y0 + 1, Int(bottom)))
        let (u, v) = (Float(x - Double(x0)), Float(y - Double(y0)))
        let (first, second) = (image.row(y0), image.row(y1))
        let upper = mixed(read(first, x0), read(first, x1), u)
        let lower = mixed(read(second, x0), read(second, x1), u)
        return mixed(upper, lower, v)
    }

    @inline(__always)
    private func mixed(
        _ first: SIMD4<Float>, _ second: SIMD4<Float>, _ share: Float
    ) -> SIMD4<Float> {
        first + (second - first) * share
    }

    @inline(__always)
    private func read(_ row: Span<UInt8>, _ x: Int) -> SIMD4<Float> {
        switch image.format {
        case .alpha8: return SIMD4(0, 0, 0, Float(row[x]) / 255)
        case .gray8: return SIMD4(SIMD3(repeating: Float(row[x]) / 255), 1)
        case .rgb8:
            return SIMD4<Float>(samples: SIMD4(row[x * 3], row[x * 3 + 1], row[x * 3 + 2], 255))
        case .rgba8:
            return SIMD4<Float>(
                samples: SIMD4(row[x * 4], row[x * 4 + 1], row[x * 4 + 2], row[x * 4 + 3]))
        default:
            func half(_ channel: Int) -> Float {
                let index = (x * 4 + channel) * 2
                return Float(
                    Float16(bitPattern: UInt16(row[index]) | UInt16(row[index + 1]) << 8))
            }
            return SIMD4(half(0), half(1), half(2), half(3))
        }
    }
}

extension PixelBuffer {
    /// A part in whole pixels; O(1) if it is the whole image.
    fileprivate func cut(_ region: SampleRegion) -> PixelBuffer {
        guard let part = region.pixels, part != PixelRect(size) else { return self }
        return cut(part)
    }
}
