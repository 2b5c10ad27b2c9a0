// SPDX-License-Identifier: Apache-2.0

internal import Pixels

/// A layer of a template.
struct TemplateLayer: Sendable {
    enum Content: Sendable {
        case shape(TemplateShape)
        case image(TemplateImage)
        case text(TemplateText)
        case avatar(TemplateAvatar)
        case badge(TemplateText)
    }

    private enum Kind: String, CaseIterable {
        case rect, ellipse, image, text, avatar, badge
    }

    /// A placeholder whose value must not be empty for the layer to be drawn.
    let condition: String?
    let opacity: Double
    /// In pixels; the size of a badge is that of its text.
    let box: SampleRegion
    let content: Content

    init(_ source: TemplateFields) throws(DrawingError) {
        var fields = source
        guard let kind = try fields.choice("type", Kind.self) else {
            throw fields.failure("type", "is missing")
        }
        _ = try fields.string("description")
        condition = try fields.string("if")
        opacity = try fields.number("opacity", in: 0...1) ?? 1
        let range = -100_000.0...100_000
        if kind == .badge {
            guard let origin = try fields.numbers("at", count: 2, in: range) else {
                throw fields.failure("at", "is missing")
            }
            box = SampleRegion(x: origin[0], y: origin[1], width: 0, height: 0)
        } else {
            guard let sides = try fields.numbers("box", count: 4, in: range) else {
                throw fields.failure("box", "is missing")
            }
            guard sides[2] > 0, sides[3] > 0 else {
                throw fields.failure("box", "width and height must be more than 0")
            }
            box = SampleRegion(x: sides[0], y: sides[1], width: sides[2], height: sides[3])
        }
        switch kind {
        case .rect: content = .shape(try TemplateShape(&fields, isEllipse: false))
        case .ellipse: content = .shape(try TemplateShape(&fields, isEllipse: true))
        case .image: content = .image(try TemplateImage(&fields))
        case .text: content = .text(try TemplateText(&fields, isBadge: false))
        case .avatar: content = .avatar(try TemplateAvatar(&fields))
        case .badge: content = .badge(try TemplateText(&fields, isBadge: true))
        }
        try fields.finish()
    }
}

/// A rectangle or an ellipse.
struct TemplateShape: Sendable {
    let isEllipse: Bool
    let radius: Double
    let fill: TemplateFill?
    let stroke: SRGBColor?
    let strokeWidth: Double

    init(_ fields: inout TemplateFields, isEllipse: Bool) throws(DrawingError) {
        self.isEllipse = isEllipse
        radius = isEllipse ? 0 : try fields.number("radius", in: 0...10_000) ?? 0
        fill = try TemplateFill(&fields)
        stroke = try fields.color("stroke")
        strokeWidth = try fields.number("strokeWidth", in: 0...1000) ?? 1
    }
}

/// A colour, or a gradient in the direction of an angle.
struct TemplateFill: Sendable {
    let stops: [Gradient.Stop]
    /// As in CSS: 0 is to the top, 90 to the right; `nil` for a radial gradient.
    let angle: Double?

    private enum Kind: String, CaseIterable {
        case linear, radial
    }

    /// - Returns: `nil` if there is no property `fill`.
    init?(_ fields: inout TemplateFields) throws(DrawingError) {
        guard let value = fields.value("fill") else { return nil }
        if case .string(let text) = value {
            guard let color = SRGBColor(hexadecimal: text) else {
                throw fields.failure(
                    "fill", "invalid colour \"\(text)\"; use #rgb, #rgba, #rrggbb or #rrggbbaa")
            }
            stops = [Gradient.Stop(0, color)]
            angle = 180
            return
        }
        var gradient = try TemplateFields(value, "\(fields.path).fill")
        let kind = try gradient.choice("gradient", Kind.self) ?? .linear
        let degrees = try gradient.number("angle", in: -3600...3600) ?? 180
        angle = kind == .linear ? degrees : nil
        guard case .array(let items) = try gradient.required("stops"), !items.isEmpty,
            items.count <= 64
        else { throw gradient.failure("stops", "an array of 1 to 64 stops is expected") }
        var stops: [Gradient.Stop] = []
        for (index, item) in items.enumerated() {
            var stop = try TemplateFields(item, "\(gradient.path).stops[\(index)]")
            let even = items.count > 1 ? Double(index) / Double(items.count - 1) : 0
            guard let color = try stop.color("color") else {
                throw stop.failure("color", "is missing")
            }
            stops.append(
                Gradient.Stop(try stop.number("position", in: 0...1) ?? even, color))
            try stop.finish()
        }
        self.stops = stops
        try gradient.finish()
    }

    /// Returns the paint of a rectangle.
    func paint(_ box: SampleRegion) -> Paint {
        guard stops.count > 1 else { return .color(stops[0].color) }
        let center = Point(box.x + box.width / 2, box.y + box.height / 2)
        guard let angle else {
            let radius = (box.width * box.width + box.height * box.height).squareRoot() / 2
            return .radial(Gradient(stops), center: center, radius: radius)
        }
        // The line is so long that the corners have the colours of the ends, as in CSS.
        let direction = Transform.rotation(degrees: angle).applied(to: Point(0, -1))
        let half = (abs(direction.x) * box.width + abs(direction.y) * box.height) / 2
        return .linear(
            Gradient(stops),
            from: Point(center.x - direction.x * half, center.y - direction.y * half),
            to: Point(center.x + direction.x * half, center.y + direction.y * half))
    }
}

/// An image in a box.
struct TemplateImage: Sendable {
    let source: String
    let mode: ResizeMode
    let anchor: CropAnchor
    let radius: Double

    init(_ fields: inout TemplateFields) throws(DrawingError) {
        guard let source = try fields.string("source") else {
            throw fields.failure("source", "is missing")
        }
        self.source = source
        mode = try fields.choice("mode", ResizeMode.self) ?? .fill
        let anchor = try fields.numbers("anchor", count: 2, in: 0...1) ?? [0.5, 0.5]
        self.anchor = CropAnchor(x: anchor[0], y: anchor[1])
        radius = try fields.number("radius", in: 0...10_000) ?? 0
    }
}

/// A text in a box, or on a background of its size.
struct TemplateText: Sendable {
    enum Horizontal: String, CaseIterable {
        case start, center, end
    }
    enum Vertical: String, CaseIterable {
        case top, middle, bottom
    }

    let text: String
    let layout: TextLayout
    let color: SRGBColor
    let vertical: Vertical
    let fill: TemplateFill?
    let padding: [Double]
    let radius: Double

    init(_ fields: inout TemplateFields, isBadge: Bool) throws(DrawingError) {
        guard let text = try fields.string("text") else {
            throw fields.failure("text", "is missing")
        }
        self.text = text
        let size = try fields.number("size", in: 1...TextLayout.maximumFontSize) ?? 32
        let font = TextLayout.Font(name: try fields.string("font") ?? "Sans", size: size)
        var layout = TextLayout("", font: font)
        color = try fields.color("color") ?? .black
        layout.letterSpacing = try fields.number("letterSpacing", in: -100...100) ?? 0
        layout.language = try fields.string("language") ?? "en"
        if isBadge {
            layout.lineLimit = 1
            fill = try TemplateFill(&fields)
            padding = try fields.numbers("padding", count: 2, in: 0...1000) ?? [16, 8]
            radius = try fields.number("radius", in: 0...10_000) ?? 10_000
            layout.width = try fields.number("maximumWidth", in: 1...100_000)
            vertical = .top
        } else {
            (fill, padding, radius) = (nil, [0, 0], 0)
            if let lines = try fields.number("lines", in: 1...1000) {
                layout.lineLimit = Int(lines)
            }
            if let smallest = try fields.number("minimumSize", in: 1...size) {
                layout.overflow = .shrinking(to: smallest)
            }
            layout.lineSpacing = try fields.number("lineSpacing", in: 0.5...5)
            switch try fields.choice("align", Horizontal.self) ?? .start {
            case .start: layout.alignment = .start
            case .center: layout.alignment = .center
            case .end: layout.alignment = .end
            }
            vertical = try fields.choice("vertical", Vertical.self) ?? .top
        }
        self.layout = layout
    }
}

/// A round image, or initials if there is no image.
struct TemplateAvatar: Sendable {
    let source: String?
    let initials: String
    let font: String
    let color: SRGBColor
    /// `nil` for a colour that follows from the initials.
    let fill: TemplateFill?
    let border: SRGBColor?
    let borderWidth: Double

    init(_ fields: inout TemplateFields) throws(DrawingError) {
        source = try fields.string("source")
        initials = try fields.string("initials") ?? ""
        font = try fields.string("font") ?? "Sans Bold"
        color = try fields.color("color") ?? .white
        fill = try TemplateFill(&fields)
        border = try fields.color("border")
        borderWidth = try fields.number("borderWidth", in: 0...1000) ?? 2
    }
}
