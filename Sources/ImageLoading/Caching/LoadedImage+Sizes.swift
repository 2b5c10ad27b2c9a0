// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
public import Pixels

extension LoadedImage {
    /// The part of the original that the image shows; `nil` if it is unknown.
    ///
    /// Processors may have changed the size, and an image that was not turned upright has other sides
    /// than the upright original.
    private var part: ShownPart? {
        guard key.processors.isEmpty, key.options.appliesOrientation, !originalSize.isEmpty else {
            return nil
        }
        return ShownPart(
            key.options, of: originalSize, isScalable: isOriginalScalable, size: image.size)
    }

    /// Returns the part that another key of the same original shows.
    private func part(of wanted: ImageKey) -> ShownPart {
        ShownPart(wanted.options, of: originalSize, isScalable: isOriginalScalable)
    }

    /// Returns whether the image answers a request for `wanted`.
    ///
    /// A processed image answers its own key alone, because a processor may depend on the size.
    func satisfies(_ wanted: ImageKey, _ precision: ShownPart.Precision) -> Bool {
        if key == wanted { return true }
        guard isOfSameKind(as: wanted), let part else { return false }
        return part.satisfies(self.part(of: wanted), precision)
    }

    /// Returns whether the image shows all of `wanted`, at any size.
    func shows(_ wanted: ImageKey) -> Bool {
        guard isOfSameKind(as: wanted), let part else { return false }
        return part.region(of: self.part(of: wanted)) != nil
    }

    /// Returns the minimum number of pixels of an image from which `wanted` can be made, unless it has
    /// all pixels of the original; `nil` if this image differs in more than its size.
    func leastPixelCount(for wanted: ImageKey) -> Int? {
        guard isOfSameKind(as: wanted) else { return nil }
        let size = part(of: wanted).size
        // One pixel is lost to rounding, and another one is within the tolerance.
        let (count, isTooLarge) = max(0, size.width - 2)
            .multipliedReportingOverflow(by: max(0, size.height - 2))
        return isTooLarge ? .max : count
    }

    /// Whether a smaller image can be resampled from this one.
    var canBeResized: Bool {
        // Samples of other formats would have to be unpacked first.
        image.format == .yCbCr420 || image.format.withIntegerSamples == image.format
    }

    /// Resamples the image of another key from this one, without the original.
    ///
    /// The result differs from a decode of the original by rounding only: this image must be a result of
    /// ``MemoryCache/larger(than:)``.
    ///
    /// - Parameter wanted: a key of the same original in a size that is not larger.
    /// - Returns: an image of the same format, or `nil` if this one does not show all of `wanted`.
    public func resized(for wanted: ImageKey) -> PixelBuffer? {
        guard canBeResized, shows(wanted), let part else { return nil }
        let result = self.part(of: wanted)
        guard let region = part.region(of: result) else { return nil }
        if result.size == image.size, region == SampleRegion(image.size) { return image }
        return image.resized(
            region, to: result.size, kernel: wanted.options.kernel)
    }

    /// Returns whether the images differ in nothing but their sizes.
    private func isOfSameKind(as wanted: ImageKey) -> Bool {
        guard key.original == wanted.original, key.processors.isEmpty, wanted.processors.isEmpty
        else { return false }
        var own = key.options
        (own.box, own.mode) = (wanted.options.box, wanted.options.mode)
        (own.region, own.anchor) = (wanted.options.region, wanted.options.anchor)
        own.allowsEnlarging = wanted.options.allowsEnlarging
        // RGB is accepted wherever planes are.
        if image.format != .yCbCr420 { own.acceptsYCbCr = wanted.options.acceptsYCbCr }
        // An exact image answers a request for a fast one.
        if own.quality == .exact { own.quality = wanted.options.quality }
        return own == wanted.options
    }
}
