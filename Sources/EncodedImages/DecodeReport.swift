// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A decoded image, and how it was decoded.
public struct DecodedImage: Sendable {
    /// The pixels.
    public let image: PixelBuffer
    /// How they were decoded.
    public let report: DecodeReport

    /// An image and its report.
    public init(image: PixelBuffer, report: DecodeReport) {
        self.image = image
        self.report = report
    }
}

/// How an image was decoded, for performance analysis.
public struct DecodeReport: Hashable, Sendable {
    /// The name of the library or of the decoder within the codec.
    public var decoder: String
    /// For each plane, the number of stored pixels per decoded pixel along each side.
    public var shrinkFactors: [Int]
    /// The error because of which pixels are missing; see ``DecodeOptions/acceptsTruncated``.
    public var problem: CodecError?

    /// A report without a problem.
    public init(decoder: String = "", shrinkFactors: [Int] = []) {
        self.decoder = decoder
        self.shrinkFactors = shrinkFactors
    }
}
