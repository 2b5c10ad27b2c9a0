// SPDX-License-Identifier: Apache-2.0

public import Pixels

/// A picture, and how it came about.
public struct DecodedImage: Sendable {
    public let image: PixelBuffer
    public let report: DecodeReport

    public init(image: PixelBuffer, report: DecodeReport) {
        self.image = image
        self.report = report
    }
}

/// How a picture was decoded, for people who want to know where the time goes.
public struct DecodeReport: Hashable, Sendable {
    /// What decoded it: the name of a library, or of one of several ways that a codec has.
    public var decoder: String
    /// By plane, stored pixels for each decoded one, along each side.
    public var shrinkFactors: [Int]
    /// Why parts of the picture are missing, if ``DecodeOptions/acceptsTruncated`` allows it.
    public var problem: CodecError?

    public init(decoder: String = "", shrinkFactors: [Int] = []) {
        self.decoder = decoder
        self.shrinkFactors = shrinkFactors
    }
}
