// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import LoadScheduling
internal import Pixels

/// What an address asks for of a picture, in whichever grammar it was written.
struct PictureOptions: Hashable {
    enum Region: Hashable {
        case whole
        /// The square in the middle.
        case square
        case pixels(PixelRect)
        /// From 0 to 1 of the picture's sides.
        case share(SampleRegion)
    }

    enum Tone: String, Hashable {
        case color
        case gray
        case bitonal
    }

    var region = Region.whole
    /// The box in pixels, for the picture before it is turned; `nil` for a side that is free.
    var width: Int?
    var height: Int?
    /// Whether the client's screen decides upon the width, not the picture's own size.
    var leavesWidthOpen = false
    var mode = ResizeMode.fit
    var anchor = CropAnchor.center
    var allowsEnlarging = false
    /// Device pixels for each pixel of the box; `nil` if nobody said.
    var density: Double?
    var isMirrored = false
    /// Clockwise, after mirroring: 0, 90, 180 or 270.
    var degrees = 0
    var tone = Tone.color
    /// Whether the picture keeps its colour profile, where the format of the answer has room for it.
    var keepsProfile = false
    /// The standard deviation of the blur in pixels of the result; 0 for none.
    var blur = 0.0
    /// From 1 to 100; `nil` for the usual one.
    var quality: Int?
    /// How like the original at its size the picture must look, in place of a quality.
    var targetSSIM: Double?
    var isLossless = false
    /// The name of a format; `nil` for whatever suits the client.
    var format: String?
    /// Whether an animation is shown by its first frame.
    var isStill = false
    /// The name of the format in which an animation stays one; `nil` for its first frame.
    var animationFormat: String?

    /// Whether the result depends on the size of the original in more than its box.
    var needsOriginalSize: Bool {
        switch region {
        case .whole, .pixels: false
        case .square, .share: true
        }
    }

    /// The part of an original, of which at least one pixel is in the picture.
    ///
    /// - Parameter original: its size as it is looked at.
    /// - Returns: `nil` for all of it.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` if the part lies outside.
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
        case .share(let share):
            func place(_ share: Double, _ side: Int) -> Int {
                Int((min(share, 2) * Double(side)).rounded())
            }
            part = PixelRect(
                x: place(share.x, original.width), y: place(share.y, original.height),
                width: max(1, place(share.width, original.width)),
                height: max(1, place(share.height, original.height)))
        }
        let visible = whole.intersection(part)
        guard !visible.isEmpty else {
            throw .malformedRequest(reason: "the part lies outside of the picture")
        }
        return visible == whole ? nil : visible
    }

    /// Asks the pipeline for it.
    ///
    /// - Parameters:
    ///   - source: the original.
    ///   - original: the size of the original; only for those that ``needsOriginalSize``.
    ///   - maximumSide: the largest width or height of the result.
    /// - Returns: what makes the picture.
    /// - Throws: ``ServerError/malformedRequest(reason:)``.
    func request(
        of source: ImageRequest.Source, original: PixelSize?, maximumSide: Int
    ) throws(ServerError) -> RenditionRequest {
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
        var image = ImageRequest(source, options: decode, priority: .visible)
        if blur > 0 { image.processors.append(ImageOperation.blur(sigma: blur)) }
        if let turn { image.processors.append(ImageOperation.turn(turn)) }
        if tone == .bitonal { image.processors.append(ImageOperation.threshold) }
        return RenditionRequest(
            image: image, format: format, animationFormat: animationFormat,
            encodeOptions: encodeOptions)
    }

    /// Whether nothing is said of how much a lossy format may lose.
    var leavesQualityOpen: Bool { quality == nil && targetSSIM == nil && !isLossless }

    /// How the picture is written.
    var encodeOptions: EncodeOptions {
        var options = EncodeOptions()
        if let quality { options.quality = quality }
        options.targetSSIM = targetSSIM
        options.isLossless = isLossless
        return options
    }

    /// The box in device pixels, in the proportions that were asked for.
    func box(atMost maximumSide: Int) -> PixelSize {
        let sides = [width, height].map { $0.map { Double($0) * (density ?? 1) } }
        let largest = sides.compactMap { $0 }.max() ?? 0
        let scale = largest > Double(maximumSide) ? Double(maximumSide) / largest : 1
        // A side that is free must not become too long either.
        let free = mode == .fit ? maximumSide : Int.max
        let lengths = sides.map { side in
            side.map { max(1, Int(($0 * scale).rounded())) } ?? free
        }
        return PixelSize(width: lengths[0], height: lengths[1])
    }

    /// All of it, equal for equal options alone, of letters, digits and `,x@.-+` only.
    var text: String {
        var parts = ["\(width.map(String.init) ?? "")x\(height.map(String.init) ?? "")"]
        if let density { parts[0] += "@\(density)x" }
        switch region {
        case .whole: break
        case .square: parts.append("square")
        case .pixels(let rect): parts.append("at\(rect.x)+\(rect.y)x\(rect.size)")
        case .share(let share):
            parts.append("share\(share.x)+\(share.y)x\(share.width)x\(share.height)")
        }
        if mode != .fit { parts.append(mode.rawValue) }
        if anchor != .center { parts.append("anchor\(anchor.x)x\(anchor.y)") }
        if allowsEnlarging { parts.append("up") }
        if isMirrored { parts.append("mirrored") }
        if degrees != 0 { parts.append("turned\(degrees)") }
        if tone != .color { parts.append(tone.rawValue) }
        if keepsProfile { parts.append("profile") }
        if blur > 0 { parts.append("blur\(blur)") }
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
