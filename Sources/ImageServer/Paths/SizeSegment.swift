// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The path segment that specifies the size and the options of a rendition, such as `512x512` or
/// `1024x@2x,q70,webp`.
///
///     segment = size [ "@" density "x" ] *( "," option )
///     size    = width "x" height / width "x" / "_x" height / "_x"
///     option  = "fit" / "fill" / "stretch" / "top" / "bottom" / "left" / "right" / "up" / "gray"
///             / "profile" / "sdr" / "lossless" / "q" 1-100 / "ssim" 0.5-0.999 / "blur" sigma
///             / "still" / format name / "smart" / "focus" x "x" y / "crop" width "x" height
///             / "extend" [ "-blur" ] / "pad" margin *3( "x" margin ) / "trim" threshold
///             / "watermark" [ opacity ] *( "-" edge ) [ "-tiled" ] [ "-" scale ]
///             / "sharpen" sigma / "pixelate" side / "brightness" [ "-" ] amount
///             / "contrast" factor / "saturation" factor / "background" RRGGBB
///             / "device=" device name
///
/// `_x` takes the width from the client hints, or is the default width without any. The options of a
/// device apply where the segment has none of the same kind.
///
/// Numbers have one spelling only, so that equal renditions have equal URLs.
struct SizeSegment {
    let options: RenditionOptions

    /// Parses a segment; fails if it does not begin like a size, hence is the name of a folder.
    ///
    /// - Parameters:
    ///   - segment: the percent-decoded segment.
    ///   - maximumSide: the largest width or height in pixels.
    ///   - formats: the names of encodable formats, by their names in paths.
    ///   - devices: comma-separated options, by the names of devices.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` for a size out of range, or an unknown,
    ///   invalid or duplicate option.
    init?(
        _ segment: String, maximumSide: Int, formats: [String: String],
        devices: [String: String] = [:]
    ) throws(ServerError) {
        let parts = segment.split(separator: ",", omittingEmptySubsequences: false)
        guard let size = parts.first, let sides = Self.sides(size) else { return nil }
        var options = RenditionOptions()
        (options.width, options.height) = try Self.box(sides, maximumSide)
        options.density = try Self.density(size)
        options.leavesWidthOpen = options.width == nil && options.height == nil
        guard !options.leavesWidthOpen || options.density == nil else {
            throw .malformedRequest(reason: "density requires a width or a height")
        }
        var known: Set<Kind> = []
        var device: [Substring] = []
        for part in parts.dropFirst() {
            let kind: Kind
            if part.hasPrefix("device=") {
                device = try Self.device(part.dropFirst("device=".count), devices)
                kind = .device
            } else {
                kind = try Self.read(part, into: &options, formats)
            }
            guard known.insert(kind).inserted else {
                throw .malformedRequest(reason: "duplicate option: \(kind.rawValue) (\(part))")
            }
        }
        for part in device {
            var filled = options
            let kind = try Self.read(part, into: &filled, formats)
            if known.insert(kind).inserted { options = filled }
        }
        guard
            !known.contains(.focus) || known.isDisjoint(with: [.horizontalAnchor, .verticalAnchor])
        else {
            throw .malformedRequest(reason: "smart and focus exclude left, right, top and bottom")
        }
        self.options = options
    }

    /// Whether a segment begins like a size, whether or not it is valid.
    static func beginsLikeSize(_ segment: String) -> Bool {
        sides(segment.prefix { $0 != "," }) != nil
    }

    /// The kinds of options, each allowed once, by their names in error messages.
    enum Kind: String {
        case mode, tone, profile, range, quality, still, format, blur, device
        case focus, crop, extend, pad, trim, watermark
        case sharpen, pixelate, brightness, contrast, saturation, background
        case horizontalAnchor = "horizontal anchor"
        case verticalAnchor = "vertical anchor"
        case enlarging = "up"
    }

    /// The texts before and after the `x` if they look like sides.
    private static func sides(_ size: Substring) -> [Substring]? {
        let box = size.prefix { $0 != "@" }
        let sides = box.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, !sides[0].isEmpty else { return nil }
        let isFree = sides[0] == "_"
        guard isFree || sides[0].utf8.allSatisfy(\.isDigit),
            sides[1].utf8.allSatisfy(\.isDigit)
        else { return nil }
        return sides
    }

    private static func box(
        _ sides: [Substring], _ maximumSide: Int
    ) throws(ServerError) -> (Int?, Int?) {
        let numbers = sides.map { side -> Int? in
            side.first == "0" ? nil : Int(side).flatMap { $0 <= maximumSide ? $0 : nil }
        }
        for (side, number) in zip(sides, numbers)
        where number == nil && !side.isEmpty && side != "_" {
            throw .malformedRequest(
                reason: "invalid size; expected WIDTHxHEIGHT, whole numbers from 1 to "
                    + "\(maximumSide)")
        }
        return (numbers[0], numbers[1])
    }

    private static func density(_ size: Substring) throws(ServerError) -> Double? {
        guard let at = size.firstIndex(of: "@") else { return nil }
        let text = size[size.index(after: at)...]
        guard text.last == "x", let density = decimal(text.dropLast(), 1...8) else {
            throw .malformedRequest(reason: "invalid density; expected @1x to @8x")
        }
        return density
    }

    private static func device(
        _ name: Substring, _ devices: [String: String]
    ) throws(ServerError) -> [Substring] {
        guard let options = devices[String(name)] else {
            throw .malformedRequest(
                reason: "unknown device \u{201C}\(name.prefix(32))\u{201D}")
        }
        return options.split(separator: ",", omittingEmptySubsequences: false)
    }

    /// Parses one option.
    ///
    /// - Returns: the kind of the option.
    private static func read(
        _ part: Substring, into options: inout RenditionOptions, _ formats: [String: String]
    ) throws(ServerError) -> Kind {
        switch part {
        case "fit", "fill", "stretch":
            options.mode = ResizeMode(rawValue: String(part)) ?? .fit
            return .mode
        case "left", "right":
            options.gravity.x = part == "left" ? 0 : 1
            return .horizontalAnchor
        case "top", "bottom":
            options.gravity.y = part == "top" ? 0 : 1
            return .verticalAnchor
        case "up":
            options.allowsEnlarging = true
            return .enlarging
        case "gray":
            options.tone = .gray
            return .tone
        case "profile":
            options.keepsProfile = true
            return .profile
        case "sdr":
            options.isSDR = true
            return .range
        case "lossless":
            options.isLossless = true
            return .quality
        case "still":
            options.isStill = true
            return .still
        case _ where formats[String(part)] != nil:
            options.format = formats[String(part)]
            return .format
        case _ where part.hasPrefix("ssim"):
            let range = EncodeOptions.targetSSIMs
            if let target = decimal(part.dropFirst(4), range, decimalCount: 3) {
                options.targetSSIM = target
                return .quality
            }
        case _ where part.hasPrefix("q"):
            if let quality = decimal(part.dropFirst(), 1...100), quality == quality.rounded() {
                options.quality = Int(quality)
                return .quality
            }
        case _ where part.hasPrefix("blur"):
            if let sigma = decimal(part.dropFirst(4), 0.1...100) {
                options.blur = sigma
                return .blur
            }
        default: break
        }
        if let kind = readEffect(part, into: &options) { return kind }
        throw .malformedRequest(
            reason: "unknown or invalid option \u{201C}\(part.prefix(32))\u{201D}")
    }

    /// Parses a number without superfluous digits and with at most `decimalCount` decimals.
    static func decimal(
        _ text: Substring, _ range: ClosedRange<Double>, decimalCount: Int = 2
    ) -> Double? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), text.utf8.count <= 6,
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }),
            parts[0].count == 1 || parts[0].first != "0",
            parts.count == 1 || (parts[1].count <= decimalCount && parts[1].last != "0"),
            let number = Double(text), range.contains(number)
        else { return nil }
        return number
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII digit.
    var isDigit: Bool { (48...57).contains(self) }
}
