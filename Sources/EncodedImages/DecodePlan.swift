// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// How the pixels of a file become the picture that was asked for, worked out from its header.
public struct DecodePlan: Hashable, Sendable {
    /// A decoder that shrinks leaves at least this factor to the resampler, so that the result is
    /// as sharp as one made from every pixel.
    public static let residualFactor = 2.0

    /// The picture's size as stored.
    public private(set) var storedSize: PixelSize
    /// The part of it that is kept, and the size that it becomes, before the picture is turned.
    public private(set) var geometry: ResizeGeometry
    /// How the result is turned as it is written.
    public let orientation: Orientation
    public let kernel: ResamplingKernel
    public let quality: DecodeOptions.Quality
    public let acceptsTruncated: Bool
    /// Whether a picture that comes as luma and colour differences stays so, the latter at half the
    /// result's size.
    public let keepsYCbCr: Bool
    /// Whether samples of 16 bits stay so.
    public let keepsDepth: Bool
    /// Whether checksums over the pixels are compared.
    public let verifiesChecksums: Bool
    /// Whether the picture is drawn at any size.
    public let isScalable: Bool

    public init(_ header: ImageHeader, _ options: DecodeOptions) {
        storedSize = header.storedSize
        isScalable = header.isScalable
        orientation = options.appliesOrientation ? header.orientation : .upright
        kernel = options.kernel
        quality = options.quality
        acceptsTruncated = options.acceptsTruncated
        verifiesChecksums = options.verifiesChecksums
        keepsDepth = options.keepsDepth || options.pixelFormat?.isDeep == true
        keepsYCbCr =
            options.acceptsYCbCr && options.pixelFormat == nil
            && (!options.convertsToSRGB || header.colorProfile.isSRGB)
        // Box and region are meant for the picture as it is looked at; rows come as they are stored.
        geometry = options.geometry(
            of: orientation.oriented(storedSize), isScalable: header.isScalable)
        geometry.region = orientation.stored(geometry.region, in: storedSize)
        geometry.size = orientation.oriented(geometry.size)
    }

    /// Whether a decoder sees no difference between this plan and another but the size of the result.
    func isDecoded(like other: DecodePlan) -> Bool {
        storedSize == other.storedSize && isScalable == other.isScalable
            && quality == other.quality && acceptsTruncated == other.acceptsTruncated
            && keepsYCbCr == other.keepsYCbCr && keepsDepth == other.keepsDepth
            && verifiesChecksums == other.verifiesChecksums
    }

    /// The format of a result whose rows come as planes of luma and colour differences.
    var yCbCrFormat: PixelFormat { keepsYCbCr ? .yCbCr420 : .rgb8 }

    /// The size of the picture that will come out.
    public var resultSize: PixelSize { orientation.oriented(geometry.size) }

    /// The same picture from a file that stores it at another size, such as a preview.
    public func stored(at size: PixelSize) -> DecodePlan {
        var plan = self
        plan.storedSize = size
        plan.geometry.region = geometry.region.scaled(
            horizontally: Double(size.width) / Double(storedSize.width),
            vertically: Double(size.height) / Double(storedSize.height))
        return plan
    }

    /// How many stored pixels go into a sample of the result, along the side where they are fewer.
    ///
    /// A decoder that can deliver planes of different resolution shrinks each by its own factor;
    /// see ``residualFactor``.
    ///
    /// - Parameter chroma: whether samples of colour are meant, which may be fewer than those of luma.
    /// - Returns: less than 1 where the result is larger than the picture.
    public func reduction(ofChroma chroma: Bool) -> Double {
        let horizontal = geometry.region.width / Double(geometry.size.width)
        let vertical = geometry.region.height / Double(geometry.size.height)
        return min(horizontal, vertical) * (chroma && keepsYCbCr ? 2 : 1)
    }

    /// The largest of `factors` by which a decoder may reduce the picture, or 1.
    public func shrinkFactor(of factors: [Int]) -> Int {
        let scale = reduction(ofChroma: false)
        return factors.filter { Double($0) * Self.residualFactor <= scale }.max() ?? 1
    }
}
