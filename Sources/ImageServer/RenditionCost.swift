// SPDX-License-Identifier: Apache-2.0

internal import EncodedImages
internal import ImageLoading
internal import Pixels

/// What making a rendition costs, by the number of its pixels and how they are made.
struct RenditionCost {
    /// Formats whose encoders take ten times as long as that of JPEG, and more.
    private static let slowFormatNames: Set = ["avif", "jxl", "webp"]
    /// The number of pixels from which a rendition takes its turn with others of its kind.
    private static let usualPixelCount = 4 << 20

    private let options: PictureOptions
    private let pixelCount: Int
    private let originalPixelCount: Int

    /// - Parameters:
    ///   - options: what is asked for.
    ///   - pixelCount: the pixels of the result.
    ///   - originalPixelCount: those of the part of the original that is shown.
    private init(_ options: PictureOptions, _ pixelCount: Int, _ originalPixelCount: Int) {
        self.options = options
        self.pixelCount = pixelCount
        self.originalPixelCount = originalPixelCount
    }

    /// The cost that a box alone allows, if it is a usual one.
    init?(usual options: PictureOptions, maximumSide: Int) {
        let box = options.box(atMost: maximumSide)
        let (count, overflow) = min(box.width, maximumSide)
            .multipliedReportingOverflow(by: min(box.height, maximumSide))
        let limit = Self.isSlow(options) ? Self.usualPixelCount / 4 : Self.usualPixelCount
        guard !overflow, count <= limit else { return nil }
        self.init(options, count, count)
    }

    /// The cost of a rendition of an original of a size.
    ///
    /// - Throws: ``ServerError/malformedRequest(reason:)`` if the part lies outside.
    init(
        _ options: PictureOptions, of original: PixelSize, maximumSide: Int
    ) throws(ServerError) {
        let request = try options.request(
            of: .file(""), original: original, maximumSide: maximumSide)
        let part = try options.part(of: original) ?? PixelRect(original)
        let result = request.image.options.geometry(of: original).size
        self.init(options, result.area, part.size.area)
    }

    /// Whether a quality search or an encoder that takes its time is part of it.
    private static func isSlow(_ options: PictureOptions) -> Bool {
        options.targetSSIM != nil || options.blur > 0
            || [options.format, options.animationFormat].contains {
                $0.map(slowFormatNames.contains) ?? false
            }
    }

    /// Whether it takes a second and more, so that few of them may run at a time.
    var isHigh: Bool {
        pixelCount > (Self.isSlow(options) ? Self.usualPixelCount / 4 : Self.usualPixelCount)
    }

    /// Refuses a rendition that costs more than one request may.
    ///
    /// - Parameter configuration: has the limits.
    /// - Throws: ``ServerError/malformedRequest(reason:)`` that names the limit.
    func check(_ configuration: ImageServer.Configuration) throws(ServerError) {
        let enlarged = configuration.maximumEnlargedPixelCount
        if options.allowsEnlarging, pixelCount > max(enlarged, originalPixelCount) {
            throw .malformedRequest(
                reason: "enlarged to \(pixelCount) pixels; at most \(enlarged), or as many as the "
                    + "original has, are allowed")
        }
        let slow = configuration.maximumSlowPixelCount
        if Self.isSlow(options), pixelCount > slow {
            throw .malformedRequest(
                reason: "\(pixelCount) pixels with blur, ssim or in a format that is slow to "
                    + "encode; at most \(slow) are allowed")
        }
    }
}
