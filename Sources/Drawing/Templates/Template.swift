// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A drawing with placeholders, such as a social card, read from JSON.
///
/// The properties are specified by `Documentation/templates.md` and its JSON schema. A placeholder is a
/// name in braces; `{{` is a brace.
public struct Template: Sendable {
    /// The size in pixels.
    public let size: PixelSize
    /// The default values of placeholders.
    public let values: [String: String]
    let background: SRGBColor?
    let layers: [TemplateLayer]
    /// Whether all pixels are opaque because the background is.
    package var isOpaque: Bool { background.map { $0.alpha >= 1 } ?? false }

    /// The largest number of bytes of a template.
    public static let maximumByteCount = 1 << 20
    /// The largest number of layers.
    public static let maximumLayerCount = 256
    /// The largest side in pixels.
    public static let maximumSide = 8192

    /// Reads a template.
    ///
    /// - Parameter text: JSON.
    /// - Throws: ``DrawingError/invalid(reason:)`` with the line, or the property and what it may be.
    public init(parsing text: String) throws(DrawingError) {
        guard text.utf8.count <= Self.maximumByteCount else {
            throw .limitExceeded(needed: text.utf8.count, allowed: Self.maximumByteCount)
        }
        var fields = try TemplateFields(try TemplateValue(parsing: text), "")
        _ = try fields.string("$schema")
        _ = try fields.string("description")
        guard
            let sides = try fields.numbers("size", count: 2, in: 1...Double(Self.maximumSide))
        else { throw fields.failure("size", "is missing") }
        size = PixelSize(width: Int(sides[0]), height: Int(sides[1]))
        background = try fields.color("background")
        values = try Self.values(&fields)
        guard case .array(let items) = try fields.required("layers") else {
            throw fields.failure("layers", "an array is expected")
        }
        guard items.count <= Self.maximumLayerCount else {
            throw fields.failure(
                "layers", "\(items.count) layers; at most \(Self.maximumLayerCount) are allowed")
        }
        var layers: [TemplateLayer] = []
        for (index, item) in items.enumerated() {
            layers.append(try TemplateLayer(try TemplateFields(item, "layers[\(index)]")))
        }
        self.layers = layers
        try fields.finish()
    }

    private static func values(
        _ fields: inout TemplateFields
    ) throws(DrawingError) -> [String: String] {
        guard let value = fields.value("values") else { return [:] }
        guard case .object(let members) = value else {
            throw fields.failure("values", "an object is expected, not \(value.typeName)")
        }
        var values: [String: String] = [:]
        for member in members {
            guard case .string(let text) = member.value else {
                throw fields.failure("values.\(member.key)", "a string is expected")
            }
            values[member.key] = text
        }
        return values
    }

    /// Returns a text with its placeholders replaced.
    static func replaced(
        _ text: String, _ values: [String: String]
    ) throws(DrawingError) -> String {
        var result = ""
        var rest = Substring(text)
        while let start = rest.firstIndex(of: "{") {
            result += rest[..<start]
            rest = rest[rest.index(after: start)...]
            if rest.first == "{" {
                result += "{"
                rest.removeFirst()
                continue
            }
            guard let end = rest.firstIndex(of: "}") else {
                throw .invalid(reason: "a placeholder has no end in \"\(text)\"; {{ is a brace")
            }
            let name = String(rest[..<end])
            guard let value = values[name] else {
                throw .invalid(
                    reason: "no value for the placeholder {\(name)}; values are given for "
                        + "\(values.keys.sorted().joined(separator: ", "))")
            }
            result += value
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }
}
