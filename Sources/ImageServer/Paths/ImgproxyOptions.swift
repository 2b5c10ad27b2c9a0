// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// Parses processing options, each a name and its arguments separated by colons.
struct ImgproxyOptions {
    /// The names of all options of imgproxy, also of those that are refused.
    static let names: Set<Substring> = Set(
        """
        resize rs size s resizing_type rt resizing_algorithm ra width w height h min-width mw \
        min-height mh zoom z dpr enlarge el extend ex extend_aspect_ratio extend_ar exar gravity g \
        objects_position obj_pos op crop c crop_aspect_ratio crop_ar car trim t padding pd \
        auto_rotate ar rotate rot flip fl background bg background_alpha bga adjust a brightness br \
        contrast co saturation sa monochrome mc duotone dt blur bl sharpen sh pixelate pix \
        unsharp_masking ush blur_detections bd draw_detections dd colorize col gradient gr watermark \
        wm watermark_url wmu watermark_text wmt watermark_size wms watermark_rotate wm_rot wmr \
        watermark_shadow wmsh style st strip_metadata sm keep_copyright kcr dpi strip_color_profile \
        scp enforce_thumbnail eth quality q format_quality fq autoquality aq max_bytes mb \
        jpeg_options jpgo png_options pngo webp_options webpo format f ext page pg pages pgs \
        disable_animation da video_thumbnail_second vts video_thumbnail_keyframes vtk \
        video_thumbnail_tile vtt video_thumbnail_animation vta fallback_image_url fiu \
        skip_processing skp raw cachebuster cb expires exp filename fn return_attachment att preset \
        pr hashsum hs max_src_resolution msr max_src_file_size msfs max_animation_frames maf \
        max_animation_frame_resolution mafr max_result_dimension mrd
        """.split(separator: " "))

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
        func undone(_ gravity: Gravity) -> Gravity {
            gravity.undoing(degrees: result.degrees, isMirrored: options.isMirrored)
        }
        result.gravity = undone(options.gravity)
        if case .crop(var crop) = options.region {
            if result.degrees % 180 != 0 { (crop.width, crop.height) = (crop.height, crop.width) }
            crop.gravity = crop.gravity.map(undone)
            result.region = .crop(crop)
        }
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
        case "gravity", "g": options.gravity = try gravity(arguments[...], text, allowsSmart: true)
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
        default: try readFrame(name, arguments, text)
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
        if arguments.count > 3 {
            options.frame.extending = try extending(arguments.dropFirst(3), text)
        }
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
    func color(
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

    static func isTrue(_ text: Substring) -> Bool { ["1", "t", "true"].contains(text) }

    func unsupported(_ text: Substring) -> ServerError {
        .malformedRequest(reason: "unsupported option \u{201C}\(text.prefix(32))\u{201D}")
    }

    func invalid(_ text: Substring) -> ServerError {
        .malformedRequest(reason: "invalid option \u{201C}\(text.prefix(32))\u{201D}")
    }
}
