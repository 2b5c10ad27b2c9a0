// SPDX-License-Identifier: Apache-2.0

public import Effects
public import Pixels

/// Records what is drawn; no pixel is computed before the end.
///
/// Coordinates are pixels from the top left corner, y grows downwards; ``transform`` changes them.
public struct DrawingContext: Sendable {
    /// The size of the drawing in pixels.
    public let size: PixelSize
    /// From the coordinates of the next commands to pixels.
    public var transform = Transform.identity
    /// The opacity of the next commands, from 0 to 1.
    public var opacity = 1.0
    /// How the colours of the next commands are mixed with those below.
    public var blendMode = BlendMode.normal
    let fonts: FontCollection?
    private(set) var layers: [Layer] = []
    private var clips: [Shape] = []
    private var clipBounds: PixelRect

    /// The largest number of commands of a drawing.
    public static let maximumLayerCount = 10_000

    init(size: PixelSize, scale: Double, fonts: FontCollection?) {
        self.size = size
        self.fonts = fonts
        clipBounds = PixelRect(size)
        transform = .scale(scale, scale)
    }

    /// The rectangle of the drawing.
    public var whole: SampleRegion {
        guard let inverse = transform.inverse else { return SampleRegion(size) }
        return inverse.bounds(of: SampleRegion(size))
    }

    /// Fills the drawing, or what the clips leave of it.
    public mutating func fill(_ paint: Paint) {
        append(.paint(paint, transform), clipBounds, [])
    }

    /// Fills a path.
    public mutating func fill(_ path: Path, _ paint: Paint, rule: FillRule = .winding) {
        append(
            .paint(paint, transform),
            [Shape(path: path, transform: transform, rule: rule, stroke: nil)])
    }

    /// Draws a line along a path.
    public mutating func stroke(_ path: Path, _ paint: Paint, _ stroke: Stroke) {
        guard stroke.width > 0, stroke.width.isFinite else { return }
        append(
            .paint(paint, transform),
            [Shape(path: path, transform: transform, rule: .winding, stroke: stroke)])
    }

    /// Records commands that draw inside of a path only.
    ///
    /// The state of the context is restored afterwards.
    ///
    /// - Throws: the error of `body`.
    public mutating func clip(
        _ path: Path, rule: FillRule = .winding,
        _ body: (inout DrawingContext) throws(DrawingError) -> Void
    ) throws(DrawingError) {
        try saving { context throws(DrawingError) in
            let shape = Shape(path: path, transform: context.transform, rule: rule, stroke: nil)
            let (bounds, shapes) = Self.reduced([shape], context.clipBounds)
            context.clipBounds = bounds
            context.clips += shapes
            try body(&context)
        }
    }

    /// Records commands and restores the state of the context.
    ///
    /// - Throws: the error of `body`.
    public mutating func saving(
        _ body: (inout DrawingContext) throws(DrawingError) -> Void
    ) throws(DrawingError) {
        let saved = self
        try body(&self)
        let layers = layers
        self = saved
        self.layers = layers
    }

    /// Draws an image in a rectangle.
    ///
    /// - Parameters:
    ///   - image: the image; its profile is sRGB or Display P3.
    ///   - rect: the rectangle.
    ///   - mode: how an image of other proportions is resized.
    ///   - anchor: the part that `ResizeMode/fill` keeps, or the position of a smaller image.
    public mutating func draw(
        _ image: PixelBuffer, in rect: SampleRegion, mode: ResizeMode = .fill,
        anchor: CropAnchor = .center
    ) {
        guard rect.width > 0, rect.height > 0 else { return }
        var (region, target) = (SampleRegion(image.size), rect)
        let (sx, sy) = (rect.width / region.width, rect.height / region.height)
        switch mode {
        case .stretch: break
        case .fit:
            let scale = min(sx, sy)
            target.width = region.width * scale
            target.height = region.height * scale
            target.x += (rect.width - target.width) * anchor.x
            target.y += (rect.height - target.height) * anchor.y
        case .fill:
            let scale = max(sx, sy)
            region = SampleRegion(
                x: (region.width - rect.width / scale) * anchor.x,
                y: (region.height - rect.height / scale) * anchor.y,
                width: min(rect.width / scale, region.width),
                height: min(rect.height / scale, region.height))
        }
        draw(image, region, in: target)
    }

    /// Draws a part of an image in a rectangle.
    ///
    /// - Parameters:
    ///   - image: the image; its profile is sRGB or Display P3.
    ///   - region: the part in pixels of the image.
    ///   - rect: the rectangle, which the part is stretched to.
    public mutating func draw(_ image: PixelBuffer, _ region: SampleRegion, in rect: SampleRegion) {
        draw(image, region, in: rect, interpolates: false)
    }

    /// Fills the drawing, or what the clips leave of it, with copies of an image.
    ///
    /// - Parameters:
    ///   - image: the image. A transform that scales resizes it to whole pixels; others move it only.
    ///   - origin: the top left corner of one copy.
    public mutating func tile(_ image: PixelBuffer, from origin: Point = Point(0, 0)) {
        let scales = transform.scales
        let size = PixelSize(
            width: max(1, Int((Double(image.size.width) * scales.x).rounded())),
            height: max(1, Int((Double(image.size.height) * scales.y).rounded())))
        guard size.area <= 1 << 26 else { return }
        let tile =
            size == image.size
            ? image
            : image.resampleable.resized(
                SampleRegion(image.size), to: size)
        let place = transform.applied(to: origin)
        append(
            .image(
                ImageContent(
                    image: tile.drawable, region: SampleRegion(size),
                    sampling: .tiled(x: Int(place.x.rounded()), y: Int(place.y.rounded())))),
            clipBounds, [])
    }

    /// Draws a text with its top left corner at a position.
    ///
    /// - Parameters:
    ///   - text: the text. Glyphs are drawn inside of the rectangle of its lines, with a margin of half
    ///     of the font's size; its height bounds them if it is set.
    ///   - origin: the position of the top left corner.
    ///   - paint: the colours of glyphs without colours of their own.
    /// - Returns: the size of the text.
    /// - Throws: ``DrawingError`` if the text is not valid, or the libraries are missing.
    @discardableResult
    public mutating func draw(
        _ text: TextLayout, at origin: Point, _ paint: Paint = .color(.black)
    ) throws(DrawingError) -> TextExtents {
        guard let fonts else { throw .unavailable(reason: "the renderer has no fonts") }
        try text.validate()
        let extents = try fonts.lay(text)
        let moved = transform.applied(
            after: .translation(origin.x + Self.shift(extents, text), origin.y))
        let limits = textLimits(
            text, extents.box, transform.applied(after: .translation(origin.x, origin.y)))
        let drawn = try fonts.draw(text, (moved, limits))
        if let colors = drawn.colors, let bounds = drawn.coverage?.bounds {
            let content = ImageContent(
                image: colors, region: SampleRegion(colors.size), sampling: .placed(bounds))
            append(.image(content), bounds, [])
        }
        if let coverage = drawn.coverage {
            append(glyphs: coverage, paint)
        }
        return drawn.extents
    }

    /// Returns the size of a text without drawing it.
    ///
    /// - Throws: ``DrawingError`` if the text is not valid, or the libraries are missing.
    public func measure(_ text: TextLayout) throws(DrawingError) -> TextExtents {
        guard let fonts else { throw .unavailable(reason: "the renderer has no fonts") }
        try text.validate()
        return try fonts.lay(text)
    }

    /// Returns the distance by which glyphs that leave a box of limited width and height are moved into it,
    /// such as the first letter of an italic font.
    private static func shift(_ extents: TextExtents, _ text: TextLayout) -> Double {
        guard let width = text.width, text.height != nil, extents.ink.width <= width else {
            return 0
        }
        let right = extents.ink.x + extents.ink.width
        return max(0, -extents.ink.x) - max(0, right - width)
    }

    /// Returns the pixels that the glyphs of a text can change.
    private func textLimits(
        _ text: TextLayout, _ lines: SampleRegion, _ transform: Transform
    ) -> PixelRect {
        let margin = text.font.size / 2
        var box = lines
        if let width = text.width {
            box = SampleRegion(x: 0, y: box.y, width: width, height: box.height)
        }
        if let height = text.height { box.height = min(box.height, height) }
        var limits = box.outset(by: margin)
        if text.height != nil { (limits.y, limits.height) = (box.y, box.height) }
        if text.width != nil { (limits.x, limits.width) = (0, box.width) }
        return transform.bounds(of: limits).outerPixels.intersection(clipBounds)
    }

    /// Draws part of an image; `interpolates` selects interpolation also where it is enlarged.
    mutating func draw(
        _ image: PixelBuffer, _ region: SampleRegion, in rect: SampleRegion, interpolates: Bool
    ) {
        let target = transform.bounds(of: rect)
        let pixels = PixelRect(
            x: Int(max(-1e6, min(target.x.rounded(), 1e6))),
            y: Int(max(-1e6, min(target.y.rounded(), 1e6))),
            width: Int(min(target.width.rounded(), 1e6)),
            height: Int(min(target.height.rounded(), 1e6)))
        let isWhole =
            abs(target.x - Double(pixels.x)) < 0.01 && abs(target.y - Double(pixels.y)) < 0.01
            && abs(target.width - Double(pixels.width)) < 0.01
            && abs(target.height - Double(pixels.height)) < 0.01
        if transform.isUpright, isWhole, !interpolates, !pixels.isEmpty {
            let content = ImageContent(image: image, region: region, sampling: .placed(pixels))
            append(.image(content), pixels, [])
            return
        }
        // From the region to the rectangle.
        let placing = Transform(
            a: rect.width / region.width, b: 0, c: 0, d: rect.height / region.height,
            x: rect.x - region.x * rect.width / region.width,
            y: rect.y - region.y * rect.height / region.height)
        let content = ImageContent(
            image: image, region: region,
            sampling: .interpolated(transform.applied(after: placing)))
        append(
            .image(content),
            [Shape(path: .rect(rect), transform: transform, rule: .winding, stroke: nil)])
    }

    /// Records colours where a coverage is.
    mutating func append(glyphs coverage: Coverage, _ paint: Paint) {
        append(.glyphs(coverage, paint, transform), coverage.bounds, [])
    }

    /// Records a layer inside of shapes and of the clips.
    private mutating func append(_ content: Layer.Content, _ shapes: [Shape]) {
        let (bounds, shapes) = Self.reduced(shapes, clipBounds)
        append(content, bounds, shapes)
    }

    private mutating func append(
        _ content: Layer.Content, _ bounds: PixelRect, _ shapes: [Shape]
    ) {
        let bounds = bounds.intersection(clipBounds)
        guard !bounds.isEmpty, opacity > 0 else { return }
        layers.append(
            Layer(
                content: content, bounds: bounds, shapes: clips + shapes,
                opacity: min(opacity, 1), mode: blendMode))
    }

    /// Returns the pixels inside of shapes, and the shapes that are more than a rectangle of pixels.
    private static func reduced(
        _ shapes: [Shape], _ bounds: PixelRect
    ) -> (PixelRect, [Shape]) {
        var (bounds, rest) = (bounds, [Shape]())
        for shape in shapes {
            bounds = bounds.intersection(shape.bounds)
            if let rounded = shape.roundedRect, rounded.radius == 0, rounded.rect.pixels != nil {
                continue
            }
            rest.append(shape)
        }
        return (bounds, rest)
    }
}

extension TextLayout {
    /// The largest size of a font in pixels.
    public static let maximumFontSize = 2048.0

    fileprivate func validate() throws(DrawingError) {
        guard font.size > 0, font.size <= Self.maximumFontSize else {
            throw .invalid(
                reason: "invalid font size \(font.size); use more than 0 and at most "
                    + "\(Int(Self.maximumFontSize)) pixels")
        }
        if let width, !(width >= 0 && width.isFinite) {
            throw .invalid(reason: "invalid width of a text: \(width); use at least 0 pixels")
        }
    }
}

extension PixelBuffer {
    /// The image in a format that can be resampled.
    var resampleable: PixelBuffer { converted(to: format.withIntegerSamples) }
}
