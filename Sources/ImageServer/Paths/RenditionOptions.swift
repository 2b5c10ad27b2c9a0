// SPDX-License-Identifier: Apache-2.0

internal import Effects
internal import EncodedImages
internal import ImageLoading
internal import LoadScheduling
internal import Pixels

/// The options of a rendition, the common result of all path grammars.
struct RenditionOptions: Hashable {
    /// The part of the original that is shown.
    enum Region: Hashable {
        case whole
        /// The largest centred square.
        case square
        case pixels(PixelRect)
        /// Fractions of the original's width and height, from 0 to 1.
        case fraction(SampleRegion)
    }

    /// The colours of the result.
    enum Tone: String, Hashable {
        case color
        case gray
        case bitonal
    }

    var region = Region.whole
    /// The width of the box in pixels before rotation; `nil` if it is free.
    var width: Int?
    /// The height of the box in pixels before rotation; `nil` if it is free.
    var height: Int?
    /// Whether the client hints determine the width instead of the size of the original.
    var leavesWidthOpen = false
    var mode = ResizeMode.fit
    var anchor = CropAnchor.center
    var allowsEnlarging = false
    /// Device pixels per pixel of the box; `nil` if the path has none.
    var density: Double?
    var isMirrored = false
    /// The clockwise rotation after mirroring: 0, 90, 180 or 270 degrees.
    var degrees = 0
    var tone = Tone.color
    /// Whether the image keeps its colour profile if the output format supports one.
    var keepsProfile = false
    /// The standard deviation of the Gaussian blur in pixels of the result; 0 for none.
    var blur = 0.0
    /// The standard deviation of the Gaussian of the unsharp mask in pixels of the result; 0 for none.
    var sharpening = 0.0
    /// The side in pixels of the squares that are averaged; 0 for none.
    var pixelation = 0
    /// The value that is added to all channels, from -255 to 255.
    var brightness = 0.0
    /// The factor of the distance from mid-grey.
    var contrast = 1.0
    /// The factor of the distance from grey.
    var saturation = 1.0
    /// The colour below transparent pixels; `nil` keeps them.
    var background: SRGBColor?
    /// The encoding quality from 1 to 100; `nil` for the default.
    var quality: Int?
    /// The target SSIM of a quality search, instead of a quality.
    var targetSSIM: Double?
    var isLossless = false
    /// The name of the output format; `nil` for content negotiation.
    var format: String?
    /// Whether only the first frame of an animation is shown.
    var isStill = false
    /// The name of the output format of animations; `nil` for their first frame.
    var animationFormat: String?

    /// Whether the region depends on the size of the original.
    var needsOriginalSize: Bool {
        switch region {
        case .whole, .pixels: false
        case .square, .fraction: true
        }
    }

    /// The visible part of an original, at least one pixel.
    ///
    /// - Parameter original: the upright size of the original in pixels.
    /// - Returns: `nil` for the whole original.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` for a region outside of the original.
    func part(of original: PixelSize) throws(ServerError) -> PixelRect? {
        let whole = PixelRect(original)
        let part: PixelRect
        switch region {
        case .whole:
            return nil
        case .square:
            let side = min(original.width, original.height)
            part = PixelRect(
                x: (original.width - side) / 2, y: (original.height - side) / 2, width: side,
                height: side)
        case .pixels(let rect):
            part = rect
        case .fraction(let fraction):
            func position(_ fraction: Double, _ side: Int) -> Int {
                Int((min(fraction, 2) * Double(side)).rounded())
            }
            part = PixelRect(
                x: position(fraction.x, original.width),
                y: position(fraction.y, original.height),
                width: max(1, position(fraction.width, original.width)),
                height: max(1, position(fraction.height, original.height)))
        }
        let visible = whole.intersection(part)
        guard !visible.isEmpty else {
            throw .malformedRequest(reason: "the region is outside of the image")
        }
        return visible == whole ? nil : visible
    }

    /// Returns the options for decoding an original.
    ///
    /// - Parameters:
    ///   - original: the size of the original in pixels, required if ``needsOriginalSize``.
    ///   - maximumSide: the largest width or height of the result in pixels.
    /// - Returns: the options with region, box, mode and colours.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` for a region outside of the original.
    func decodeOptions(
        original: PixelSize?, maximumSide: Int
    ) throws(ServerError) -> DecodeOptions {
        var decode = DecodeOptions()
        if let original {
            decode.region = try part(of: original)
        } else if case .pixels(let rect) = region {
            decode.region = rect
        }
        decode.box = box(atMost: maximumSide)
        decode.mode = mode
        decode.anchor = anchor
        decode.allowsEnlarging = allowsEnlarging
        if tone != .color { decode.pixelFormat = .gray8 }
        decode.convertsToSRGB = !keepsProfile || tone != .color
        return decode
    }

    /// The operations on the decoded image, in order.
    var processors: [any ImageProcessor] {
        var processors: [any ImageProcessor] = []
        if !effect.isEmpty { processors.append(effect) }
        if let turn { processors.append(ImageOperation.turn(turn)) }
        if tone == .bitonal { processors.append(ImageOperation.threshold) }
        return processors
    }

    /// The changes of colours and of neighbouring pixels, in the order of imgproxy.
    private var effect: Effect {
        var effect = Effect.none
        if brightness != 0 { effect = effect.then(.brightness(brightness / 255)) }
        if contrast != 1 { effect = effect.then(.contrast(contrast)) }
        if saturation != 1 { effect = effect.then(.saturation(saturation)) }
        effect = effect.then(.blur(sigma: blur)).then(.sharpen(sigma: sharpening))
            .then(.pixelate(pixelation))
        if let background { effect = effect.then(.background(background)) }
        return effect
    }

    /// Whether the path specifies no quality for lossy formats.
    var leavesQualityOpen: Bool { quality == nil && targetSSIM == nil && !isLossless }

    /// The options for encoding the result.
    var encodeOptions: EncodeOptions {
        var options = EncodeOptions()
        if let quality { options.quality = quality }
        options.targetSSIM = targetSSIM
        options.isLossless = isLossless
        return options
    }

    /// The box in device pixels, with the requested proportions.
    func box(atMost maximumSide: Int) -> PixelSize {
        let sides = [width, height].map { $0.map { Double($0) * (density ?? 1) } }
        let largest = sides.compactMap { $0 }.max() ?? 0
        let scale = largest > Double(maximumSide) ? Double(maximumSide) / largest : 1
        // A free side is limited too.
        let free = mode == .fit ? maximumSide : Int.max
        let lengths = sides.map { side in
            side.map { max(1, Int(($0 * scale).rounded())) } ?? free
        }
        return PixelSize(width: lengths[0], height: lengths[1])
    }

    /// A unique text of all options for entity tags; it contains letters, digits and `,x@.-+` only.
    var text: String {
        var parts = ["\(width.map(String.init) ?? "")x\(height.map(String.init) ?? "")"]
        if let density { parts[0] += "@\(density)x" }
        switch region {
        case .whole: break
        case .square: parts.append("square")
        case .pixels(let rect): parts.append("at\(rect.x)+\(rect.y)x\(rect.size)")
        case .fraction(let fraction):
            parts.append(
                "share\(fraction.x)+\(fraction.y)x\(fraction.width)x\(fraction.height)")
        }
        if mode != .fit { parts.append(mode.rawValue) }
        if anchor != .center { parts.append("anchor\(anchor.x)x\(anchor.y)") }
        if allowsEnlarging { parts.append("up") }
        if isMirrored { parts.append("mirrored") }
        if degrees != 0 { parts.append("turned\(degrees)") }
        if tone != .color { parts.append(tone.rawValue) }
        if keepsProfile { parts.append("profile") }
        if blur > 0 { parts.append("blur\(blur)") }
        if sharpening > 0 { parts.append("sharpen\(sharpening)") }
        if pixelation > 0 { parts.append("pixelate\(pixelation)") }
        if brightness != 0 { parts.append("brightness\(brightness)") }
        if contrast != 1 { parts.append("contrast\(contrast)") }
        if saturation != 1 { parts.append("saturation\(saturation)") }
        if let background {
            let bytes = [background.red, background.green, background.blue].map(SRGBColor.byte)
            parts.append("background\(bytes[0]).\(bytes[1]).\(bytes[2])")
        }
        if let quality { parts.append("q\(quality)") }
        if let targetSSIM { parts.append("ssim\(targetSSIM)") }
        if isLossless { parts.append("lossless") }
        if let format { parts.append(format) }
        if let animationFormat { parts.append("moving-\(animationFormat)") }
        return parts.joined(separator: ",")
    }

    private var turn: Orientation? {
        switch (degrees, isMirrored) {
        case (0, true): .mirroredHorizontally
        case (90, false): .rotated90
        case (90, true): .transversed
        case (180, false): .rotated180
        case (180, true): .mirroredVertically
        case (270, false): .rotated270
        case (270, true): .transposed
        default: nil
        }
    }
}
