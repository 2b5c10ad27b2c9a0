// SPDX-License-Identifier: Apache-2.0

/// How a picture was decoded, for people who want to know where the time goes.
public struct DecodeReport: Hashable, Sendable {
    /// What decoded it: the name of a library, or of one of several ways that a codec has.
    public var decoder: String
    /// By plane, stored pixels for each decoded one, along each side.
    public var shrinkFactors: [Int]

    public init(decoder: String = "", shrinkFactors: [Int] = []) {
        self.decoder = decoder
        self.shrinkFactors = shrinkFactors
    }
}
