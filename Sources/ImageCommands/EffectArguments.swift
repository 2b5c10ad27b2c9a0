// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Drawing
package import Effects
package import EncodedImages
package import Pixels

/// The place of a watermark.
package enum WatermarkPosition: String, CaseIterable, ExpressibleByArgument, Sendable {
    case center, top, bottom, left, right
    case topLeft = "top-left"
    case topRight = "top-right"
    case bottomLeft = "bottom-left"
    case bottomRight = "bottom-right"
    case tiled

    /// The place in an image.
    var placement: Overlay.Placement {
        let x = rawValue.hasSuffix("left") ? 0 : rawValue.hasSuffix("right") ? 1 : 0.5
        let y = rawValue.hasPrefix("top") ? 0 : rawValue.hasPrefix("bottom") ? 1 : 0.5
        return self == .tiled ? .tiled() : .anchored(x: x, y: y)
    }
}

/// The options that change the resized image, in the order in which they apply.
package struct EffectArguments: ParsableArguments {
    @Option(help: "An amount to add to each channel, from -255 to 255.")
    var brightness = 0

    @Option(help: "The factor of the distance from mid-grey; 1 changes nothing.")
    var contrast = 1.0

    @Option(help: "The factor of the distance from grey: 0 makes grey, 1 changes nothing.")
    var saturation = 1.0

    @Option(help: "The standard deviation of a Gaussian blur in pixels, up to 100.")
    var blur = 0.0

    @Option(help: "The standard deviation of an unsharp mask in pixels, up to 10.")
    var sharpen = 0.0

    @Option(help: "The side in pixels of squares of one colour, from 2 to 1000.")
    var pixelate: Int?

    @Option(help: "A margin in pixels on all sides, in the colour of --background or else white.")
    var padding = 0

    @Option(
        help: "The colour below transparent pixels and of margins, such as #ff8800.",
        transform: parseColor)
    var background: SRGBColor?

    @Option(
        help: "An image file to lay over the result, such as a PNG with transparency.",
        completion: .file())
    var watermark: String?

    @Option(help: "The place of the watermark.")
    var watermarkPosition = WatermarkPosition.bottomRight

    @Option(help: "The opacity of the watermark, from 0 to 1.")
    var watermarkOpacity = 1.0

    @Option(
        help: """
            The fraction of the result into which the watermark fits, more than 0 and at most 1 \
            (default: its own size).
            """)
    var watermarkScale: Double?

    package init() {}

    package func validate() throws {
        func check(_ name: String, _ value: Double, _ range: ClosedRange<Double>) throws {
            guard range ~= value else {
                throw ValidationError(
                    "invalid --\(name): \(value); use \(range.lowerBound) to \(range.upperBound)")
            }
        }
        try check("brightness", Double(brightness), -255...255)
        try check("contrast", contrast, 0...100)
        try check("saturation", saturation, 0...100)
        try check("blur", blur, 0...100)
        try check("sharpen", sharpen, 0...10)
        try check("pixelate", Double(pixelate ?? 2), 2...1000)
        try check("padding", Double(padding), 0...8192)
        try check("watermark-opacity", watermarkOpacity, 0...1)
        try check("watermark-scale", watermarkScale ?? 1, 0.001...1)
    }

    /// Returns the effect of all options; reads the watermark.
    ///
    /// - Throws: ``FileFailure`` if the watermark cannot be read.
    package func effect(_ codecs: CodecSet) throws(FileFailure) -> Effect {
        var effect = Effect.none
        if brightness != 0 { effect = effect.then(.brightness(Double(brightness) / 255)) }
        if contrast != 1 { effect = effect.then(.contrast(contrast)) }
        if saturation != 1 { effect = effect.then(.saturation(saturation)) }
        effect = effect.then(.blur(sigma: blur)).then(.sharpen(sigma: sharpen))
            .then(.pixelate(pixelate ?? 0))
        if let background { effect = effect.then(.background(background)) }
        effect = effect.then(
            .pad(
                Padding(
                    top: padding, right: padding, bottom: padding, left: padding,
                    color: background ?? SRGBColor(red: 1, green: 1, blue: 1))))
        if let watermark {
            let overlay = Overlay(
                try overlayImage(watermark, codecs), identity: watermark,
                placement: watermarkPosition.placement, scale: watermarkScale,
                opacity: watermarkOpacity)
            effect = effect.then(.overlay(overlay))
        }
        return effect
    }

    /// Returns the size of a result with margins.
    func size(around size: PixelSize) -> PixelSize {
        PixelSize(width: size.width + 2 * padding, height: size.height + 2 * padding)
    }
}

extension PixelBuffer {
    /// Returns the image after an effect.
    ///
    /// - Throws: `CodecError.cancelled`.
    func applying(
        _ effect: Effect, _ cancellation: CancellationFlag? = nil
    ) throws(CodecError) -> PixelBuffer {
        let changed = effect.applied(
            to: self, isCancelled: { cancellation?.isCancelled ?? false })
        guard let changed else { throw .cancelled }
        return changed
    }
}

/// Parses a colour such as `#ff8800`, `#f80` or `ff8800`; a fourth component is alpha.
package func parseColor(_ text: String) throws -> SRGBColor {
    guard let color = SRGBColor(hexadecimal: text.hasPrefix("#") ? text : "#\(text)") else {
        throw ValidationError("invalid colour: \(text); use hexadecimal digits such as #ff8800")
    }
    return color
}
