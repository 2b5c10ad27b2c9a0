// SPDX-License-Identifier: Apache-2.0

public import Pixels

extension Template {
    /// An image that a template needs.
    public struct ImageRequest: Hashable, Sendable {
        /// The path or URL in the template after its placeholders were replaced.
        public let source: String
        /// Whether the source in the template has no placeholder.
        public let isFixed: Bool
        /// The size in pixels of the box in which the image is drawn.
        public let box: PixelSize
        /// How the image is resized to the box; the result can have the size of the box already.
        public let mode: ResizeMode
        /// The part that remains, or the position of a smaller image.
        public let anchor: CropAnchor
    }

    /// Returns the image of a request: any size, in sRGB or Display P3.
    public typealias ImageProvider = (ImageRequest) throws(DrawingError) -> PixelBuffer

    /// Draws the template.
    ///
    /// - Parameters:
    ///   - values: the values of placeholders, which override the defaults of the template.
    ///   - format: the formats that may be chosen.
    ///   - fonts: the fonts of texts.
    ///   - images: returns the image of a source.
    /// - Returns: the image.
    /// - Throws: ``DrawingError`` if a value is missing or not used by the template, and the error of
    ///   `images`.
    public func image(
        _ values: [String: String] = [:], format: ImageRendererFormat = ImageRendererFormat(),
        fonts: FontCollection, images: ImageProvider
    ) throws(DrawingError) -> PixelBuffer {
        let values = self.values.merging(values) { $1 }
        let scale = format.scale
        return try ImageRenderer(size: size, format: format, fonts: fonts).image {
            context throws(DrawingError) in
            if let background { context.fill(.color(background)) }
            for layer in layers {
                guard layer.isDrawn(values) else { continue }
                try context.saving { context throws(DrawingError) in
                    context.opacity = layer.opacity
                    try context.draw(layer, values, scale, images)
                }
            }
        }
    }
}

extension DrawingContext {
    fileprivate mutating func draw(
        _ layer: TemplateLayer, _ values: [String: String], _ scale: Double,
        _ images: Template.ImageProvider
    ) throws(DrawingError) {
        let box = layer.box
        switch layer.content {
        case .shape(let shape): draw(shape, in: box)
        case .image(let image):
            guard let request = try layer.imageRequest(values, scale) else { return }
            let pixels = try images(request)
            guard image.radius > 0 else {
                draw(pixels, in: box, mode: image.mode, anchor: image.anchor)
                return
            }
            try clip(.rounded(box, radius: image.radius)) {
                $0.draw(pixels, in: box, mode: image.mode, anchor: image.anchor)
            }
        case .text(let text): try draw(text, in: box, values)
        case .avatar(let avatar):
            let image = try layer.imageRequest(values, scale).map {
                (request) throws(DrawingError) in try images(request)
            }
            try draw(avatar, in: box, values, image)
        case .badge(let badge): try draw(badge, at: Point(box.x, box.y), values)
        }
    }

    private mutating func draw(_ shape: TemplateShape, in box: SampleRegion) {
        let path = shape.isEllipse ? Path.ellipse(in: box) : .rounded(box, radius: shape.radius)
        if let paint = shape.fill?.paint(box) { fill(path, paint) }
        if let color = shape.stroke, shape.strokeWidth > 0 {
            stroke(path, .color(color), Stroke(width: shape.strokeWidth))
        }
    }

    private mutating func draw(
        _ text: TemplateText, in box: SampleRegion, _ values: [String: String]
    ) throws(DrawingError) {
        var layout = text.layout
        layout.text = try Template.replaced(text.text, values)
        guard !layout.text.isEmpty else { return }
        (layout.width, layout.height) = (box.width, box.height)
        var origin = Point(box.x, box.y)
        if text.vertical != .top {
            let free = max(0, box.height - (try measure(layout)).box.height)
            origin.y += text.vertical == .middle ? free / 2 : free
        }
        try draw(layout, at: origin, .color(text.color))
    }

    private mutating func draw(
        _ badge: TemplateText, at origin: Point, _ values: [String: String]
    ) throws(DrawingError) {
        var layout = badge.layout
        layout.text = try Template.replaced(badge.text, values)
        guard !layout.text.isEmpty else { return }
        let size = try measure(layout).box
        let (x, y) = (badge.padding[0], badge.padding[1])
        let box = SampleRegion(
            x: origin.x, y: origin.y, width: size.width + 2 * x, height: size.height + 2 * y)
        if let paint = badge.fill?.paint(box) {
            fill(.rounded(box, radius: badge.radius), paint)
        }
        try draw(layout, at: Point(origin.x + x, origin.y + y), .color(badge.color))
    }

    private mutating func draw(
        _ avatar: TemplateAvatar, in box: SampleRegion, _ values: [String: String],
        _ image: PixelBuffer?
    ) throws(DrawingError) {
        let circle = Path.circle(in: box)
        if let image {
            try clip(circle) { $0.draw(image, in: box) }
        } else {
            let name = try Template.replaced(avatar.initials, values)
            let paint = avatar.fill?.paint(box) ?? .color(Initials.color(of: name))
            fill(circle, paint)
            try draw(
                Initials(of: name), in: box, font: avatar.font, .color(avatar.color))
        }
        if let color = avatar.border, avatar.borderWidth > 0 {
            stroke(circle, .color(color), Stroke(width: avatar.borderWidth))
        }
    }
}
