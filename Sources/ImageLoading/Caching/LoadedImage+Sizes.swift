// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
public import Pixels

extension LoadedImage {
    /// Which part of the original the picture shows; `nil` if that cannot be told.
    ///
    /// Steps after decoding may have changed the size, and a picture that was left lying on its side
    /// has other sides than the original as it is looked at.
    private var part: ShownPart? {
        guard key.processors.isEmpty, key.options.appliesOrientation, !originalSize.isEmpty else {
            return nil
        }
        return ShownPart(
            key.options, of: originalSize, isScalable: isOriginalScalable, size: image.size)
    }

    /// What another key asks for of the same original.
    private func part(of wanted: ImageKey) -> ShownPart {
        ShownPart(wanted.options, of: originalSize, isScalable: isOriginalScalable)
    }

    /// Whether the picture will do where `wanted` is asked for.
    ///
    /// A picture that steps after decoding have changed will do for its own size alone, because such
    /// a step may depend on the size.
    func satisfies(_ wanted: ImageKey, _ precision: ShownPart.Precision) -> Bool {
        if key == wanted { return true }
        guard isOfSameKind(as: wanted), let part else { return false }
        return part.satisfies(self.part(of: wanted), precision)
    }

    /// Whether the picture shows what is wanted, at whatever size.
    func shows(_ wanted: ImageKey) -> Bool {
        guard isOfSameKind(as: wanted), let part else { return false }
        return part.region(of: self.part(of: wanted)) != nil
    }

    /// The pixels that a picture has at least from which `wanted` can be made, unless it has all that
    /// the original has; `nil` if this picture differs in more than its size.
    func leastPixelCount(for wanted: ImageKey) -> Int? {
        guard isOfSameKind(as: wanted) else { return nil }
        let size = part(of: wanted).size
        // A pixel is lost to rounding, and another is near enough.
        let (count, isTooLarge) = max(0, size.width - 2)
            .multipliedReportingOverflow(by: max(0, size.height - 2))
        return isTooLarge ? .max : count
    }

    /// Whether a smaller picture can be made from this one's samples.
    var canBeResized: Bool {
        // Formats whose samples are no whole numbers in bytes of their own would have to be unpacked.
        image.format == .yCbCr420 || image.format.withWholeSamples == image.format
    }

    /// Makes the picture that `wanted` asks for, without the original.
    ///
    /// The result is what decoding the original gives, but for rounding: this picture must be one
    /// of which ``MemoryCache/larger(than:)`` says that it will do.
    ///
    /// - Parameter wanted: asks for the same original in a size that is no larger.
    /// - Returns: a picture of the same format, or `nil` if this one does not show what is wanted.
    public func resized(for wanted: ImageKey) -> PixelBuffer? {
        guard canBeResized, shows(wanted), let part else { return nil }
        let result = self.part(of: wanted)
        guard let region = part.region(of: result) else { return nil }
        if result.size == image.size, region == SampleRegion(image.size) { return image }
        return image.resized(
            region, to: result.size, kernel: wanted.options.kernel)
    }

    /// Whether the pictures differ in nothing but their sizes.
    private func isOfSameKind(as wanted: ImageKey) -> Bool {
        guard key.original == wanted.original, key.processors.isEmpty, wanted.processors.isEmpty
        else { return false }
        var own = key.options
        (own.box, own.mode) = (wanted.options.box, wanted.options.mode)
        (own.region, own.anchor) = (wanted.options.region, wanted.options.anchor)
        own.allowsEnlarging = wanted.options.allowsEnlarging
        // RGB will do where planes are accepted.
        if image.format != .yCbCr420 { own.acceptsYCbCr = wanted.options.acceptsYCbCr }
        // What was decoded with care will do for a moment.
        if own.quality == .exact { own.quality = wanted.options.quality }
        return own == wanted.options
    }
}
