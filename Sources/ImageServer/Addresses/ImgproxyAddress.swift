// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import FoundationEssentials
internal import Pixels

/// An address in the form of imgproxy, so that a team can move over by changing a host name:
/// `/SIGNATURE/rs:fill:300:400/g:no/plain/house/1.jpg@webp`.
///
/// - SeeAlso: imgproxy's documentation, “Processing an image”, for the form and its options.
struct ImgproxyAddress {
    /// As it stands in the address.
    let signature: Substring
    /// What is signed: the path behind the signature.
    let signed: String
    let options: PictureOptions
    /// The path in the folder that is served, or a URL.
    let source: String
    /// Seconds since 1970; `nil` for ever.
    let expires: Int?
    /// Whether it asks for anything that no preset says.
    let hasOwnOptions: Bool
    /// Whether it asks for a preset.
    let hasPreset: Bool

    /// - Parameters:
    ///   - path: as it was sent, from the first slash on.
    ///   - maximumSide: the largest width or height.
    ///   - formats: the names of formats that can be written, by what addresses call them.
    ///   - known: sets of options, called presets, by their names.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` with the option that there is not.
    init(
        _ path: String, maximumSide: Int, formats: [String: String],
        presets known: [String: PictureOptions]
    ) throws(ServerError) {
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 2, let signature = parts.first else {
            throw .malformedRequest(reason: "there is no source in the address")
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
                    reason: "there is no format \u{201C}\(format.prefix(32))\u{201D}")
            }
            reader.options.format = name
            reader.hasOwnOptions = true
        }
        self.source = source
        options = reader.turnedOptions
        expires = reader.expires
        hasOwnOptions = reader.hasOwnOptions
        hasPreset = reader.hasPreset
    }

    /// Whether an address is of this form.
    ///
    /// Of the server's own, only those of what lies in a folder named `plain`, or like an option,
    /// directly in one that is served first, are; they are hidden.
    static func isOne(_ path: String) -> Bool {
        let parts = path.dropFirst().split(separator: "/", maxSplits: 2)
        guard parts.count >= 2, let name = parts[1].split(separator: ":").first else {
            return false
        }
        return parts[1] == "plain"
            || (parts[1].contains(":") && ImgproxyOptions.names.contains(name))
    }

    /// The source and, behind it, the name of a format.
    private static func source(
        _ parts: ArraySlice<Substring>
    ) throws(ServerError) -> (source: String, format: String?) {
        let isPlain = parts.first == "plain"
        let text = (isPlain ? parts.dropFirst() : parts).joined(separator: "/")
        // Base64 may be cut into segments.
        let mark: Character = isPlain ? "@" : "."
        let pieces = text.split(separator: mark, omittingEmptySubsequences: false)
        let format = pieces.count > 1 && !(pieces.last ?? "").contains("/") ? pieces.last : nil
        let name = format.map { text.dropLast($0.count + 1) } ?? text[...]
        let decoded =
            isPlain
            ? RequestPath.decoded(name.utf8)
            : AddressSignature.bytes(Substring(name.filter { $0 != "/" }))
                .flatMap { String(validating: $0, as: UTF8.self) }
        guard let decoded, !decoded.isEmpty else {
            throw .malformedRequest(reason: "there is no source in the address")
        }
        return (decoded, format.map(String.init))
    }
}

/// Reads options of imgproxy's, each a name and its arguments between colons.
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
        "disable_animation", "da",
    ]

    let maximumSide: Int
    let formats: [String: String]
    let presets: [String: PictureOptions]
    var options = PictureOptions()
    var expires: Int?
    var hasOwnOptions = false
    var hasPreset = false

    /// The options, of which those of imgproxy mean the picture after it is turned, and then mirrored.
    var turnedOptions: PictureOptions {
        var result = options
        // Without a size there is nothing to be enlarged to but the largest that is answered.
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
            guard let date = arguments.first.flatMap({ Int($0) }) else { throw wrong(text) }
            expires = date
            return
        case "cachebuster", "cb", "filename", "fn": return
        case "strip_metadata", "sm", "auto_rotate", "ar":
            // That is what is always done; something else is not.
            guard arguments.first.map(Self.isTrue) ?? true else { throw missing(text) }
            return
        case "strip_color_profile", "scp":
            options.keepsProfile = !(arguments.first.map(Self.isTrue) ?? true)
            hasOwnOptions = hasOwnOptions || options.keepsProfile
            return
        default: break
        }
        hasOwnOptions = true
        try readPicture(parts[0], arguments, text)
    }

    private mutating func readPreset(_ name: Substring) throws(ServerError) {
        guard let preset = presets[String(name)] else {
            throw .malformedRequest(
                reason: "there is no preset \u{201C}\(name.prefix(32))\u{201D}")
        }
        options = preset
        hasPreset = true
    }

    private mutating func readPicture(
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
                throw wrong(text)
            }
            options.density = density
        case "enlarge", "el": options.allowsEnlarging = Self.isTrue(argument(0) ?? "")
        case "gravity", "g": try readGravity(arguments, text)
        case "rotate", "rot":
            guard let degrees = argument(0).flatMap({ Int($0) }), degrees % 90 == 0 else {
                throw wrong(text)
            }
            options.degrees = (degrees % 360 + 360) % 360
        case "flip", "fl":
            guard !Self.isTrue(argument(1) ?? "") else { throw missing(text) }
            options.isMirrored = Self.isTrue(argument(0) ?? "")
        case "monochrome", "mc":
            guard (argument(0).flatMap { Double($0) } ?? 1) == 1, arguments.count <= 1 else {
                throw missing(text)
            }
            options.tone = .gray
        case "blur", "bl":
            guard let sigma = argument(0).flatMap({ Double($0) }), 0...100 ~= sigma else {
                throw wrong(text)
            }
            options.blur = sigma
        case "quality", "q":
            guard let quality = argument(0).flatMap({ Int($0) }), 0...100 ~= quality else {
                throw wrong(text)
            }
            options.quality = quality == 0 ? nil : quality
        case "autoquality", "aq": try readTarget(arguments, text)
        case "format", "f", "ext":
            guard let format = argument(0).flatMap({ formats[$0.lowercased()] }) else {
                throw wrong(text)
            }
            options.format = format
        case "disable_animation", "da": options.isStill = Self.isTrue(argument(0) ?? "")
        default: throw missing(text)
        }
    }

    /// `ssim` and what it must be, or `none`; what imgproxy measures otherwise is not known here.
    private mutating func readTarget(
        _ arguments: [Substring], _ text: Substring
    ) throws(ServerError) {
        switch (arguments.first, arguments.count) {
        case ("none", 1):
            options.targetSSIM = nil
            options.quality = options.quality ?? EncodeOptions().quality
        case ("ssim", 2):
            guard let target = Double(arguments[1]), EncodeOptions.targetSSIMs ~= target else {
                throw wrong(text)
            }
            options.targetSSIM = target
        default: throw missing(text)
        }
    }

    private mutating func readType(_ type: Substring, _ text: Substring) throws(ServerError) {
        switch type {
        case "fit": options.mode = .fit
        case "fill", "fill-down": options.mode = .fill
        case "force": options.mode = .stretch
        default: throw missing(text)
        }
    }

    /// Width, height, whether it may be enlarged, and whether the box is filled up.
    private mutating func readSize(
        _ arguments: ArraySlice<Substring>, _ text: Substring
    ) throws(ServerError) {
        let arguments = Array(arguments)
        if arguments.count > 0 { options.width = try side(arguments[0], text) }
        if arguments.count > 1 { options.height = try side(arguments[1], text) }
        if arguments.count > 2 { options.allowsEnlarging = Self.isTrue(arguments[2]) }
        if arguments.count > 3, Self.isTrue(arguments[3]) { throw missing(text) }
    }

    /// 0 and nothing leave a side free.
    private func side(_ argument: Substring?, _ text: Substring) throws(ServerError) -> Int? {
        guard let argument, !argument.isEmpty else { return nil }
        guard let side = Int(argument), 0...maximumSide ~= side else { throw wrong(text) }
        return side == 0 ? nil : side
    }

    private mutating func readGravity(
        _ arguments: [Substring], _ text: Substring
    ) throws(ServerError) {
        let places: [Substring: CropAnchor] = [
            "ce": .center, "no": CropAnchor(x: 0.5, y: 0), "so": CropAnchor(x: 0.5, y: 1),
            "ea": CropAnchor(x: 1, y: 0.5), "we": CropAnchor(x: 0, y: 0.5),
            "noea": CropAnchor(x: 1, y: 0), "nowe": CropAnchor(x: 0, y: 0),
            "soea": CropAnchor(x: 1, y: 1), "sowe": CropAnchor(x: 0, y: 1),
        ]
        guard let name = arguments.first, let anchor = places[name],
            arguments.dropFirst().allSatisfy({ $0.isEmpty || $0 == "0" })
        else { throw missing(text) }
        options.anchor = anchor
    }

    private static func isTrue(_ text: Substring) -> Bool { ["1", "t", "true"].contains(text) }

    private func missing(_ text: Substring) -> ServerError {
        .malformedRequest(reason: "there is no option \u{201C}\(text.prefix(32))\u{201D}")
    }

    private func wrong(_ text: Substring) -> ServerError {
        .malformedRequest(reason: "\u{201C}\(text.prefix(32))\u{201D} makes no sense")
    }
}
