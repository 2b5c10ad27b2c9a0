// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import Pixels

/// The limits on renditions.
struct RenditionLimits: Sendable {
    /// The largest width or height in pixels.
    var maximumSide: Int
    /// The maximum number of pixels of an enlarged rendition, unless the original has more.
    var maximumEnlargedPixelCount: Int
    /// The maximum number of pixels of a rendition that is slow to make.
    var maximumSlowPixelCount: Int
}

/// The cost of making a rendition, determined by the number of pixels and the operations.
struct RenditionCost {
    /// The formats whose encoders take at least ten times as long as JPEG's.
    private static let slowFormatNames: Set = ["avif", "jxl", "webp"]
    /// The number of pixels above which a rendition runs in the queue for slow work.
    private static let usualPixelCount = 4 << 20

    private let options: RenditionOptions
    private let pixelCount: Int
    private let originalPixelCount: Int
    /// The size of the rendition with all margins.
    private let framedSize: PixelSize

    /// - Parameters:
    ///   - options: the options of the rendition.
    ///   - pixelCount: the number of pixels of the result.
    ///   - originalPixelCount: the number of pixels of the visible part of the original.
    ///   - framedSize: the size of the rendition with all margins.
    private init(
        _ options: RenditionOptions, _ pixelCount: Int, _ originalPixelCount: Int,
        _ framedSize: PixelSize
    ) {
        self.options = options
        self.pixelCount = max(pixelCount, framedSize.area)
        self.originalPixelCount = originalPixelCount
        self.framedSize = framedSize
    }

    /// The maximum cost for the box; fails if it is high, so that the original's size matters.
    init?(usual options: RenditionOptions, maximumSide: Int) {
        let box = options.box(atMost: maximumSide)
        let (count, overflow) = min(box.width, maximumSide)
            .multipliedReportingOverflow(by: min(box.height, maximumSide))
        let limit = Self.isSlow(options) ? Self.usualPixelCount / 4 : Self.usualPixelCount
        guard !overflow, options.trimming == nil else { return nil }
        let framed = options.framedSize(
            PixelSize(
                width: min(box.width, maximumSide), height: min(box.height, maximumSide)),
            maximumSide: maximumSide)
        guard max(count, framed.area) <= limit else { return nil }
        self.init(options, count, count, framed)
    }

    /// The cost for an original of known size.
    ///
    /// - Throws: ``ServerError/malformedRequest(reason:)`` for a region outside of the original.
    init(
        _ options: RenditionOptions, of original: PixelSize, maximumSide: Int
    ) throws(ServerError) {
        let decode = try options.decodeOptions(original: original, maximumSide: maximumSide)
        let part = try options.part(of: original) ?? PixelRect(original)
        let result = decode.geometry(of: original).size
        let framed = options.framedSize(result, maximumSide: maximumSide)
        // Borders are removed from the whole image.
        let count = options.trimming == nil ? result.area : max(result.area, original.area)
        self.init(options, count, part.size.area, framed)
    }

    /// Whether the options include blur, sharpening, trimming, a quality search or a slow encoder.
    private static func isSlow(_ options: RenditionOptions) -> Bool {
        options.targetSSIM != nil || options.blur > 0 || options.sharpening > 0
            || options.trimming != nil
            || [options.format, options.animationFormat].contains {
                $0.map(slowFormatNames.contains) ?? false
            }
    }

    /// Whether the rendition takes a second or more, and must run in the queue for slow work.
    var isHigh: Bool {
        pixelCount > (Self.isSlow(options) ? Self.usualPixelCount / 4 : Self.usualPixelCount)
    }

    /// Checks the cost of one request against the limits.
    ///
    /// - Throws: ``ServerError/malformedRequest(reason:)`` with the exceeded limit.
    func check(_ limits: RenditionLimits) throws(ServerError) {
        let side = max(framedSize.width, framedSize.height)
        if !options.frame.isEmpty, side > limits.maximumSide {
            throw .malformedRequest(
                reason: "\(side) pixels with margins exceed the largest side: "
                    + "\(limits.maximumSide) pixels")
        }
        let enlarged = limits.maximumEnlargedPixelCount
        if options.allowsEnlarging || !options.frame.isEmpty,
            pixelCount > max(enlarged, originalPixelCount)
        {
            throw .malformedRequest(
                reason: "\(pixelCount) pixels exceed the limit for enlarged images and margins: "
                    + "\(enlarged) "
                    + "pixels, or those of the original")
        }
        let slow = limits.maximumSlowPixelCount
        if Self.isSlow(options), pixelCount > slow {
            throw .malformedRequest(
                reason:
                    "\(pixelCount) pixels exceed the limit for blur, sharpening, trimming, ssim "
                    + "and slow formats: \(slow) pixels")
        }
    }
}
