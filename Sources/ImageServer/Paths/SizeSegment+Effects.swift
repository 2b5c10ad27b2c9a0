// SPDX-License-Identifier: Apache-2.0

internal import Effects
internal import Pixels

extension SizeSegment {
    /// Parses an option that changes colours, chooses a part, or surrounds or covers the image.
    ///
    /// - Parameters:
    ///   - part: the option.
    ///   - options: receives its value.
    /// - Returns: the kind of the option; `nil` if it is unknown or invalid.
    static func readEffect(
        _ part: Substring, into options: inout RenditionOptions
    ) -> Kind? {
        let names: [Kind] = [
            .focus, .crop, .extend, .pad, .trim, .watermark, .sharpen, .pixelate, .brightness,
            .contrast, .saturation, .background,
        ]
        if part == "smart" {
            options.gravity.isSmart = true
            return .focus
        }
        guard let kind = names.first(where: { part.hasPrefix($0.rawValue) }) else { return nil }
        let value = part.dropFirst(kind.rawValue.count)
        let isValid =
            switch kind {
            case .focus, .crop, .extend, .pad, .trim: readFrame(kind, value, into: &options)
            case .watermark: readWatermark(value, into: &options)
            default: readColors(kind, value, into: &options)
            }
        return isValid ? kind : nil
    }

    /// Parses what changes colours or neighbouring pixels; returns whether it is valid.
    private static func readColors(
        _ kind: Kind, _ value: Substring, into options: inout RenditionOptions
    ) -> Bool {
        switch kind {
        case .sharpen:
            guard let sigma = decimal(value, 0.1...10) else { return false }
            options.sharpening = sigma
        case .pixelate:
            guard let side = whole(value, 2...1000) else { return false }
            options.pixelation = side
        case .brightness:
            let isDarker = value.first == "-"
            guard let amount = whole(isDarker ? value.dropFirst() : value, 1...255) else {
                return false
            }
            options.brightness = Double(isDarker ? -amount : amount)
        case .contrast, .saturation:
            guard let factor = decimal(value, 0...100) else { return false }
            if kind == .contrast { options.contrast = factor } else { options.saturation = factor }
        default:
            guard let color = color(value) else { return false }
            options.background = color
        }
        return true
    }

    /// Parses what chooses a part or surrounds the image; returns whether it is valid.
    private static func readFrame(
        _ kind: Kind, _ value: Substring, into options: inout RenditionOptions
    ) -> Bool {
        let pieces = value.split(separator: "x", omittingEmptySubsequences: false)
        switch kind {
        case .focus:
            let sides = pieces.compactMap { decimal($0, 0...1, decimalCount: 3) }
            guard pieces.count == 2, sides.count == 2, options.gravity == .center else {
                return false
            }
            options.gravity = Gravity(focusX: sides[0], focusY: sides[1])
        case .crop:
            let sides = pieces.compactMap { decimal($0, 0.001...65_535, decimalCount: 3) }
            guard pieces.count == 2, sides.count == 2 else { return false }
            options.region = .crop(RenditionOptions.Crop(width: sides[0], height: sides[1]))
        case .extend:
            guard value.isEmpty || value == "-blur" else { return false }
            options.frame.extending = FrameOptions.Extending(isBlurred: !value.isEmpty)
        case .pad:
            let sides = pieces.compactMap { whole($0, 0...8_192) }
            guard 1...4 ~= pieces.count, sides.count == pieces.count else { return false }
            let right = sides.count > 1 ? sides[1] : sides[0]
            options.frame.margins = FrameOptions.Margins(
                top: sides[0], right: right, bottom: sides.count > 2 ? sides[2] : sides[0],
                left: sides.count > 3 ? sides[3] : right)
        default:
            guard let threshold = decimal(value, 0...255) else { return false }
            options.trimming = Trimming(threshold: threshold)
            options.isStill = true
        }
        return true
    }

    /// Parses opacity, edges and scale; returns whether they are valid.
    private static func readWatermark(
        _ value: Substring, into options: inout RenditionOptions
    ) -> Bool {
        var watermark = FrameOptions.Watermark()
        var pieces = value.split(separator: "-", omittingEmptySubsequences: false)[...]
        if let first = pieces.popFirst(), !first.isEmpty {
            guard let opacity = decimal(first, 0.01...1) else { return false }
            watermark.opacity = opacity
        }
        if let last = pieces.last, let scale = decimal(last, 0.001...1, decimalCount: 3) {
            watermark.scale = scale
            pieces.removeLast()
        }
        for piece in pieces {
            switch piece {
            case "left", "right": watermark.gravity.x = piece == "left" ? 0 : 1
            case "top", "bottom": watermark.gravity.y = piece == "top" ? 0 : 1
            case "tiled": watermark.isTiled = true
            default: return false
            }
        }
        options.frame.watermark = watermark
        return true
    }

    private static func whole(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        decimal(text, Double(range.lowerBound)...Double(range.upperBound), decimalCount: 0)
            .map { Int($0) }
    }

    private static func color(_ digits: Substring) -> SRGBColor? {
        guard digits.utf8.count == 6, digits.allSatisfy({ $0.isHexDigit && !$0.isUppercase }),
            let number = Int(digits, radix: 16)
        else { return nil }
        func part(_ shift: Int) -> Double { Double(number >> shift & 255) / 255 }
        return SRGBColor(red: part(16), green: part(8), blue: part(0))
    }
}
