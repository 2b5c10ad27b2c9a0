// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import FoundationEssentials
internal import Pixels

/// A URL path in the syntax of imgproxy: `/SIGNATURE/rs:fill:300:400/g:no/plain/house/1.jpg@webp`.
///
/// Clients of imgproxy can switch to this server by changing the host name.
///
/// - SeeAlso: imgproxy's documentation, “Processing an image”.
struct ImgproxyPath {
    /// The first segment of the path.
    let signature: Substring
    /// The signed text: the path after the signature.
    let signed: String
    /// The options of the rendition.
    let options: RenditionOptions
    /// The path in the served folder, or a URL.
    let source: String
    /// The expiry time in seconds since 1970; `nil` if it never expires.
    let expires: Int?
    /// Whether the path has options other than presets.
    let hasOwnOptions: Bool
    /// Whether the path names a preset.
    let hasPreset: Bool

    /// Parses a path.
    ///
    /// - Parameters:
    ///   - path: the percent-encoded path.
    ///   - maximumSide: the largest width or height in pixels.
    ///   - formats: the names of encodable formats, by their names in paths.
    ///   - known: the options of presets, by their names.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` for an unknown or invalid option.
    init(
        _ path: String, maximumSide: Int, formats: [String: String],
        presets known: [String: RenditionOptions]
    ) throws(ServerError) {
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 2, let signature = parts.first else {
            throw .malformedRequest(reason: "missing source in the imgproxy URL")
        }
        self.signature = signature
        signed = String(path.dropFirst(1 + signature.count))
        var reader = ImgproxyOptions(maximumSide: maximumSide, formats: formats, presets: known)
        var rest = parts.dropFirst()
        while let part = rest.first, part.contains(":") {
            try reader.read(part)
            rest = rest.dropFirst()
        }
        let (source, format) = try Self.source(rest)
        if let format {
            guard let name = formats[format.lowercased()] else {
                throw .malformedRequest(
                    reason: "unknown format \u{201C}\(format.prefix(32))\u{201D}")
            }
            reader.options.format = name
            reader.hasOwnOptions = true
        }
        self.source = source
        options = reader.orientedOptions
        expires = reader.expires
        hasOwnOptions = reader.hasOwnOptions
        hasPreset = reader.hasPreset
    }

    /// Whether a path has the syntax of imgproxy: its second segment is `plain` or an option.
    ///
    /// Files in a folder of such a name on the second level are hidden by it.
    static func matches(_ path: String) -> Bool {
        let parts = path.dropFirst().split(separator: "/", maxSplits: 2)
        guard parts.count >= 2, let name = parts[1].split(separator: ":").first else {
            return false
        }
        return parts[1] == "plain"
            || (parts[1].contains(":") && ImgproxyOptions.names.contains(name))
    }

    /// Splits the last segments into the source and the name of a format.
    private static func source(
        _ parts: ArraySlice<Substring>
    ) throws(ServerError) -> (source: String, format: String?) {
        let isPlain = parts.first == "plain"
        let text = (isPlain ? parts.dropFirst() : parts).joined(separator: "/")
        // The Base64 form may be split into segments.
        let mark: Character = isPlain ? "@" : "."
        let pieces = text.split(separator: mark, omittingEmptySubsequences: false)
        let format = pieces.count > 1 && !(pieces.last ?? "").contains("/") ? pieces.last : nil
        let name = format.map { text.dropLast($0.count + 1) } ?? text[...]
        let decoded =
            isPlain
            ? RequestPath.decoded(name.utf8)
            : PathSignature.bytes(Substring(name.filter { $0 != "/" }))
                .flatMap { String(validating: $0, as: UTF8.self) }
        guard let decoded, !decoded.isEmpty else {
            throw .malformedRequest(reason: "missing source in the imgproxy URL")
        }
        return (decoded, format.map(String.init))
    }
}

/// Parses processing options, each a name and its arguments separated by colons.
private struct ImgproxyOptions {
    static let names: Set<Substring> = [
        "resize", "rs", "size", "s", "resizing_type", "rt", "width", "w", "height", "h", "dpr",
        "autoquality", "aq", "enlarge", "el", "gravity", "g", "crop", "c", "rotate", "rot", "blur",
        "bl", "quality", "q",
        "format", "f", "ext", "preset", "pr", "expires", "exp", "cachebuster", "cb",
        "strip_metadata", "sm", "strip_color_profile", "scp", "auto_rotate", "ar", "flip", "fl",
        "monochrome", "mc", "filename", "fn", "return_attachment", "att", "raw", "zoom", "z",
        "max_bytes", "mb", "background", "bg", "padding", "pd", "trim", "t", "extend", "ex",
        "sharpen", "sh", "pixelate", "pix", "watermark", "wm", "skip_processing", "skp",
        "min-width", "mw", "min-height", "mh", "page", "pg", "style", "st",
        "disable_animation", "da", "brightness", "br", "contrast", "co", "saturation", "sa",
    ]

    let maximumSide: Int
    let formats: [String: String]
    let presets: [String: RenditionOptions]
    var options = RenditionOptions()
    var expires: Int?
    var hasOwnOptions = false
    var hasPreset = false

    /// The options for the image before rotation; imgproxy's box and gravity apply after it.
    var orientedOptions: RenditionOptions {
        var result = options
        // Without a size, the image would be enlarged to the maximum.
        if options.width == nil, options.height == nil { result.allowsEnlarging = false }
        if options.isMirrored { result.degrees = (360 - options.degrees) % 360 }
        if result.degrees % 180 != 0 {
            (result.width, result.height) = (options.height, options.width)
        }
        let (x, y) = (options.anchor.x, options.anchor.y)
        switch result.degrees {
        case 90: result.anchor = CropAnchor(x: y, y: 1 - x)
        case 180: result.anchor = CropAnchor(x: 1 - x, y: 1 - y)
        case 270: result.anchor = CropAnchor(x: 1 - y, y: x)
        default: break
        }
        if options.isMirrored { result.anchor.x = 1 - result.anchor.x }
        return result
    }

    mutating func read(_ text: Substring) throws(ServerError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let arguments = Array(parts.dropFirst())
        switch parts[0] {
        case "preset", "pr":
            for name in arguments { try readPreset(name) }
            return
        case "expires", "exp":
            guard let date = arguments.first.flatMap({ Int($0) }) else { throw invalid(text) }
            expires = date
            return
        case "cachebuster", "cb", "filename", "fn": return
        case "strip_metadata", "sm", "auto_rotate", "ar":
            // Always applied; it cannot be switched off.
            guard arguments.first.map(Self.isTrue) ?? true else { throw unsupported(text) }
            return
        case "strip_color_profile", "scp":
            options.keepsProfile = !(arguments.first.map(Self.isTrue) ?? true)
            hasOwnOptions = hasOwnOptions || options.keepsProfile
            return
        default: break
        }
        hasOwnOptions = true
        try readRenditionOption(parts[0], arguments, text)
    }

    private mutating func readPreset(_ name: Substring) throws(ServerError) {
        guard let preset = presets[String(name)] else {
            throw .malformedRequest(
                reason: "unknown preset \u{201C}\(name.prefix(32))\u{201D}")
        }
        options = preset
        hasPreset = true
    }

    private mutating func readRenditionOption(
        _ name: Substring, _ arguments: [Substring], _ text: Substring
    ) throws(ServerError) {
        func argument(_ index: Int) -> Substring? {
            arguments.indices.contains(index) && !arguments[index].isEmpty ? arguments[index] : nil
        }
        switch name {
        case "resize", "rs":
            try argument(0).map { type throws(ServerError) in try readType(type, text) }
            try readSize(arguments.dropFirst(), text)
        case "size", "s": try readSize(arguments[...], text)
        case "resizing_type", "rt": try readType(argument(0) ?? "", text)
        case "width", "w": options.width = try side(argument(0), text)
        case "height", "h": options.height = try side(argument(0), text)
        case "dpr":
            guard let density = argument(0).flatMap({ Double($0) }), density > 0, density <= 8
            else {
                throw invalid(text)
            }
            options.density = density
        case "enlarge", "el": options.allowsEnlarging = Self.isTrue(argument(0) ?? "")
        case "gravity", "g": try readGravity(arguments, text)
        case "rotate", "rot":
            guard let degrees = argument(0).flatMap({ Int($0) }), degrees % 90 == 0 else {
                throw invalid(text)
            }
            options.degrees = (degrees % 360 + 360) % 360
        case "flip", "fl":
            guard !Self.isTrue(argument(1) ?? "") else { throw unsupported(text) }
            options.isMirrored = Self.isTrue(argument(0) ?? "")
        case "monochrome", "mc":
            guard (argument(0).flatMap { Double($0) } ?? 1) == 1, arguments.count <= 1 else {
                throw unsupported(text)
            }
            options.tone = .gray
        case "quality", "q":
            guard let quality = argument(0).flatMap({ Int($0) }), 0...100 ~= quality else {
                throw invalid(text)
            }
            options.quality = quality == 0 ? nil : quality
        case "autoquality", "aq": try readTarget(arguments, text)
        case "format", "f", "ext":
            guard let format = argument(0).flatMap({ formats[$0.lowercased()] }) else {
                throw invalid(text)
            }
            options.format = format
        case "disable_animation", "da": options.isStill = Self.isTrue(argument(0) ?? "")
        default: try readEffect(name, arguments, text)
        }
    }

    /// Parses an option that changes colours or neighbouring pixels.
    private mutating func readEffect(
        _ name: Substring, _ arguments: [Substring], _ text: Substring
    ) throws(ServerError) {
        switch name {
        case "blur", "bl": options.blur = try number(arguments, 0...100, text)
        case "sharpen", "sh": options.sharpening = try number(arguments, 0...10, text)
        case "pixelate", "pix": options.pixelation = try side(arguments.first, text) ?? 0
        case "brightness", "br": options.brightness = try number(arguments, -255...255, text)
        case "contrast", "co": options.contrast = try number(arguments, 0...100, text)
        case "saturation", "sa": options.saturation = try number(arguments, 0...100, text)
        case "background", "bg": options.background = try color(arguments, text)
        default: throw unsupported(text)
        }
    }

    /// Parses `autoquality`: `ssim` with a target, or `none`; other methods are unsupported.
    private mutating func readTarget(
        _ arguments: [Substring], _ text: Substring
    ) throws(ServerError) {
        switch (arguments.first, arguments.count) {
        case ("none", 1):
            options.targetSSIM = nil
            options.quality = options.quality ?? EncodeOptions().quality
        case ("ssim", 2):
            guard let target = Double(arguments[1]), EncodeOptions.targetSSIMs ~= target else {
                throw invalid(text)
            }
            options.targetSSIM = target
        default: throw unsupported(text)
        }
    }

    private mutating func readType(_ type: Substring, _ text: Substring) throws(ServerError) {
        switch type {
        case "fit": options.mode = .fit
        case "fill", "fill-down": options.mode = .fill
        case "force": options.mode = .stretch
        default: throw unsupported(text)
        }
    }

    /// Parses width, height, enlarge and extend.
    private mutating func readSize(
        _ arguments: ArraySlice<Substring>, _ text: Substring
    ) throws(ServerError) {
        let arguments = Array(arguments)
        if arguments.count > 0 { options.width = try side(arguments[0], text) }
        if arguments.count > 1 { options.height = try side(arguments[1], text) }
        if arguments.count > 2 { options.allowsEnlarging = Self.isTrue(arguments[2]) }
        if arguments.count > 3, Self.isTrue(arguments[3]) { throw unsupported(text) }
    }

    /// Parses the only argument, a number.
    private func number(
        _ arguments: [Substring], _ range: ClosedRange<Double>, _ text: Substring
    ) throws(ServerError) -> Double {
        guard arguments.count == 1, let number = Double(arguments[0]), range ~= number else {
            throw invalid(text)
        }
        return number
    }

    /// Parses three bytes or six hexadecimal digits; an empty argument is `nil`.
    private func color(
        _ arguments: [Substring], _ text: Substring
    ) throws(ServerError) -> SRGBColor? {
        var bytes = arguments.compactMap { UInt8($0) }
        if arguments.count == 1 {
            if arguments[0].isEmpty { return nil }
            let digits = Array(arguments[0])
            guard digits.count == 6, digits.allSatisfy(\.isHexDigit) else { throw invalid(text) }
            bytes = stride(from: 0, to: 6, by: 2).compactMap {
                UInt8(String(digits[$0...$0 + 1]), radix: 16)
            }
        } else if arguments.count != 3 {
            throw invalid(text)
        }
        guard bytes.count == 3 else { throw invalid(text) }
        let parts = bytes.map { Double($0) / 255 }
        return SRGBColor(red: parts[0], green: parts[1], blue: parts[2])
    }

    /// Parses a side; 0 and an empty argument leave it free.
    private func side(_ argument: Substring?, _ text: Substring) throws(ServerError) -> Int? {
        guard let argument, !argument.isEmpty else { return nil }
        guard let side = Int(argument), 0...maximumSide ~= side else { throw invalid(text) }
        return side == 0 ? nil : side
    }

    private mutating func readGravity(
        _ arguments: [Substring], _ text: Substring
    ) throws(ServerError) {
        let anchors: [Substring: CropAnchor] = [
            "ce": .center, "no": CropAnchor(x: 0.5, y: 0), "so": CropAnchor(x: 0.5, y: 1),
            "ea": CropAnchor(x: 1, y: 0.5), "we": CropAnchor(x: 0, y: 0.5),
            "noea": CropAnchor(x: 1, y: 0), "nowe": CropAnchor(x: 0, y: 0),
            "soea": CropAnchor(x: 1, y: 1), "sowe": CropAnchor(x: 0, y: 1),
        ]
        guard let name = arguments.first, let anchor = anchors[name],
            arguments.dropFirst().allSatisfy({ $0.isEmpty || $0 == "0" })
        else { throw unsupported(text) }
        options.anchor = anchor
    }

    private static func isTrue(_ text: Substring) -> Bool { ["1", "t", "true"].contains(text) }

    private func unsupported(_ text: Substring) -> ServerError {
        .malformedRequest(reason: "unsupported option \u{201C}\(text.prefix(32))\u{201D}")
    }

    private func invalid(_ text: Substring) -> ServerError {
        .malformedRequest(reason: "invalid option \u{201C}\(text.prefix(32))\u{201D}")
    }
}
