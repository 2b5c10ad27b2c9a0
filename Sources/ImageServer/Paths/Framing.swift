// SPDX-License-Identifier: Apache-2.0

internal import Effects
internal import EncodedImages
internal import ImageLoading
internal import Pixels

/// Extends and pads the resized image, removes transparency and adds the watermark, in one pass.
struct Framing: ImageProcessor {
    let options: FrameOptions
    /// The box in pixels that extending fills; a side of 0 is free.
    let box: PixelSize
    /// The pixels of the result per pixel of margins and offsets.
    let scale: Double
    /// The colour of margins, and below transparent pixels.
    let background: SRGBColor?
    /// The watermark of the server.
    let watermark: Overlay?

    var identity: String {
        "frame(\(options.texts.joined(separator: ",")),\(box),\(scale),"
            + "\(background.map { "\($0)" } ?? ""),\(watermark?.identity ?? ""))"
    }

    /// Whether the result is opaque, so that it becomes a JPEG with chroma at half resolution.
    var acceptsYCbCr: Bool {
        if let background, background.alpha >= 1 { return true }
        return options.margins == nil && options.extending?.isBlurred != false
    }

    func process(
        _ image: PixelBuffer, _ cancellation: CancellationFlag
    ) throws(CodecError) -> PixelBuffer {
        try effect(on: image.size).process(image, cancellation)
    }

    /// Returns the size of an image with all margins.
    func size(around size: PixelSize) -> PixelSize {
        let extended = extended(size)
        guard let padding else { return extended }
        return PixelSize(
            width: extended.width + padding.left + padding.right,
            height: extended.height + padding.top + padding.bottom)
    }

    private var color: SRGBColor {
        background ?? SRGBColor(red: 0, green: 0, blue: 0, alpha: 0)
    }

    private var padding: Padding? {
        options.margins.map { margins in
            func pixels(_ margin: Int) -> Int { Int((Double(margin) * scale).rounded()) }
            return Padding(
                top: pixels(margins.top), right: pixels(margins.right),
                bottom: pixels(margins.bottom), left: pixels(margins.left), color: color)
        }
    }

    private func extended(_ size: PixelSize) -> PixelSize {
        guard options.extending != nil else { return size }
        return PixelSize(
            width: max(box.width, size.width), height: max(box.height, size.height))
    }

    private func effect(on size: PixelSize) -> Effect {
        var effect = Effect.none
        if let extending = options.extending {
            let box = extended(size)
            let anchor = extending.gravity.anchor(
                of: (Double(size.width), Double(size.height)), in: box, pixel: (scale, scale))
            effect = effect.then(
                .extend(
                    Extension(
                        to: box, x: anchor.x, y: anchor.y,
                        fill: extending.isBlurred ? .blurredImage : .color(color))))
        }
        if let padding { effect = effect.then(.pad(padding)) }
        if let background { effect = effect.then(.background(background)) }
        if let overlay = overlay(on: self.size(around: size)) {
            effect = effect.then(.overlay(overlay))
        }
        return effect
    }

    private func overlay(on size: PixelSize) -> Overlay? {
        guard let watermark, let place = options.watermark else { return nil }
        let gravity = place.gravity
        // For a rectangle without a size, the position is the anchor and the offset.
        let offset = Gravity(x: 0, y: 0, offsetX: gravity.offsetX, offsetY: gravity.offsetY)
            .position(of: (0, 0), in: size, pixel: (scale, scale))
        let (x, y) = (Int(offset.x.rounded()), Int(offset.y.rounded()))
        return Overlay(
            watermark.image, identity: watermark.identity,
            placement: place.isTiled
                ? .tiled(gapX: x, gapY: y)
                : .anchored(x: gravity.x, y: gravity.y, offsetX: x, offsetY: y),
            scale: place.scale, opacity: place.opacity)
    }
}
