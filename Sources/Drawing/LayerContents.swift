// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// What a layer of a user interface displays, which often needs no pixels of its own.
public enum LayerContents: Sendable {
    /// One colour, with rounded corners of a radius in pixels.
    case color(SRGBColor, corners: Double)
    /// A coverage that is displayed in one colour.
    case mask(PixelBuffer, tint: SRGBColor)
    /// An image that fills the layer, with rounded corners of a radius in pixels.
    case image(PixelBuffer, corners: Double)
    /// Copies of an image, one of them in the top left corner.
    case tiled(PixelBuffer)
    /// An image whose corners keep their size.
    case ninePart(ResizableImage)
    /// An image of the size of the layer.
    case pixels(PixelBuffer)

    /// The number of bytes of pixels that exist for this layer alone.
    public var ownByteCount: Int {
        switch self {
        case .mask(let image, _), .pixels(let image): image.byteCount
        case .color, .image, .tiled, .ninePart: 0
        }
    }
}

extension LayerContents {
    /// A drawing that needs no pixels of its own; `nil` if it needs them.
    init?(_ context: DrawingContext) {
        guard let layer = context.layers.first, context.layers.count == 1,
            layer.bounds == PixelRect(context.size), layer.opacity >= 1, layer.shapes.count <= 1
        else { return nil }
        var radius = 0.0
        if let shape = layer.shapes.first {
            guard let rounded = shape.roundedRect,
                rounded.rect.pixels == PixelRect(context.size)
            else { return nil }
            radius = rounded.radius
        }
        switch layer.content {
        case .paint(.color(let color), _): self = .color(color, corners: radius)
        case .image(let content):
            switch content.sampling {
            case .placed(PixelRect(context.size))
            where content.region == SampleRegion(content.image.size):
                self = .image(content.image, corners: radius)
            case .tiled(0, 0) where radius == 0: self = .tiled(content.image)
            default: return nil
            }
        default: return nil
        }
    }

    var name: String {
        switch self {
        case .color: "a colour"
        case .mask: "a mask"
        case .image: "an image"
        case .tiled: "a tiled image"
        case .ninePart: "a nine-part image"
        case .pixels: "an image of the drawing's size"
        }
    }
}

extension DrawingContext {
    /// Draws the contents of a layer in a rectangle.
    ///
    /// - Throws: ``DrawingError`` if the contents cannot be drawn.
    public mutating func draw(
        _ contents: LayerContents, in rect: SampleRegion
    ) throws(DrawingError) {
        switch contents {
        case .color(let color, let corners):
            fill(.rounded(rect, radius: corners), .color(color))
        case .mask(let image, let tint): draw(mask: image, in: rect, .color(tint))
        case .image(let image, let corners):
            try clip(.rounded(rect, radius: corners)) { $0.draw(image, in: rect, mode: .stretch) }
        case .tiled(let image):
            try clip(.rect(rect)) { $0.tile(image, from: Point(rect.x, rect.y)) }
        case .ninePart(let image): try draw(image, in: rect)
        case .pixels(let image): draw(image, in: rect, mode: .stretch)
        }
    }

    /// Draws colours where a mask is opaque.
    ///
    /// - Parameters:
    ///   - mask: an image, of which the alpha channel is used; opaque formats cover the rectangle.
    ///   - rect: the rectangle, whose edges are rounded to whole pixels.
    ///   - paint: the colours.
    public mutating func draw(mask: PixelBuffer, in rect: SampleRegion, _ paint: Paint) {
        let target = transform.bounds(of: rect).outerPixels
        guard !target.isEmpty, target.size.area <= 1 << 28 else { return }
        let source = mask.format == .alpha8 ? mask : mask.converted(to: .rgba8)
        let resized =
            target.size == source.size
            ? source : source.resized(SampleRegion(source.size), to: target.size)
        let coverage = Coverage(alphaOf: resized, target)
        append(glyphs: coverage, paint)
    }
}
