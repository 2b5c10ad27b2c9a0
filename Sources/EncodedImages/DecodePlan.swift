// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// The steps from the stored pixels of a file to the result, derived from its header.
public struct DecodePlan: Hashable, Sendable {
    /// The minimum factor that a shrinking decoder leaves to the resampler.
    ///
    /// With it, the result is as sharp as one made from every pixel.
    public static let residualFactor = 2.0

    /// The size of the stored image.
    public private(set) var storedSize: PixelSize
    /// The part of the stored image that is kept, and its size in the result before orientation.
    public private(set) var geometry: ResizeGeometry
    /// The orientation that is applied to the result.
    public let orientation: Orientation
    /// The resampling kernel.
    public let kernel: ResamplingKernel
    /// The trade-off between precision and speed.
    public let quality: DecodeOptions.Quality
    /// Whether a truncated file is decoded as far as it goes.
    public let acceptsTruncated: Bool
    /// Whether luma and chroma planes remain planes, with chroma at half the size of the result.
    public let keepsYCbCr: Bool
    /// Whether chroma will have half the resolution of the result: in its planes, or once an image whose
    /// colours need conversion is encoded.
    public let halvesChroma: Bool
    /// Whether samples of 16 bits keep their depth: in the result, or until colours are converted.
    ///
    /// Dark tones of linear light need more than 8 bits.
    public let keepsDepth: Bool
    /// Whether checksums of pixel data are verified.
    public let verifiesChecksums: Bool
    /// Whether the image is drawn at any size, as vector graphics are.
    public let isScalable: Bool
    /// Whether the decode of a larger result may be shared.
    let sharesDecode: Bool

    /// The plan for an image with this header.
    public init(_ header: ImageHeader, _ options: DecodeOptions) {
        storedSize = header.storedSize
        isScalable = header.isScalable
        sharesDecode = options.sharesDecode
        orientation = options.appliesOrientation ? header.orientation : .upright
        kernel = options.kernel
        quality = options.quality
        acceptsTruncated = options.acceptsTruncated
        verifiesChecksums = options.verifiesChecksums
        keepsDepth =
            options.keepsDepth || options.pixelFormat?.isDeep == true
            || options.convertsToSRGB && header.bitsPerComponent > 8
                && !header.colorProfile.isSRGB
        halvesChroma =
            options.pixelFormat == .yCbCr420
            || options.acceptsYCbCr && options.pixelFormat == nil
        keepsYCbCr =
            halvesChroma
            && (!options.convertsToSRGB || header.colorProfile.isSRGB)
        // Box and region refer to the upright image, rows to the stored one.
        geometry = options.geometry(
            of: orientation.oriented(storedSize), isScalable: header.isScalable)
        geometry.region = orientation.stored(geometry.region, in: storedSize)
        geometry.size = orientation.oriented(geometry.size)
    }

    /// Whether another plan differs at most in what the resampler does.
    func isDecoded(like other: DecodePlan) -> Bool {
        storedSize == other.storedSize && isScalable == other.isScalable
            && quality == other.quality && acceptsTruncated == other.acceptsTruncated
            && keepsYCbCr == other.keepsYCbCr && keepsDepth == other.keepsDepth
            && verifiesChecksums == other.verifiesChecksums
    }

    /// Whether the planes of another plan differ at most because of the reduction.
    func isMadeOfSamePlanes(as other: DecodePlan) -> Bool {
        isDecoded(like: other) && halvesChroma == other.halvesChroma
    }

    /// Whether a decoder that has made a choice for a larger result serves this one too.
    func shares(decodeOf larger: DecodePlan) -> Bool {
        guard sharesDecode, !isScalable else { return false }
        let (part, whole) = (geometry.region, larger.geometry.region)
        return part.x >= whole.x && part.y >= whole.y
            && part.x + part.width <= whole.x + whole.width
            && part.y + part.height <= whole.y + whole.height
            && larger.reduction(ofChroma: false) <= reduction(ofChroma: false)
    }

    /// Whether the result shows at least half of the stored image.
    var showsMost: Bool {
        let region = geometry.region
        return region.width * region.height * 2 >= Double(storedSize.area)
    }

    /// The pixel format of a result that is made from planes of luma and chroma.
    var yCbCrFormat: PixelFormat { keepsYCbCr ? .yCbCr420 : .rgb8 }

    /// The size of the result.
    public var resultSize: PixelSize { orientation.oriented(geometry.size) }

    /// Returns the plan for a copy of the image that is stored at another size, such as a preview.
    public func stored(at size: PixelSize) -> DecodePlan {
        var plan = self
        plan.storedSize = size
        plan.geometry.region = geometry.region.scaled(
            horizontally: Double(size.width) / Double(storedSize.width),
            vertically: Double(size.height) / Double(storedSize.height))
        return plan
    }

    /// Returns the plan for a part of the stored image, with all that the result needs.
    func cut(to part: PixelRect) -> DecodePlan {
        var plan = self
        plan.storedSize = part.size
        plan.geometry.region.x -= Double(part.x)
        plan.geometry.region.y -= Double(part.y)
        return plan
    }

    /// The part of the stored image that is copied without resampling; `nil` if the result is
    /// resampled.
    public var copiedPart: PixelRect? {
        geometry.region.pixels.flatMap { $0.size == geometry.size ? $0 : nil }
    }

    /// Returns the number of stored pixels per sample of the result, along the less reduced side.
    ///
    /// A decoder of planes may shrink each by its own factor; see ``residualFactor``.
    ///
    /// - Parameter chroma: whether to return it for chroma, which may have fewer samples than luma.
    /// - Returns: less than 1 if the result is larger than the image.
    public func reduction(ofChroma chroma: Bool) -> Double {
        let horizontal = geometry.region.width / Double(geometry.size.width)
        let vertical = geometry.region.height / Double(geometry.size.height)
        return min(horizontal, vertical) * (chroma && keepsYCbCr ? 2 : 1)
    }

    /// Returns the largest of `factors` by which a decoder may shrink the image, or 1.
    public func shrinkFactor(of factors: [Int]) -> Int {
        let scale = reduction(ofChroma: false)
        return factors.filter { Double($0) * Self.residualFactor <= scale }.max() ?? 1
    }
}
