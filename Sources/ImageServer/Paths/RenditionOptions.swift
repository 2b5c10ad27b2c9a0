// SPDX-License-Identifier: Apache-2.0

internal import Effects
internal import EncodedImages
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
        /// A part at a gravity.
        case crop(Crop)
    }

    /// A part of the original; a side of 0 is the whole side, one of less than 1 a fraction of it, any
    /// other a number of pixels.
    struct Crop: Hashable {
        var width, height: Double
        /// The position; `nil` for that of the rendition.
        var gravity: Gravity?
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
    var gravity = Gravity.center
    var allowsEnlarging = false
    /// Device pixels per pixel of the box; `nil` if the path has none.
    var density: Double?
    var isMirrored = false
    /// The clockwise rotation after mirroring: 0, 90, 180 or 270 degrees.
    var degrees = 0
    var tone = Tone.color
    /// Whether the image keeps its colour profile if the output format supports one.
    var keepsProfile = false
    /// Whether the gain map of an HDR original is omitted.
    var isSDR = false
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
    /// The borders that are removed before the image is resized; `nil` for none.
    var trimming: Trimming?
    /// What surrounds or covers the resized image.
    var frame = FrameOptions()
    /// The pixels of the result per pixel of margins and offsets; `nil` for the density.
    var lengthScale: Double?
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

    /// The changes of colours and of neighbouring pixels, in the order of imgproxy.
    var effect: Effect {
        var effect = Effect.none
        if brightness != 0 { effect = effect.then(.brightness(brightness / 255)) }
        if contrast != 1 { effect = effect.then(.contrast(contrast)) }
        if saturation != 1 { effect = effect.then(.saturation(saturation)) }
        effect = effect.then(.blur(sigma: blur)).then(.sharpen(sigma: sharpening))
            .then(.pixelate(pixelation))
        if let background, frame.isEmpty { effect = effect.then(.background(background)) }
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
        case .crop(let crop):
            parts.append("crop\(crop.width)x\(crop.height)\(crop.gravity?.text ?? "")")
        }
        if mode != .fit { parts.append(mode.rawValue) }
        if gravity != .center { parts.append("gravity\(gravity.text)") }
        if allowsEnlarging { parts.append("up") }
        if isMirrored { parts.append("mirrored") }
        if degrees != 0 { parts.append("turned\(degrees)") }
        if tone != .color { parts.append(tone.rawValue) }
        if keepsProfile { parts.append("profile") }
        if isSDR { parts.append("sdr") }
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
        if let trimming {
            let color = trimming.color.map { "\($0.red)-\($0.green)-\($0.blue)" } ?? ""
            parts.append(
                "trim\(trimming.threshold)-\(color)-\(trimming.isHorizontallyEqual)-"
                    + "\(trimming.isVerticallyEqual)")
        }
        parts += frame.texts
        if let lengthScale { parts.append("lengths\(lengthScale)") }
        if let quality { parts.append("q\(quality)") }
        if let targetSSIM { parts.append("ssim\(targetSSIM)") }
        if isLossless { parts.append("lossless") }
        if let format { parts.append(format) }
        if let animationFormat { parts.append("moving-\(animationFormat)") }
        return parts.joined(separator: ",")
    }

    var turn: Orientation? {
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
