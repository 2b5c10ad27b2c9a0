// SPDX-License-Identifier: Apache-2.0

/// A small image whose samples say how much brighter each part of a photograph is on a display with
/// headroom.
///
/// A file contains it beside its base image, which programs without gain maps display.
/// - SeeAlso: ISO 21496-1; Adobe, *Gain Map Specification 1.0*; Google, *Ultra HDR Image Format v1.1*.
public struct GainMap: Hashable, Sendable {
    /// How samples become gains.
    public var metadata: GainMapMetadata
    /// The encoded map, as a file of its own.
    public var file: [UInt8]

    /// Creates a gain map.
    public init(_ metadata: GainMapMetadata, file: [UInt8]) {
        self.metadata = metadata
        self.file = file
    }
}

/// How the samples of a gain map become gains.
///
/// With a sample `g` from 0 to 1, the logarithm of the gain is
/// `minimum + (maximum - minimum) * pow(g, 1 / gamma)`, and the alternate image is
/// `(base + baseOffset) * exp2(weight * gain) - alternateOffset` in linear light. The weight is 0 on a
/// display with `baseHeadroom`; it is 1 on one with `alternateHeadroom`, or -1 if that is the lower one.
public struct GainMapMetadata: Hashable, Sendable {
    /// The values of one channel.
    public struct Channel: Hashable, Sendable {
        /// The logarithm to base 2 of the smallest gain.
        public var minimum = 0.0
        /// The logarithm to base 2 of the largest gain.
        public var maximum = 0.0
        /// The exponent with which samples were encoded; more than 0.
        public var gamma = 1.0
        /// What is added to the base image, in linear light.
        public var baseOffset = 0.015625
        /// What is subtracted from the result.
        public var alternateOffset = 0.015625

        /// The values that Adobe's specification defines for missing properties.
        public init() {}
    }

    /// The values of red, green and blue; equal for a map of one channel.
    ///
    /// - Precondition: there are three.
    public var channels: [Channel] {
        didSet { precondition(channels.count == 3, "a gain map has three channels") }
    }
    /// The logarithm to base 2 of the headroom for which the base image is made; 0 for one in SDR.
    public var baseHeadroom = 0.0
    /// The logarithm to base 2 of the headroom for which base image and map together are made.
    public var alternateHeadroom = 0.0
    /// Whether gains apply in the colour space of the base image; otherwise in that of the alternate one.
    public var usesBaseColorSpace = true

    /// Creates metadata with the same values for each channel.
    public init(_ channel: Channel = Channel()) {
        channels = [channel, channel, channel]
    }

    /// Whether the base image is the one with the higher headroom.
    public var isBaseHDR: Bool { baseHeadroom > alternateHeadroom }

    /// Whether all values are usable: finite, with a positive gamma, and with different headrooms.
    package var isValid: Bool {
        let headrooms = [baseHeadroom, alternateHeadroom]
        return channels.count == 3 && headrooms.allSatisfy { (0...64).contains($0) }
            && baseHeadroom != alternateHeadroom
            && channels.allSatisfy { channel in
                (-64...64).contains(channel.minimum) && (-64...64).contains(channel.maximum)
                    && channel.minimum <= channel.maximum && channel.gamma > 0
                    && channel.gamma <= 1000 && (-64...64).contains(channel.baseOffset)
                    && (-64...64).contains(channel.alternateOffset)
            }
    }
}
