// SPDX-License-Identifier: Apache-2.0

internal import Pixels

extension Template {
    /// The names of all placeholders, in texts, sources and conditions.
    public var placeholders: Set<String> {
        Set(
            layers.flatMap { layer in
                layer.texts.flatMap(Self.names) + [layer.condition].compactMap { $0 }
            })
    }

    /// Returns the images that ``image(_:format:fonts:images:)`` requests, in the same order.
    ///
    /// - Parameters:
    ///   - values: the values of placeholders, which override the defaults of the template.
    ///   - scale: the number of pixels of a unit of the template.
    /// - Returns: the requests; equal ones are repeated.
    /// - Throws: ``DrawingError/invalid(reason:)`` if a value is missing.
    public func imageRequests(
        _ values: [String: String] = [:], scale: Double = 1
    ) throws(DrawingError) -> [ImageRequest] {
        let values = self.values.merging(values) { $1 }
        var requests: [ImageRequest] = []
        for layer in layers where layer.isDrawn(values) {
            // A text without a value is an error here, so that it is found before images are decoded.
            for text in layer.texts { _ = try Self.replaced(text, values) }
            if let request = try layer.imageRequest(values, scale) { requests.append(request) }
        }
        return requests
    }

    /// Returns the names in braces in a text.
    private static func names(in text: String) -> [String] {
        var names: [String] = []
        var rest = Substring(text)
        while let start = rest.firstIndex(of: "{") {
            rest = rest[rest.index(after: start)...]
            if rest.first == "{" {
                rest.removeFirst()
            } else if let end = rest.firstIndex(of: "}") {
                names.append(String(rest[..<end]))
                rest = rest[end...]
            }
        }
        return names
    }
}

extension TemplateLayer {
    /// The texts in which placeholders are replaced.
    fileprivate var texts: [String] {
        switch content {
        case .shape: []
        case .image(let image): [image.source]
        case .text(let text), .badge(let text): [text.text]
        case .avatar(let avatar): [avatar.source, avatar.initials].compactMap { $0 }
        }
    }

    /// Returns whether the condition of the layer is met.
    func isDrawn(_ values: [String: String]) -> Bool {
        condition.map { !values[$0, default: ""].isEmpty } ?? true
    }

    /// Returns the image that the layer needs; `nil` for none.
    func imageRequest(
        _ values: [String: String], _ scale: Double
    ) throws(DrawingError) -> Template.ImageRequest? {
        let text: String?
        var (mode, anchor) = (ResizeMode.fill, CropAnchor.center)
        switch content {
        case .image(let image): (text, mode, anchor) = (image.source, image.mode, image.anchor)
        case .avatar(let avatar): text = avatar.source
        case .shape, .text, .badge: text = nil
        }
        guard let text, case let source = try Template.replaced(text, values), !source.isEmpty
        else { return nil }
        return Template.ImageRequest(
            source: source, isFixed: !text.contains("{"), box: box.pixelSize(scale), mode: mode,
            anchor: anchor)
    }
}

extension SampleRegion {
    /// The size in whole pixels at a scale.
    fileprivate func pixelSize(_ scale: Double) -> PixelSize {
        func side(_ length: Double) -> Int {
            Int(min(max((length * scale).rounded(.up), 1), 1e6))
        }
        return PixelSize(width: side(width), height: side(height))
    }
}
